package dense_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

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
		require.ErrorContains(t, err, "the limit is")
	}
	_, err := dense.New(&dense.Options[int]{Origin: lastGeneration})
	require.NoError(t, err)
}

func TestKilledStaysUntilRefresh(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		s := tiny(t, &dense.Options[int]{Unordered: unordered})
		hs := fill(t, s, 10)
		require.True(t, s.Kill(hs[3]))
		require.False(t, s.Kill(hs[3]), "killed twice")
		require.Equal(t, dense.Dead, s.State(hs[3]))
		require.True(t, s.Alive(hs[3]))
		v, ok := s.Get(hs[3])
		require.True(t, ok)
		require.Equal(t, 3, *v)
		require.Equal(t, 10, s.Len())
		require.Contains(t, s.Values(), 3)

		created, destroyed := s.Refresh()
		require.Equal(t, [2]int{0, 1}, [2]int{created, destroyed})
		require.Equal(t, dense.Unused, s.State(hs[3]))
		require.False(t, s.Alive(hs[3]))
		v, ok = s.Get(hs[3])
		require.False(t, ok)
		require.Nil(t, v)
		require.NotContains(t, s.Values(), 3)
		requireSound(t, s)
	}
}

func TestOrderIsKept(t *testing.T) {
	rnd := newRand(t)
	s := tiny[int](t, nil)
	next := 0
	for range long(200) {
		for range rnd.IntN(300) {
			create(t, s, next)
			next++
		}
		share := rnd.Float64()
		for _, h := range s.Handles() {
			if rnd.Float64() < share {
				s.Kill(h)
			}
		}
		s.Refresh()
		require.True(t, slices.IsSorted(s.Values()), "out of order: %v", s.Values())
		requireSound(t, s)
	}
}

// TestEveryShareOfTheDead refreshes, in order and not, at sizes around a word of marks.
func TestEveryShareOfTheDead(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		for _, n := range []int{1, 2, 7, 63, 64, 65, 128, 129, 1000} {
			for _, kill := range []func(i int) bool{
				func(int) bool { return true },
				func(int) bool { return false },
				func(i int) bool { return i == 0 },
				func(i int) bool { return i == n-1 },
				func(i int) bool { return i%2 == 0 },
				func(i int) bool { return i%2 == 1 },
				func(i int) bool { return i < n/2 },
				func(i int) bool { return i >= n/2 },
				func(i int) bool { return i/64%2 == 0 },
				func(i int) bool { return i%10 != 0 },
				func(i int) bool { return i%40 == 3 },
			} {
				s := tiny(t, &dense.Options[int]{Unordered: unordered})
				var want []int
				for i, h := range fill(t, s, n) {
					if kill(i) {
						require.True(t, s.Kill(h))
					} else {
						want = append(want, i)
					}
				}
				s.Refresh()
				requireSound(t, s)
				got := values(s)
				if unordered {
					for i, v := range got {
						if v != i && v < len(got) {
							t.Fatalf("%d moved to %d, and %d are left", v, i, len(got))
						}
					}
					slices.Sort(got)
				}
				require.ElementsMatch(t, want, got)
				require.True(t, slices.IsSorted(got))
			}
		}
	}
}

// TestCreatedAndKilledNeverJoins: a value that is created and killed in one phase is
// never in Values, and OnDestroy sees it.
func TestCreatedAndKilledNeverJoins(t *testing.T) {
	var seen []int
	s := tiny(t, &dense.Options[int]{OnDestroy: func(_ pool.Handle[int], v *int) { seen = append(seen, *v) }})
	fill(t, s, 3)
	a, b := create(t, s, 100), create(t, s, 101)
	require.Equal(t, 3, s.Len())
	v, ok := s.Get(a)
	require.True(t, ok)
	require.Equal(t, 100, *v)
	require.True(t, s.Kill(a))
	created, destroyed := s.Refresh()
	require.Equal(t, [2]int{2, 1}, [2]int{created, destroyed})
	require.Equal(t, []int{0, 1, 2, 101}, s.Values())
	require.Equal(t, []int{100}, seen)
	require.Equal(t, b, s.Handles()[3])
	requireSound(t, s)
}

