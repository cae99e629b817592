package sharing_test

import (
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

// stamp is a value that tells when its slot was given to another.
type stamp struct {
	id   uint64
	self *stamp // zeroed with it
}

// A guard holds the values that it has seen, whoever removes them and however
// much is inserted and removed afterwards. It catches a grace period that ends
// an epoch early, a Worker that turns its bag without a look at the cells, and
// slots that go straight back to the freelist.
func TestPinHoldsReuse(t *testing.T) {
	removers := map[string]func(p *pool.Pool[stamp], w *pool.Worker[stamp], hs []pool.Handle[stamp]){
		"Remove": func(p *pool.Pool[stamp], _ *pool.Worker[stamp], hs []pool.Handle[stamp]) {
			testkit.Each(hs, func(h pool.Handle[stamp]) { p.Remove(h) })
		},
		"Take": func(p *pool.Pool[stamp], _ *pool.Worker[stamp], hs []pool.Handle[stamp]) {
			testkit.Each(hs, func(h pool.Handle[stamp]) { p.Take(h) })
		},
		"RemoveBatch": func(p *pool.Pool[stamp], _ *pool.Worker[stamp], hs []pool.Handle[stamp]) { p.RemoveBatch(hs) },
		"Clear":       func(p *pool.Pool[stamp], _ *pool.Worker[stamp], _ []pool.Handle[stamp]) { p.Clear() },
		"Drain": func(p *pool.Pool[stamp], _ *pool.Worker[stamp], _ []pool.Handle[stamp]) {
			for range p.Drain() {
			}
		},
		"DeleteFunc": func(p *pool.Pool[stamp], _ *pool.Worker[stamp], _ []pool.Handle[stamp]) {
			p.DeleteFunc(func(pool.Handle[stamp], *stamp) bool { return true })
		},
		"Worker.Remove": func(_ *pool.Pool[stamp], w *pool.Worker[stamp], hs []pool.Handle[stamp]) {
			testkit.Each(hs, func(h pool.Handle[stamp]) { w.Remove(h) })
		},
		"Worker.Take": func(_ *pool.Pool[stamp], w *pool.Worker[stamp], hs []pool.Handle[stamp]) {
			testkit.Each(hs, func(h pool.Handle[stamp]) { w.Take(h) })
		},
		"Worker.Close": func(p *pool.Pool[stamp], _ *pool.Worker[stamp], hs []pool.Handle[stamp]) {
			w := p.Worker()
			testkit.Each(hs, func(h pool.Handle[stamp]) { w.Remove(h) })
			w.Close()
		},
	}
	step := 3
	if testing.Short() {
		step = 9
	}
	for name, remove := range removers {
		t.Run(name, func(t *testing.T) {
			for _, reuse := range testkit.Reuses {
				for _, reset := range []func(*stamp){nil, func(v *stamp) { v.id = 0 }} {
					p := testkit.Tiny(t, &pool.Options[stamp]{Shards: 2, Reuse: reuse, Reset: reset})
					w := p.Worker()
					for n := 0; n < 70; n += step {
						hs := testkit.Fill(t, p, n+1, func(i int) stamp { return stamp{id: uint64(i + 1)} })
						g := p.Pin()
						if n%2 == 0 {
							g.Unpin()
							g = w.Pin()
						}
						vs := g.GetBatch(hs, nil)
						for i, v := range vs {
							require.Equal(t, uint64(i+1), v.id)
							v.self = v
						}
						remove(p, w, hs)
						require.Zero(t, p.Len())
						churn(t, p, w, 200)
						for i, v := range vs {
							require.Equalf(t, stamp{uint64(i + 1), v}, *v, "%v of %v, %d removed", reuse, hs[i], n+1)
							_, ok := g.Get(hs[i])
							require.False(t, ok)
						}
						g.Unpin()
					}
					w.Close()
					testkit.RequireReclaimed(t, p)
				}
			}
		})
	}
}

// churn inserts and removes n values each by pool and Worker.
func churn(t *testing.T, p *pool.Pool[stamp], w *pool.Worker[stamp], n int) {
	t.Helper()
	for range n {
		h := testkit.MustInsert(t, p, stamp{id: 1 << 60})
		k, err := w.Insert(stamp{id: 1 << 61})
		if err != nil {
			t.Fatal(err)
		}
		if !w.Remove(h) || !p.Remove(k) {
			t.Fatalf("lost %v or %v", h, k)
		}
	}
}

// Readers stay pinned over many epochs while other goroutines retire thousands of slots. It
// catches an epoch that is compared as older when it is newer, and a look at the word before
// the pin is visible.
func TestReadersHoldReuseUnderStorm(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[stamp]{Shards: 2, Reuse: reuse, Capacity: 2000})
		var cells [64]atomic.Uint64 // handles that writers have put up
		var looks, kept, ids atomic.Uint64
		var writers, readers sync.WaitGroup
		var stop atomic.Bool
		for k := range 2 {
			writers.Add(1)
			go func() {
				defer writers.Done()
				w := p.Worker()
				defer w.Close()
				for i := range testkit.Long(60_000) {
					if i%64 == 0 {
						runtime.Gosched() // readers look meanwhile, also where nobody is preempted
					}
					id := ids.Inc()
					var h pool.Handle[stamp]
					var err error
					if k == 0 {
						h, err = w.Insert(stamp{id: id})
					} else {
						h, err = p.Insert(stamp{id: id})
					}
					if err != nil {
						runtime.Gosched() // readers stall it
						continue
					}
					old := pool.Handle[stamp](cells[i%len(cells)].Swap(uint64(h)))
					if old != 0 {
						if k == 0 && !p.Remove(old) || k == 1 && !w.Remove(old) {
							t.Errorf("lost %v", old)
						}
					}
				}
			}()
		}
		for range 2 {
			readers.Add(1)
			go func() {
				defer readers.Done()
				for !stop.Load() || looks.Load() <= 100 || kept.Load() <= 10 {
					g := p.Pin()
					seen := map[*stamp]uint64{}
					for i := range 300 {
						h := pool.Handle[stamp](cells[i%len(cells)].Load())
						if v, ok := g.Get(h); ok {
							if id, was := seen[v]; was && id != v.id {
								t.Errorf("value %d became %d under the guard", id, v.id)
							}
							seen[v] = v.id
							looks.Inc()
						}
					}
					for v, id := range seen {
						if v.id != id {
							t.Errorf("value %d became %d under the guard", id, v.id)
						}
						kept.Inc()
					}
					g.Unpin()
				}
			}()
		}
		writers.Wait()
		stop.Store(true)
		readers.Wait()
		require.Greater(t, looks.Load(), uint64(100))
		require.Greater(t, kept.Load(), uint64(10))
		p.Clear()
		st := testkit.RequireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free)
	}
}

