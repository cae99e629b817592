package ordinary_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

func TestErrorsWrap(t *testing.T) {
	for _, err := range []error{pool.ErrStalled, pool.ErrExhausted} {
		assert.ErrorIs(t, err, pool.ErrFull)
		assert.ErrorIs(t, fmt.Errorf("here: %w", err), pool.ErrFull)
		assert.NotErrorIs(t, pool.ErrFull, err)
	}
	assert.False(t, errors.Is(pool.ErrStalled, pool.ErrExhausted))
	assert.False(t, errors.Is(pool.ErrExhausted, pool.ErrStalled))
	for _, err := range []error{pool.ErrFull, pool.ErrStalled, pool.ErrExhausted} {
		assert.Regexp(t, "^pool: ", err.Error())
	}
}

// A pool takes exactly Capacity values, again and again, with whatever spare
// slots it has beside them.
func TestCapacityIsExact(t *testing.T) {
	for _, o := range testkit.CapacityConfigs() {
		p := testkit.Tiny(t, &o)
		name := fmt.Sprintf("%+v", o)
		for round := range 2 {
			hs := testkit.Fill(t, p, o.Capacity, testkit.Number)
			testkit.RequireRefusal(t, p, pool.ErrFull, name)
			require.Equal(t, o.Capacity, p.Len())
			// One goes, one comes.
			for i := range hs {
				require.True(t, p.Remove(hs[i]))
				h, err := p.Insert(0)
				require.NoError(t, err, name)
				hs[i] = h
				if i < 8 || i%64 == 0 {
					testkit.RequireRefusal(t, p, pool.ErrFull, name)
				}
			}
			if round%2 == 0 {
				require.Equal(t, o.Capacity, p.Clear())
			} else {
				require.Equal(t, o.Capacity, p.RemoveBatch(hs))
			}
		}
		testkit.RequireReclaimed(t, p)
	}
}

// While a guard is pinned, removed slots wait, and Insert returns ErrStalled. After Unpin all
// of them come back at once, however often that happens.
func TestStallRecovers(t *testing.T) {
	for _, o := range testkit.CapacityConfigs() {
		name := fmt.Sprintf("%+v", o)
		p := testkit.Tiny(t, &o)
		for round := range 3 {
			hs := testkit.Fill(t, p, o.Capacity, testkit.Number)
			g := p.Pin()
			testkit.RequireRefusal(t, p, pool.ErrFull, name) // nothing waits
			half := (o.Capacity + 1) / 2
			require.Equal(t, half, p.RemoveBatch(hs[:half]))
			testkit.RequireRefusal(t, p, pool.ErrStalled, name)
			testkit.RequireRefusal(t, p, pool.ErrStalled, name)
			for i, h := range hs[half:] {
				require.True(t, p.Remove(h))
				if round%2 == 0 && (i < 8 || i%64 == 0) {
					testkit.RequireRefusal(t, p, pool.ErrStalled, name)
				}
			}
			st := testkit.RequireConserved(t, p)
			require.Equal(t, o.Capacity, st.Limbo)
			require.Equal(t, 1, st.Pinned)
			g.Unpin()
			testkit.Fill(t, p, o.Capacity, testkit.Number) // all of them, at once
			testkit.RequireRefusal(t, p, pool.ErrFull, name)
			require.Equal(t, o.Capacity, p.Clear())
		}
		testkit.RequireReclaimed(t, p)
	}
}

// No value can have an exhausted slot, unless MinFree replaces the slot when it is reclaimed.
func TestStalledIsForSlotsThatAValueCouldHave(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Origin: testkit.LastGeneration, Shards: 1, Capacity: 2})
	hs := testkit.Fill(t, p, 2, testkit.Number)
	g := p.Pin()
	require.True(t, p.Remove(hs[0]))
	testkit.RequireRefusal(t, p, pool.ErrFull, "LIFO, the waiting slot is exhausted")
	g.Unpin()
	testkit.RequireRefusal(t, p, pool.ErrFull, "LIFO, it is exhausted")
	require.True(t, p.Remove(hs[1]))
	testkit.RequireRefusal(t, p, pool.ErrExhausted, "LIFO, both are")

	p = testkit.Tiny(t, &pool.Options[int]{Origin: testkit.LastGeneration, Shards: 1, Capacity: 2, Reuse: pool.FIFO, MinFree: 2})
	hs = testkit.Fill(t, p, 2, testkit.Number)
	g = p.Pin()
	require.True(t, p.Remove(hs[0]))
	testkit.RequireRefusal(t, p, pool.ErrStalled, "FIFO, the reserve has a slot in its place")
	g.Unpin()
	testkit.MustInsert(t, p, 1)
	testkit.RequireRefusal(t, p, pool.ErrFull, "FIFO, Capacity values live")
}

// A forgotten guard leads to ErrStalled at MaxLimbo, before it takes all memory.
func TestForgottenGuardStopsGrowth(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, workers := range []bool{false, true} {
			const most, share = 3000, 3000 / 16
			p := testkit.Tiny(t, &pool.Options[int]{MaxLimbo: most, Shards: 2, Reuse: reuse})
			keep := testkit.Fill(t, p, 50, testkit.Number)
			insert, remove := p.Insert, p.Remove
			if workers {
				w := p.Worker()
				defer w.Close()
				insert, remove = w.Insert, w.Remove
			}
			for round := range 3 {
				g := p.Pin()
				n := 0
				for ; ; n++ {
					require.Less(t, n, 2*most, "no end")
					h, err := insert(1)
					if err != nil {
						require.ErrorIsf(t, err, pool.ErrStalled, "%v, Worker %v, round %d after %d", reuse, workers, round, n)
						break
					}
					require.True(t, remove(h))
				}
				if round == 0 {
					require.GreaterOrEqual(t, n, most)
				}
				st := testkit.RequireConserved(t, p)
				require.LessOrEqual(t, st.Limbo, most+share)
				require.LessOrEqual(t, st.Allocated, most+share+600)
				g.Unpin()
				for range 2 * most {
					h, err := insert(1)
					require.NoError(t, err, "recovery")
					require.True(t, remove(h))
				}
			}
			for _, h := range keep {
				require.True(t, p.Contains(h))
			}
		}
	}
}

