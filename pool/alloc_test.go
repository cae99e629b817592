package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// operations are those that do not allocate, ready to be run again and again.
func operations[T any](t *testing.T, p *pool.Pool[T], v T) map[string]func() {
	keep := make([]pool.Handle[T], 3)
	for i := range keep {
		keep[i] = mustInsert(t, p, v)
	}
	h := keep[0]
	drained := pool.Must(&pool.Options[T]{Shards: 1})
	w := p.Worker()
	t.Cleanup(w.Close)
	vs, hs, ptrs := make([]T, 10), make([]pool.Handle[T], 0, 10), make([]*T, 0, 3)
	n := 0
	ok := func(b bool) {
		if !b {
			t.Error("a verb refused")
		}
	}
	init := func(_ pool.Handle[T], in *T) { *in = v }
	try := func(_ pool.Handle[T], in *T) error { *in = v; return nil }
	use := func(*T) { n++ }
	none := func(pool.Handle[T], *T) bool { return false }
	ctx := context.Background()
	return map[string]func(){
		"Insert, Remove":     func() { h, err := p.Insert(v); ok(err == nil && p.Remove(h)) },
		"Insert, Take":       func() { h, _ := p.Insert(v); _, is := p.Take(h); ok(is) },
		"InsertFunc, Remove": func() { h, err := p.InsertFunc(init); ok(err == nil && p.Remove(h)) },
		"TryInsertFunc":      func() { h, err := p.TryInsertFunc(try); ok(err == nil && p.Remove(h)) },
		"Get":                func() { _, is := p.Get(h); ok(is) },
		"MustGet":            func() { p.MustGet(h) },
		"View":               func() { ok(p.View(h, use)) },
		"Contains":           func() { ok(p.Contains(h)) },
		"Ptr":                func() { q := p.Ptr(h); ok(q.Live()); _, is := q.Get(); ok(is); ok(q.View(use)) },
		"Ptr.Under":          func() { g := p.Pin(); _, is := p.Ptr(h).Under(&g); ok(is); g.Unpin() },
		"Pin, Get, Unpin":    func() { g := p.Pin(); _, is := g.Get(h); ok(is); g.Unpin() },
		"Repin":              func() { g := p.Pin(); g.Repin(); _, is := g.Get(h); ok(is); g.Unpin() },
		"GetBatch":           func() { g := p.Pin(); ptrs = g.GetBatch(keep, ptrs[:0]); g.Unpin(); ok(ptrs[0] != nil) },
		"Guard.All": func() {
			g := p.Pin()
			for range g.All() {
				n++
			}
			g.Unpin()
		},
		"All": func() {
			for range p.All() {
				n++
			}
		},
		"batches": func() { hs, _ = p.InsertBatch(vs, hs[:0]); ok(p.RemoveBatch(hs) == len(vs)) },
		"Drain": func() {
			_, _ = drained.Insert(v)
			for range drained.Drain() {
				n++
			}
		},
		"DeleteFunc":               func() { p.DeleteFunc(none) },
		"Len, Cap":                 func() { n += p.Len() + p.Cap() },
		"Stats":                    func() { n += p.Stats().Live },
		"Synchronize":              func() { ok(p.Synchronize(ctx) == nil) },
		"Worker.Insert, Remove":    func() { h, err := w.Insert(v); ok(err == nil && w.Remove(h)) },
		"Worker.Insert, Take":      func() { h, _ := w.Insert(v); _, is := w.Take(h); ok(is) },
		"Worker.InsertFunc":        func() { h, err := w.InsertFunc(init); ok(err == nil && w.Remove(h)) },
		"Worker.TryInsertFunc":     func() { h, err := w.TryInsertFunc(try); ok(err == nil && w.Remove(h)) },
		"Worker.Get":               func() { _, is := w.Get(h); ok(is) },
		"Worker.Pin":               func() { g := w.Pin(); g.Unpin() },
		"Worker.Flush":             func() { h, _ := w.Insert(v); w.Remove(h); w.Flush() },
		"Insert, Remove elsewhere": func() { h, _ := w.Insert(v); ok(p.Remove(h)) },
		"Remove by Worker":         func() { h, _ := p.Insert(v); ok(w.Remove(h)) },
	}
}