// A guard sees what was inserted since it was pinned, also on pages that did not
// exist then.
func TestGuardSeesLaterPages(t *testing.T) {
	p := testkit.Tiny[int](t, nil)
	g := p.Pin() // of a pool without a page
	all := map[pool.Handle[int]]int{}
	for i := range 500 {
		h := testkit.MustInsert(t, p, i)
		all[h] = i
		v, ok := g.Get(h)
		require.True(t, ok, "%v", h)
		require.Equal(t, i, *v)
		require.NotNil(t, g.GetBatch([]pool.Handle[int]{h}, nil)[0])
	}
	seen := 0
	for h, v := range g.All() {
		require.Equal(t, all[h], *v)
		seen++
	}
	require.Equal(t, 500, seen)
	for _, page := range g.Pages() {
		for h, v := range page {
			require.Equal(t, all[h], *v)
			seen++
		}
	}
	require.Equal(t, 1000, seen)
	g.Unpin()
}

func TestUnpinOnAnotherGoroutine(t *testing.T) {
	p := testkit.Tiny[int](t, &pool.Options[int]{Capacity: 1})
	for range 100 {
		h := testkit.MustInsert(t, p, 1)
		g := p.Pin()
		require.True(t, p.Remove(h))
		_, err := p.Insert(2)
		require.ErrorIs(t, err, pool.ErrStalled)
		require.Nil(t, testkit.Apart(g.Unpin))
		require.True(t, p.Remove(testkit.MustInsert(t, p, 2)))
	}
}