// TestGrowthMovesNothingDuringAPhase: pointers stay valid while values are created beyond
// the array's room, and handles do so through the growth that follows.
func TestGrowthMovesNothingDuringAPhase(t *testing.T) {
	s := tiny[int](t, nil)
	hs := fill(t, s, 3)
	inValues := s.Values()
	pointers := map[pool.Handle[int]]*int{}
	for i := range 5000 {
		h := create(t, s, 3+i)
		hs = append(hs, h)
		pointers[h], _ = s.Get(h)
	}
	for i := range inValues {
		pointers[hs[i]] = &inValues[i]
	}
	for i, h := range hs {
		if v, ok := s.Get(h); !ok || *v != i || v != pointers[h] {
			t.Fatalf("%v, of %d, has moved", h, i)
		}
	}
	s.Refresh()
	requireSound(t, s)
	require.Equal(t, hs, s.Handles())
}

func TestAppendingToValuesCopies(t *testing.T) {
	s := dense.Must[int](nil)
	fill(t, s, 3)
	h := create(t, s, 7)
	_ = append(s.Values(), 99)
	_ = append(s.Handles(), 99)
	v, _ := s.Get(h)
	require.Equal(t, 7, *v)
	s.Refresh()
	requireSound(t, s)
}

func TestCapacityIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 1000} {
		s := tiny(t, &dense.Options[int]{Capacity: n})
		require.Equal(t, n, s.Cap())
		for range 3 {
			hs := make([]pool.Handle[int], 0, n)
			for i := range n {
				hs = append(hs, create(t, s, i))
			}
			for range 5 {
				_, err := s.Create(-1)
				require.ErrorIs(t, err, pool.ErrFull)
				require.NotErrorIs(t, err, pool.ErrExhausted)
			}
			s.Kill(hs[0])
			_, err := s.Create(-1)
			require.ErrorIs(t, err, pool.ErrFull, "a killed value keeps its place until Refresh")
			s.Refresh()
			require.LessOrEqual(t, s.Allocated(), n)
			create(t, s, 5)
			s.Clear()
			requireSound(t, s)
		}
	}
}

func TestGenerationsRunOut(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Capacity: 2, Origin: lastGeneration - 2})
	require.Equal(t, 2, s.Cap())
	issued := map[pool.Handle[int]]bool{}
	for range 2 {
		for i := range 2 {
			h := create(t, s, i)
			require.False(t, issued[h])
			issued[h] = true
			s.Kill(h)
		}
		s.Refresh()
	}
	require.Len(t, issued, 4)
	_, err := s.Create(0)
	require.ErrorIs(t, err, pool.ErrExhausted)
	require.ErrorIs(t, err, pool.ErrFull)
	for h := range issued {
		require.Equalf(t, dense.Unused, s.State(h), "%v", h)
	}
	requireSound(t, s)

	// Without a Capacity new slots take the place of exhausted ones.
	s = tiny(t, &dense.Options[int]{Origin: lastGeneration})
	for i := range 50 {
		s.Kill(create(t, s, i))
		keep := create(t, s, -i)
		s.Refresh()
		require.Equal(t, keep, s.Handles()[i])
		requireSound(t, s)
	}
}

func TestReserve(t *testing.T) {
	s := tiny[int](t, nil)
	hs := fill(t, s, 5)
	s.Kill(hs[1])
	hs = append(hs, create(t, s, 5), create(t, s, 6))
	s.Kill(hs[6])
	s.Reserve(1000)
	require.GreaterOrEqual(t, s.Allocated(), 1000)
	for i, h := range hs {
		v, ok := s.Get(h)
		require.True(t, ok)
		require.Equal(t, i, *v)
	}
	require.Equal(t, dense.Dead, s.State(hs[1]))
	require.Equal(t, dense.Dead, s.State(hs[6]))
	require.NoError(t, dense.Check(s))
	had := s.Allocated()
	s.Reserve(10)
	require.Equal(t, had, s.Allocated(), "Reserve does not shrink")
	created, destroyed := s.Refresh()
	require.Equal(t, [2]int{2, 2}, [2]int{created, destroyed})
	requireSound(t, s)

	bounded := tiny(t, &dense.Options[int]{Capacity: 10})
	require.Zero(t, bounded.Allocated())
	bounded.Reserve(1000)
	require.Equal(t, 10, bounded.Allocated())
	requirePanicText(t, func() { bounded.Reserve(-1) }, "dense: Reserve of a negative number")
	fill(t, bounded, 10)
}

