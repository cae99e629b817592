package ordinary_test

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// storm runs goroutines that insert values, look them up, and remove their own and others'.
// Each checks the values that it owns. storm returns the number of removals.
func storm(t *testing.T, p *pool.Pool[stamp], goroutines, rounds int) int64 {
	t.Helper()
	var cells [32]atomic.Uint64
	var ids, removed atomic.Int64
	var wg sync.WaitGroup
	for k := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var w *pool.Worker[stamp]
			if k%2 == 0 {
				w = p.Worker()
				defer w.Close()
			}
			for i := range rounds {
				id := uint64(ids.Inc())
				init := func(_ pool.Handle[stamp], v *stamp) {
					if v.id != 0 || v.self != nil {
						t.Errorf("init finds %v", *v)
					}
					v.id, v.self = id, v
				}
				var h pool.Handle[stamp]
				var err error
				if w != nil {
					h, err = w.InsertFunc(init)
				} else {
					h, err = p.InsertFunc(init)
				}
				if err != nil {
					runtime.Gosched() // somebody who is not running holds slots back
					continue
				}
				g := p.Pin()
				if v, ok := g.Get(h); !ok || v.id != id || v.self != v {
					t.Errorf("%v is not what was inserted", h)
				}
				g.Unpin()
				old := pool.Handle[stamp](cells[(k+i)%len(cells)].Swap(uint64(h)))
				if old == 0 {
					continue
				}
				var v stamp
				var ok bool
				if w != nil && i%2 == 0 {
					v, ok = w.Take(old)
				} else {
					v, ok = p.Take(old)
				}
				if !ok || v.id == 0 || v.id > uint64(ids.Load()) {
					t.Errorf("Take(%v): %v %v", old, v, ok)
				}
				removed.Inc()
			}
		}()
	}
	wg.Wait()
	p.Clear()
	st := testkit.RequireReclaimed(t, p)
	require.Equal(t, st.Allocated, st.Free+st.Exhausted)
	return removed.Load()
}

func TestGOMAXPROCSMayChange(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, reuse := range testkit.Reuses {
		runtime.GOMAXPROCS(1)
		p := testkit.Tiny(t, &pool.Options[stamp]{Reuse: reuse})
		done := make(chan struct{})
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					runtime.GOMAXPROCS([]int{1, 7, 2, 32, 3}[n%5])
					runtime.Gosched()
				}
			}
		}()
		n := storm(t, p, 8, testkit.Long(3000))
		close(done)
		wg.Wait()
		require.Greater(t, n, int64(testkit.Long(3000)))
	}
}

// With GOGC=1 the collector runs all the time, and finalizers with it.
func TestGOGC1(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[stamp]{Reuse: reuse, Shards: 2})
		n := int64(0)
		for range testkit.Long(100) {
			n += storm(t, p, 4, 50)
			testkit.Apart(func() {
				w := p.Worker() // dropped
				h, _ := w.Insert(stamp{})
				w.Remove(h)
				_, _ = p.Reserve() // dropped
				for range p.All() {
					panic("left")
				}
			})
			testkit.Eventually(t, func() bool {
				st := p.Stats()
				return st.Cached == 0 && st.Reserved == 0 && st.Pinned == 0
			}, "what was dropped")
		}
		require.Greater(t, n, int64(testkit.Long(100)*100))
	}
}
