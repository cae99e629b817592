package dense_test

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestOperationsMatchModel draws most of what a Store can do. Here is what it does not
// reach: sizes, memory, texts.

func TestBadOptionsAreErrors(t *testing.T) {
	for text, o := range map[string]dense.Options[int]{
		"Options.Capacity is -1; want 0 (no limit) or more":               {Capacity: -1},
		"Options.Origin is 4294967294; the last generation is 4294967293": {Origin: 1<<32 - 2},
	} {
		_, err := dense.New(&o)
		require.ErrorContains(t, err, text)
		require.Panics(t, func() { dense.Must(&o) })
	}
	if c := pool.MaxCapacity; c < math.MaxInt {
		_, err := dense.New(&dense.Options[int]{Capacity: c + 1})
		require.EqualError(t, err, fmt.Sprintf("dense: Options.Capacity is %d; the limit is %d", c+1, c))
	}
	_, err := dense.New(&dense.Options[int]{Origin: testkit.LastGeneration, Capacity: pool.MaxCapacity})
	require.NoError(t, err)
}

// TestStoresBeginApart: without Origin, no store accepts another's handles, and no two slots begin alike.
func TestStoresBeginApart(t *testing.T) {
	s, other := dense.Must[int](nil), dense.Must[int](&dense.Options[int]{})
	hs := fill(t, s, 2)
	require.NotEqual(t, hs[0].Generation(), hs[1].Generation())
	fill(t, other, 2)
	require.False(t, other.Alive(hs[0]), "but for one in 2^30")
}

// TestSteadyStateAllocatesNothing: phases like the one before need no memory.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	for _, unordered := range []bool{false, true} {
		s := dense.Must(&dense.Options[int]{Unordered: unordered, OnDestroy: func(pool.Handle[int], *int) {}})
		s.Grow(1500)
		fill(t, s, 1000)
		phase := func() {
			for i := range 300 {
				_, _ = s.Create(i)
			}
			for i, h := range s.Handles() {
				if i%10 < 3 {
					s.Kill(h)
				}
			}
			s.Refresh()
		}
		phase()
		assert.Zero(t, testing.AllocsPerRun(20, phase))
		require.Equal(t, 1000, s.Len())
	}
}

// TestArrayGrowsBySteps: a store that grows by one value in each phase, or by a Grow for two, seldom moves its
// values to a larger array, and one phase's peak is room for the next. It has so many values
// that marks are far apart.
func TestArrayGrowsBySteps(t *testing.T) {
	s := dense.Must[int](nil)
	steps, has := 0, s.Allocated()
	for i := range 10_000 {
		if i%2 == 0 {
			s.Grow(2) // two that differ, by little, from the room that there is
		}
		create(t, s, i)
		s.Refresh()
		if n := s.Allocated(); n != has {
			steps, has = steps+1, n
		}
	}
	require.LessOrEqual(t, steps, 14, "%d values, twice as many or half as much again each time", has)

	for i := range 30_000 {
		if h := create(t, s, i); i%3000 == 0 {
			s.Kill(h)
		}
	}
	created, destroyed := s.Refresh()
	require.Equal(t, []int{30_000, 10, 39_990}, []int{created, destroyed, s.Len()})
	require.NoError(t, dense.Check(s))
	require.NotEmpty(t, testkit.Written(t, s), "no mark is left")
	has = s.Allocated()
	require.GreaterOrEqual(t, has, 40_000)
	require.Equal(t, 39_990, s.Clear())
	require.NoError(t, dense.Check(s))
	require.Equal(t, has, s.Allocated())
}