func TestSteadyOperationDoesNotAllocate(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	run := func(t *testing.T, name string, f func()) {
		t.Helper()
		for range 500 {
			f() // the pool grows to what it needs
		}
		assert.Zerof(t, testing.AllocsPerRun(1000, f), name)
	}
	for _, reuse := range reuses {
		t.Run(reuse.String(), func(t *testing.T) {
			for name, f := range operations(t, pool.Must(&pool.Options[plain]{Reuse: reuse, Shards: 2}), plain{}) {
				run(t, name+" plain", f)
			}
			for name, f := range operations(t, pool.Must(&pool.Options[stamp]{Reuse: reuse, Shards: 2}), stamp{}) {
				run(t, name+" stamp", f)
			}
			for name, f := range operations(t, pool.Must(&pool.Options[stamp]{Reuse: reuse, Shards: 2, Reset: func(*stamp) {}}), stamp{}) {
				run(t, name+" Reset", f)
			}
		})
	}
}

func TestReserveAllocatesOneObject(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	p := pool.Must(&pool.Options[plain]{Shards: 1})
	f := func() {
		r, err := p.Reserve()
		if err != nil {
			t.Error(err)
		}
		p.Remove(r.Commit())
		r, _ = p.Reserve()
		r.Cancel()
	}
	for range 500 {
		f()
	}
	assert.EqualValues(t, 2, testing.AllocsPerRun(1000, f))
}

// Preallocate: what is there after New is all there will be. The very first use
// of everything counts, on every way, up to Capacity and through stalls.
func TestPreallocatedPoolNeverAllocates(t *testing.T) {
	const capacity = 1000
	for _, reuse := range reuses {
		for _, reset := range []func(*plain){nil, resetPlain} {
			for _, shards := range []int{1, 3, 100} {
				p := pool.Must(&pool.Options[plain]{Capacity: capacity, Preallocate: true, Reuse: reuse, Reset: reset, Shards: shards})
				st := p.Stats()
				require.GreaterOrEqual(t, st.Allocated, capacity)
				hs := make([]pool.Handle[plain], 0, capacity+1)
				vs := make([]plain, capacity+1)
				guards := make([]pool.Guard[plain], pool.PreallocatedGuards)
				ctx := context.Background()
				everything := func() {
					var err error
					if hs, err = p.InsertBatch(vs, hs[:0]); err == nil || len(hs) != capacity {
						t.Error(len(hs), err)
					}
					for i := range guards {
						guards[i] = p.Pin()
					}
					for _, h := range hs {
						if v, ok := guards[7].Get(h); !ok || v.id != 0 {
							t.Errorf("%v", h)
						}
					}
					if n := p.RemoveBatch(hs[:300]); n != 300 {
						t.Error(n)
					}
					if _, err := p.Insert(plain{}); err == nil {
						t.Error("Insert under guards")
					}
					for i := range guards {
						guards[i].Unpin()
					}
					for h := range p.All() {
						for range p.All() {
							p.Remove(h)
							break
						}
					}
					for range p.Drain() {
					}
					p.DeleteFunc(func(pool.Handle[plain], *plain) bool { return true })
					for range 100 {
						h, err := p.InsertFunc(func(pool.Handle[plain], *plain) {})
						if err != nil || !p.Remove(h) {
							t.Error(err)
						}
					}
					p.Clear()
					if err := p.Synchronize(ctx); err != nil {
						t.Error(err)
					}
				}
				if !testkit.Watched {
					// AllocsPerRun runs once before it counts; this must not hide
					// what the first run allocates, so the pool's own figures are
					// looked at as well.
					assert.Zerof(t, testing.AllocsPerRun(3, everything), "%v, %d shards", reuse, shards)
				} else {
					everything()
				}
				now := p.Stats()
				assert.Equal(t, st.Allocated, now.Allocated, "it grew")
				assert.Equal(t, st.Bytes, now.Bytes, "it grew")
			}
		}
	}
}

// The first operations of a preallocated pool do not allocate either.
func TestPreallocatedPoolDoesNotAllocateAtFirst(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const pools = 20
	for _, reuse := range reuses {
		var ps [pools + 1]*pool.Pool[plain]
		for i := range ps {
			ps[i] = pool.Must(&pool.Options[plain]{Capacity: 300, Preallocate: true, Reuse: reuse, Shards: 3})
		}
		i := 0
		assert.Zero(t, testing.AllocsPerRun(pools, func() {
			p := ps[i]
			i++
			for range 300 {
				h, err := p.Insert(plain{1, 2})
				if err != nil {
					t.Error(err)
				}
				if _, ok := p.Get(h); !ok {
					t.Error(h)
				}
			}
			for h := range p.All() {
				p.Remove(h)
			}
		}))
	}
}