// TestSteadyStateAllocatesNothing: phases like the one before need no memory.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	for _, unordered := range []bool{false, true} {
		s := dense.Must(&dense.Options[int]{Unordered: unordered, OnDestroy: func(pool.Handle[int], *int) {}})
		s.Reserve(1500)
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

// TestPeakIsKept: after a phase that went beyond the array, the next such phase fits into
// it.
func TestPeakIsKept(t *testing.T) {
	s := dense.Must[int](nil)
	for range 3 {
		for i := range 10_000 {
			s.Kill(create(t, s, i))
		}
		s.Refresh()
		require.Zero(t, s.Len())
		require.GreaterOrEqual(t, s.Allocated(), 10_000)
	}
	had := s.Allocated()
	s.Clear()
	require.Equal(t, had, s.Allocated())
}

// TestArrayGrowsBySteps: a store that grows by one value in each phase seldom moves its
// values to a larger array.
func TestArrayGrowsBySteps(t *testing.T) {
	s := dense.Must[plain](nil)
	steps, has := 0, s.Allocated()
	for i := range 10_000 {
		_, err := s.Create(plain{ID: uint64(i)})
		require.NoError(t, err)
		s.Refresh()
		if n := s.Allocated(); n != has {
			steps, has = steps+1, n
		}
	}
	require.LessOrEqual(t, steps, 14, "%d values, twice as many or half as much again each time", has)
}

// TestDeadAreCollected: the store keeps no dead value, in the array or in a chunk.
func TestDeadAreCollected(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		for _, created := range []bool{false, true} {
			s := tiny(t, &dense.Options[boxed]{Unordered: unordered})
			gone := make(chan struct{}, 100)
			func() {
				for i := range 100 {
					v := new([100]uint64) // an allocation of its own
					runtime.SetFinalizer(v, func(*[100]uint64) { gone <- struct{}{} })
					h := create(t, s, boxed{&v[0]})
					if i == 0 {
						continue // one lives
					}
					if created {
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
			n := 0
			testkit.Eventually(t, func() bool {
				for ; len(gone) > 0; n++ {
					<-gone
				}
				return n >= 99
			}, "99 are collected")
			select {
			case <-gone:
				require.Fail(t, "the living value was collected")
			default:
			}
			runtime.KeepAlive(s)
		}
	}
}

// TestHandlesAreReproducible: with an Origin, the same calls give the same handles.
func TestHandlesAreReproducible(t *testing.T) {
	run := func() (all []pool.Handle[int]) {
		s := dense.Must(&dense.Options[int]{Origin: 7})
		for i := range 100 {
			h := create(t, s, i)
			all = append(all, h)
			if i%3 == 0 {
				s.Kill(h)
			}
			if i%10 == 9 {
				s.Refresh()
			}
		}
		return all
	}
	first := run()
	require.Equal(t, first, run())
	require.Equal(t, "0@7", first[0].String())
}

// TestForeignHandles: a handle of another store is refused.
func TestForeignHandles(t *testing.T) {
	a, b := dense.Must(&dense.Options[int]{Origin: 11}), dense.Must(&dense.Options[int]{Origin: 101})
	ha, hb := fill(t, a, 10), fill(t, b, 10)
	for i := range ha {
		require.Falsef(t, a.Alive(hb[i]), "%v", hb[i])
		require.Falsef(t, b.Kill(ha[i]), "%v", ha[i])
	}
}

func TestStateText(t *testing.T) {
	require.Equal(t, "unused alive dead State(3)", fmt.Sprint(dense.Unused, dense.Alive, dense.Dead, dense.State(3)))
	var zero dense.State
	require.Equal(t, dense.Unused, zero)
}

// TestMemoryAValue measures what a value costs beyond its size.
func TestMemoryAValue(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	const n = 1 << 19
	before := testkit.Heap()
	s := dense.Must[plain](nil)
	s.Reserve(n)
	for range n {
		_, _ = s.Create(plain{})
	}
	s.Refresh()
	beyond := float64(testkit.Heap()-before)/n - 16
	runtime.KeepAlive(s)
	t.Logf("%.2f bytes a value beyond its own 16", beyond)
	require.Less(t, beyond, 16.3)
	require.Greater(t, beyond, 15.9)
}