// TestDeadAreCollected: the store keeps no dead value, in the array or in a chunk.
func TestDeadAreCollected(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		for _, created := range []bool{false, true} {
			s := tiny(t, &dense.Options[string]{Unordered: unordered})
			gone := make(chan struct{}, 100)
			func() {
				for i := range 100 {
					b := make([]byte, 100) // an allocation of its own
					runtime.AddCleanup(&b[0], func(c chan struct{}) { c <- struct{}{} }, gone)
					if h := create(t, s, unsafe.String(&b[0], len(b))); i > 0 && created { // one lives
						s.Kill(h)
					}
				}
				s.Refresh()
				for _, h := range s.Handles()[1:] {
					s.Kill(h)
				}
				s.Refresh()
			}()
			require.Equal(t, 1, s.Len())
			testkit.Eventually(t, func() bool { return len(gone) >= 99 }, "99 are collected")
			require.Len(t, gone, 99, "the living value was collected")
			runtime.KeepAlive(s)
		}
	}
}

const intSize = strconv.IntSize / 8

// TestMemoryAValue measures what a value costs beyond its size.
func TestMemoryAValue(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	const n = 1 << 19
	before := testkit.Heap()
	s := dense.Must[int](nil)
	s.Grow(n)
	for range n {
		_, _ = s.Create(1)
	}
	s.Refresh()
	beyond := float64(testkit.Heap()-before)/n - intSize
	runtime.KeepAlive(s)
	t.Logf("%.2f bytes a value beyond its own", beyond)
	require.Less(t, beyond, 16.3)
	require.Greater(t, beyond, 15.9)
}

// TestStoreIsPrintedBesideCalls: without a race, also while Refresh has the store to itself.
func TestStoreIsPrintedBesideCalls(t *testing.T) {
	s := dense.Must[int](nil)
	require.Equal(t, "*dense.Store[int]: a zero Store", fmt.Sprint(new(dense.Store[int])))
	testkit.Together(2, func(k int) {
		for i := range 300 {
			if k == 0 {
				require.Regexp(t, `^\*dense\.Store\[int\]: [0-9]+ values, memory for [0-9]+$`, fmt.Sprintf("%v", s))
				continue
			}
			if h := create(t, s, i); i%2 == 0 {
				s.Kill(h)
			}
			s.Refresh()
		}
	})
	require.Contains(t, fmt.Sprint(s), ": 150 values, ")
}

// TestOneLargeValueTakesOne: a store has memory for a value of 1 MiB, and not for eight.
func TestOneLargeValueTakesOne(t *testing.T) {
	type large [1 << 20]byte
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := dense.Must[large](nil)
	_, err := s.Create(large{})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), "created")
	s.Refresh()
	assert.Less(t, s.Trim(), int64(1<<20), "spare")
}

// TestStatsCountValues, also those in chunks, and those that are dead; and beside a Refresh, which
// the race detector watches.
func TestStatsCountValues(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Capacity: 1000})
	require.Equal(t, pool.Stats{Capacity: 1000}, s.Stats())
	hs := fill(t, s, 100)
	s.Kill(hs[0])
	for range 500 {
		create(t, s, 0)
	}
	st := s.Stats()
	require.Equal(t, []int{600, 0, 600}, []int{st.Live, st.Free, st.Allocated})
	s.Refresh()
	st = s.Stats()
	require.Equal(t, []int{599, s.Allocated() - 599, s.Allocated()}, []int{st.Live, st.Free, st.Allocated})
	s.Clear()
	require.Zero(t, s.Stats().Live)
	before := s.Stats().Bytes
	require.Equal(t, s.Trim(), before)
	require.Zero(t, s.Stats().Bytes)

	for range s.Cap() {
		create(t, s, 0)
	}
	dense.Claim(s, 1)
	st = s.Stats()
	require.Equal(t, []int{1000, 0, 1000}, []int{st.Live, st.Free, st.Allocated})
	require.Contains(t, s.String(), ": 1000 values, ")
	s = tiny(t, &dense.Options[int]{Capacity: 1000})

	var over atomic.Bool
	testkit.Together(2, func(g int) {
		if g == 1 {
			for !over.Load() {
				if st := s.Stats(); st.Live < 0 || st.Live > 1000 || st.Live+st.Free != st.Allocated {
					t.Errorf("%v", st)
				}
				runtime.Gosched()
			}
			return
		}
		for i := range 300 {
			_, _ = s.Create(i)
			s.Refresh()
			if i%50 == 0 {
				s.Trim()
			}
		}
		over.Store(true)
	})
}