// After Repin a guard delays nothing that was removed before, and all that is removed after.
func TestRepinLetsGoAndHoldsAnew(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[stamp]{Capacity: 1, Reuse: reuse})
		g := p.Pin()
		for id := range uint64(100) {
			h, err := p.Insert(stamp{id: id})
			require.NoError(t, err)
			v, ok := g.Get(h)
			require.True(t, ok)
			require.True(t, p.Remove(h))
			_, err = p.Insert(stamp{})
			require.ErrorIs(t, err, pool.ErrStalled)
			require.Equal(t, stamp{id: id}, *v)
			require.Equal(t, 1, p.Stats().Pinned)
			g.Repin()
			require.Equal(t, 1, p.Stats().Pinned)
			_, ok = g.Get(h)
			require.False(t, ok)
		}
		g.Unpin()
		testkit.RequirePanicText(t, g.Repin, "pool: Unpin of a guard that is not pinned")
		testkit.RequireReclaimed(t, p)
	}
}

// Readers with a guard each that they pin anew now and then see whole values or none,
// and delay nobody for good.
func TestKeptGuardsUnderStorm(t *testing.T) {
	p := testkit.Tiny[stamp](t, &pool.Options[stamp]{Capacity: 64})
	var at atomic.Uint64 // a handle that was live a moment ago
	var stop atomic.Bool
	var looks atomic.Int64
	var readers sync.WaitGroup
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			g := p.Pin()
			defer g.Unpin()
			for n := 0; !stop.Load(); n++ {
				if n%8 == 7 {
					g.Repin()
					runtime.Gosched()
				}
				if v, ok := g.Get(pool.Handle[stamp](at.Load())); ok {
					if id := v.id; v.self != v || id == 0 {
						t.Errorf("a value is torn: %+v", *v)
					}
					looks.Inc()
				}
			}
		}()
	}
	var full time.Time // since when insertions are refused
	for id := uint64(1); id <= uint64(testkit.Long(20_000)) || looks.Load() == 0; id++ {
		h, err := p.InsertFunc(func(_ pool.Handle[stamp], v *stamp) { *v = stamp{id, v} })
		if err != nil {
			if full.IsZero() {
				full = time.Now()
			} else if time.Since(full) > 20*time.Second {
				t.Error("guards that are pinned anew hold everything up")
				break
			}
			runtime.Gosched()
			continue
		}
		full = time.Time{}
		at.Store(uint64(h))
		if id%16 == 0 {
			runtime.Gosched()
		}
		p.Remove(h)
	}
	stop.Store(true)
	readers.Wait()
	require.Zero(t, p.Stats().Pinned)
	testkit.RequireReclaimed(t, p)
}

func TestGuardMisusePanics(t *testing.T) {
	p := pool.Must[int](nil)
	h := testkit.MustInsert(t, p, 1)
	uses := func(g *pool.Guard[int]) map[string]func() {
		return map[string]func(){
			"Get":      func() { g.Get(h) },
			"GetBatch": func() { g.GetBatch(nil, nil) },
			"All": func() {
				for range g.All() {
				}
			},
			"Pages": func() {
				for range g.Pages() {
				}
			},
		}
	}
	unpinned := p.Pin()
	unpinned.Unpin()
	for name, g := range map[string]*pool.Guard[int]{"zero": {}, "unpinned": &unpinned} {
		for verb, use := range uses(g) {
			t.Run(name+" "+verb, func(t *testing.T) { testkit.RequirePanicText(t, use, "pool: ", "Guard", "not pinned") })
		}
		for verb, use := range map[string]func(){"Unpin": g.Unpin, "Repin": g.Repin} {
			t.Run(name+" "+verb, func(t *testing.T) {
				testkit.RequirePanicText(t, use, "pool: Unpin of a guard that is not pinned")
			})
		}
	}
	st := p.Stats()
	require.Zero(t, st.Pinned)
}

