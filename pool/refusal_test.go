package pool_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/pool"
)

// With nothing pinned and nothing held, an insertion is not refused while at most
// half of the slots live, although goroutines outnumber the processors and are
// preempted wherever they are. Where memory can grow, it does not because somebody
// was preempted.
func TestInsertIsNotRefusedWhileHalfIsFree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const goroutines = 8
	for _, reuse := range reuses {
		for _, capacity := range []int{64, 1000, 0} {
			t.Run(fmt.Sprintf("%v capacity %d", reuse, capacity), func(t *testing.T) {
				p := pool.Must[int](&pool.Options[int]{Capacity: capacity, Reuse: reuse})
				var done atomic.Int64
				var refused atomic.Error
				end := time.Now().Add(time.Duration(long(1000)) * time.Millisecond)
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
				require.Less(t, requireConserved(t, p).Allocated, 100_000)
			})
		}
	}
}

// A guard delays what is removed while it is pinned, and not what was removed before,
// however few slots there are.
func TestGuardDelaysOnlyWhatIsRemovedUnderIt(t *testing.T) {
	for _, reuse := range reuses {
		for _, capacity := range []int{1, 2, 10, 63, 64, 500, 5000} {
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
						hs := fill(t, p, capacity, number)
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

// Guards that are pinned one after the other, and stay, each delay only what is
// removed under them.
func TestEachGuardDelaysItsOwn(t *testing.T) {
	const capacity, guards = 12, 4
	p := pool.Must[int](&pool.Options[int]{Capacity: capacity, Shards: 1})
	hs := fill(t, p, capacity, number)
	var gs []pool.Guard[int] // unpinned from the oldest on
	for i := range guards {
		require.Equal(t, 3, p.RemoveBatch(hs[3*i:3*i+3]))
		gs = append(gs, p.Pin())
	}
	free := func() (n int) {
		for {
			if _, err := p.Insert(0); err != nil {
				return n
			}
			n++
		}
	}
	require.Equal(t, 3, free(), "removed before any guard")
	for i := range gs {
		gs[i].Unpin()
		if i < guards-1 {
			require.Equal(t, 3, free(), "removed before guard %d of those that are left", i+1)
		}
	}
	require.Zero(t, free(), "all live")
}

// A refusal for a Ref's sake, and one that has no reason but that all slots live.
func TestRefusalTellsItsReason(t *testing.T) {
	p := pool.Must[int](&pool.Options[int]{Capacity: 2})
	hs := fill(t, p, 2, number)
	_, err := p.Insert(3)
	require.ErrorIs(t, err, pool.ErrFull)
	require.False(t, errors.Is(err, pool.ErrStalled))
	r, ok := p.Hold(hs[0])
	require.True(t, ok)
	require.True(t, p.Remove(hs[0]))
	_, err = p.Insert(3)
	require.ErrorIs(t, err, pool.ErrStalled)
	r.Release()
	mustInsert(t, p, 3)
}