// TestStatsCountBytes: of values, handles, slots, and of the two levels of marks.
func TestStatsCountBytes(t *testing.T) {
	type value [3]uint64
	for _, n := range []int{3 << 12, 3<<12 + 1} {
		s := dense.Must[value](nil)
		s.Grow(n)
		require.Equal(t, n, s.Allocated())
		marks := (n + 63) / 64
		marks += (marks + 63) / 64
		want := n*int(unsafe.Sizeof(value{})+16) + 8*marks
		require.EqualValues(t, want, s.Stats().Bytes)
		for range n {
			create(t, s, value{})
		}
		s.Refresh()
		require.EqualValues(t, want, s.Stats().Bytes, "a store that is just full")
	}
}

// TestBadArgumentsPanic, and Grow does nothing for 0.
func TestBadArgumentsPanic(t *testing.T) {
	s := dense.Must[int](nil)
	testkit.RequirePanicText(t, func() { s.Grow(-1) }, "dense: Grow by a negative number")
	testkit.RequirePanicText(t, func() { s.OnMove(nil) }, "dense: OnMove of a nil function")
	s.Grow(0)
	require.Zero(t, s.Allocated())
}

// TestLargeStoresGrowByHalf: one of few values doubles, and one of thousands takes half as much more.
func TestLargeStoresGrowByHalf(t *testing.T) {
	for n, want := range map[int]int{2000: 4000, 4000: 8000, 6000: 9000, 20_000: 30_000} {
		s := dense.Must[int](nil)
		s.Grow(n)
		require.Equal(t, n, s.Allocated())
		fill(t, s, n)
		create(t, s, 1)
		s.Refresh()
		require.Equal(t, want, s.Allocated(), "after one more than %d values", n)
	}
}

// TestChunksDouble: the first takes about 4 KiB, and at most 1,024 values, or an eighth of the array if that is more.
// The last ends with the Capacity.
func TestChunksDouble(t *testing.T) {
	requireChunks[struct{}](t, 0, 1025, 0, 1024, 2048)
	requireChunks[[3]byte](t, 0, 1, 0, 1024)
	requireChunks[[8]byte](t, 0, 513, 0, 512, 1024)
	requireChunks[[24]byte](t, 0, 1, 0, 128)
	requireChunks[[4096]byte](t, 0, 4, 0, 1, 2, 4)
	requireChunks[[5000]byte](t, 0, 1, 0, 1)
	requireChunks[[8]byte](t, 4096, 1, 0, 512)
	requireChunks[[8]byte](t, 8192, 1025, 0, 1024, 2048)
	requireChunks[[8]byte](t, 20_000, 1, 0, 2048)
	requireChunks[[8]byte](t, 0, 600, 700, 512, 188)
}

// requireChunks requires these chunks in a store with an array of n values, and more of them.
func requireChunks[T any](t *testing.T, n, more, capacity int, want ...int) {
	t.Helper()
	s := dense.Must(&dense.Options[T]{Capacity: capacity})
	s.Grow(n)
	for range n + more {
		create(t, s, *new(T))
	}
	require.Equal(t, want, dense.Chunks(s))
}

// TestPanickingInitLeavesNoValue: a position whose init panicked is taken out by the next Refresh, among
// others that stay, and its slot is used again.
func TestPanickingInitLeavesNoValue(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		s := dense.Must[int](&dense.Options[int]{Unordered: unordered})
		var want []int
		for k := range 100 {
			if k%3 == 1 {
				require.Panics(t, func() {
					_, _ = s.CreateFunc(func(_ pool.Handle[int], v *int) { *v = k; panic(k) })
				})
				continue
			}
			_, err := s.Create(k)
			require.NoError(t, err)
			want = append(want, k)
		}
		created, destroyed := s.Refresh()
		require.Equal(t, []int{len(want), 0}, []int{created, destroyed})
		require.ElementsMatch(t, want, s.Values())
	}
}