// The default of MaxLimbo is bounded too.
func TestDefaultMaxLimboStopsGrowth(t *testing.T) {
	if testkit.Watched {
		t.Skip("a million removals")
	}
	p := pool.Must(&pool.Options[struct{}]{Shards: 1})
	g := p.Pin()
	for n := 0; ; n++ {
		require.LessOrEqual(t, n, 1_100_000)
		h, err := p.Insert(struct{}{})
		if err != nil {
			require.ErrorIs(t, err, pool.ErrStalled)
			require.GreaterOrEqual(t, n, 900_000)
			break
		}
		if !p.Remove(h) {
			t.Fatalf("Remove(%v)", h)
		}
	}
	g.Unpin()
	testkit.MustInsert(t, p, struct{}{})
}

// Slots in a Worker's reach are free. Others may get ErrFull that much earlier, but not
// ErrStalled, and not after Flush.
func TestWorkersReachCountsAgainstOthers(t *testing.T) {
	const capacity = 256
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Shards: 1})
	w := p.Worker()
	defer w.Close()
	for range 500 {
		h, err := w.Insert(1)
		require.NoError(t, err)
		require.True(t, w.Remove(h))
	}
	n := 0
	for {
		if _, err := p.Insert(1); err != nil {
			require.ErrorIs(t, err, pool.ErrFull)
			require.NotErrorIs(t, err, pool.ErrStalled)
			break
		}
		n++
	}
	st := testkit.RequireConserved(t, p)
	require.Equal(t, capacity, n+st.Cached)
	require.Positive(t, st.Cached, "the Worker keeps nothing: this test tests nothing")
	require.LessOrEqual(t, st.Cached, capacity/16)
	// The owner reaches all of them in the end.
	for range st.Cached {
		_, err := w.Insert(1)
		require.NoError(t, err)
	}
	_, err := w.Insert(1)
	require.ErrorIs(t, err, pool.ErrFull)
	require.Equal(t, capacity, p.Len())
	require.Equal(t, capacity, p.Clear())
	w.Flush()
	testkit.Fill(t, p, capacity, testkit.Number)
}

// With nothing pinned and nothing held, an insertion is not refused while at most half of the
// slots live, although there are more goroutines than processors, preempted anywhere. A pool
// that may grow does not grow because a goroutine was preempted.
func TestInsertIsNotRefusedWhileHalfIsFree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const goroutines = 8
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{64, 1000, 0} {
			t.Run(fmt.Sprintf("%v capacity %d", reuse, capacity), func(t *testing.T) {
				p := pool.Must[int](&pool.Options[int]{Capacity: capacity, Reuse: reuse})
				var done atomic.Int64
				var refused atomic.Error
				end := time.Now().Add(time.Duration(testkit.Long(1000)) * time.Millisecond)
				var wg sync.WaitGroup
				for range goroutines {
					wg.Add(1)
					go func() {
						defer wg.Done()
						for n := 0; refused.Load() == nil; n++ {
							h, err := p.Insert(n)
							if err != nil {
								refused.Store(err)
								return
							}
							if n%7 == 0 && capacity > 0 {
								p.Get(h)
							}
							p.Remove(h)
							if m := done.Inc(); n%64 == 0 && m > 1000 && time.Now().After(end) {
								return
							}
						}
					}()
				}
				wg.Wait()
				require.NoError(t, refused.Load())
				require.Less(t, testkit.RequireConserved(t, p).Allocated, 100_000)
			})
		}
	}
}

// A guard delays what is removed while it is pinned, and not what was removed before,
// however few slots there are.
func TestGuardDelaysOnlyWhatIsRemovedUnderIt(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{1, 2, 10, 63, 64, 1000} {
			for _, before := range []int{1, capacity / 2, capacity - 1, capacity} {
				for _, worker := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v %d of %d Worker %v", reuse, before, capacity, worker), func(t *testing.T) {
						p := pool.Must[int](&pool.Options[int]{Capacity: capacity, Reuse: reuse})
						insert, remove := p.Insert, p.Remove
						if worker {
							w := p.Worker()
							defer w.Close()
							insert, remove = w.Insert, w.Remove
						}
						hs := testkit.Fill(t, p, capacity, testkit.Number)
						for _, h := range hs[:before] {
							require.True(t, remove(h))
						}
						g := p.Pin()
						defer g.Unpin()
						for _, h := range hs[before:] {
							require.True(t, remove(h))
						}
						for i := range before {
							_, err := insert(i)
							require.NoErrorf(t, err, "insertion %d", i)
						}
						_, err := insert(0)
						if before < capacity {
							require.ErrorIs(t, err, pool.ErrStalled)
						} else {
							require.ErrorIs(t, err, pool.ErrFull)
							require.NotErrorIs(t, err, pool.ErrStalled)
						}
					})
				}
			}
		}
	}
}