// The second Unpin of two copies panics, and ends nobody else's pin: another
// guard may have the cell by then.
func TestCopysSecondUnpinPanics(t *testing.T) {
	p := pool.Must[int](nil)
	const n = 64
	copies := make([]pool.Guard[int], n)
	for i := range copies {
		g := p.Pin()
		testkit.CopyGuard(&copies[i], &g)
		g.Unpin()
	}
	others := make([]pool.Guard[int], n)
	for i := range others {
		others[i] = p.Pin()
	}
	for i := range copies {
		misuse := copies[i].Unpin
		if i%2 == 1 {
			misuse = copies[i].Repin
		}
		testkit.RequirePanicText(t, misuse, "pool: Unpin of a guard that is not pinned")
	}
	require.Equal(t, n, p.Stats().Pinned)
	for i := range others {
		others[i].Unpin()
	}
	require.Zero(t, p.Stats().Pinned)
}

// There is no limit on guards.
func TestManyGuards(t *testing.T) {
	const n = 2000
	p := testkit.Tiny[stamp](t, &pool.Options[stamp]{Shards: 2})
	h, err := p.Insert(stamp{id: 7})
	require.NoError(t, err)
	guards := make([]pool.Guard[stamp], n)
	vs := make([]*stamp, n)
	var wg sync.WaitGroup
	for i := range guards {
		wg.Add(1)
		go func() {
			defer wg.Done()
			guards[i] = p.Pin()
			vs[i], _ = guards[i].Get(h)
		}()
	}
	wg.Wait()
	require.Equal(t, n, p.Stats().Pinned)
	require.True(t, p.Remove(h))
	w := p.Worker()
	defer w.Close()
	for i := range guards {
		if i%200 == 0 {
			churn(t, p, w, 100)
		}
		require.NotNil(t, vs[i])
		require.EqualValues(t, 7, vs[i].id)
		guards[i].Unpin()
	}
	require.Zero(t, p.Stats().Pinned)
	churn(t, p, w, 2000)
	// The first scan since visits many cells, and is paid for by more removals;
	// still all of them come back.
	assert.Less(t, p.Stats().Allocated, 3*2048*4)
}

// 500 readers pin on two processors: nobody spins for a cell.
func TestPinNeverWaits(t *testing.T) {
	p := testkit.Tiny[int](t, &pool.Options[int]{Shards: 1})
	h := testkit.MustInsert(t, p, 1)
	testkit.Within(t, func() {
		var wg sync.WaitGroup
		var gets atomic.Int64
		for range 500 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range testkit.Long(200) {
					g := p.Pin()
					if _, ok := g.Get(h); ok {
						gets.Inc()
					}
					g.Unpin()
				}
			}()
		}
		wg.Wait()
		require.EqualValues(t, 500*testkit.Long(200), gets.Load())
	})
	require.Zero(t, p.Stats().Pinned)
}

// Many goroutines look up and loop under one guard while others replace the values. What the
// guard returned stays as it was for all of them, and is reused after Unpin. It catches a
// guard that a look-up writes to (by the race detector), and one that protects only the
// goroutine that pinned it.
func TestOneGuardServesManyGoroutines(t *testing.T) {
	const goroutines, n = 8, 64
	p := testkit.Tiny[stamp](t, &pool.Options[stamp]{Shards: 2})
	hs := testkit.Fill(t, p, n, func(i int) stamp { return stamp{id: uint64(i + 1)} })
	g := p.Pin()
	var seen [goroutines][n]*stamp
	var looked, wg sync.WaitGroup
	looked.Add(goroutines)
	removed := make(chan struct{})
	for k := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i, h := range hs {
				seen[k][i], _ = g.Get(h)
			}
			looked.Done()
			<-removed
			for i, v := range seen[k] {
				if assert.NotNilf(t, v, "%v was live when goroutine %d looked", hs[i], k) {
					assert.EqualValuesf(t, i+1, v.id, "%v is reused under goroutine %d", hs[i], k)
				}
			}
			for h, v := range g.All() {
				assert.Greaterf(t, v.id, uint64(n), "%v was inserted after the removals", h)
			}
		}()
	}
	looked.Wait()
	require.Equal(t, n, p.RemoveBatch(hs))
	testkit.Fill(t, p, n, func(i int) stamp { return stamp{id: uint64(n + i + 1)} })
	close(removed)
	wg.Wait()
	require.GreaterOrEqual(t, p.Stats().Limbo, n)
	g.Unpin()
	testkit.RequireReclaimed(t, p)
}
