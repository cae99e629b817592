package memory_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// plain is a value without pointers.
type plain struct{ ID, Twice uint64 }

func resetPlain(v *plain) { *v = plain{} }

// stamp is a value with a pointer.
type stamp struct {
	ID   uint64
	Self *stamp
}

// operations are those that do not allocate, ready to be run again and again.
func operations[T any](t *testing.T, p *pool.Pool[T], v T) map[string]func() {
	keep := make([]pool.Handle[T], 3)
	for i := range keep {
		keep[i] = testkit.MustInsert(t, p, v)
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
	for _, reuse := range testkit.Reuses {
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

// With Preallocate, nothing is allocated after New: not by the first use of a verb, not up to
// Capacity, and not while a guard stalls reclamation.
func TestPreallocatedPoolNeverAllocates(t *testing.T) {
	const capacity = 1000
	for _, reuse := range testkit.Reuses {
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
						if v, ok := guards[7].Get(h); !ok || v.ID != 0 {
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
	for _, reuse := range testkit.Reuses {
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

// TestPreallocatedVerbsAllocateNothing calls each verb of a pool with Preallocate,
// and of what the pool hands out, the first time that it is called there. Only
// those may allocate that Options.Preallocate names, and Hold only its Ref.
func TestPreallocatedVerbsAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	type (
		P = *pool.Pool[plain]
		H = pool.Handle[plain]
	)
	const live, pools = 100, 20
	ctx := context.Background()
	vs, dst, ptrs := make([]plain, 10), make([]H, 0, 10), make([]*plain, 0, 10)
	n := 0
	ok := func(b bool) {
		if !b {
			t.Error("a verb refused")
		}
	}
	named := map[string]bool{ // by Options.Preallocate
		"Reserve": true, "Reserver": true, "Worker": true, "Each": true,
		"WriteTo": true, "Explain": true, "ExplainOpen": true,
	}
	verbs := map[string]func(p P, h []H){
		"All":      func(p P, h []H) { n += nestedLoops(p, 8) },
		"Cap":      func(p P, h []H) { n += p.Cap() },
		"Clear":    func(p P, h []H) { ok(p.Clear() == live) },
		"Contains": func(p P, h []H) { ok(p.Contains(h[0])) },
		"DeleteFunc": func(p P, h []H) {
			ok(p.DeleteFunc(func(pool.Handle[plain], *plain) bool { return true }) == live)
		},
		"Drain": func(p P, h []H) {
			for range p.Drain() {
				n++
			}
		},
		"Get":         func(p P, h []H) { _, is := p.Get(h[0]); ok(is) },
		"Grow":        func(p P, h []H) { ok(p.Grow(300) == nil) },
		"Hold":        func(p P, h []H) { r, is := p.Hold(h[0]); ok(is); r.Release() },
		"Insert":      func(p P, h []H) { _, err := p.Insert(plain{}); ok(err == nil) },
		"InsertBatch": func(p P, h []H) { _, err := p.InsertBatch(vs, dst[:0]); ok(err == nil) },
		"InsertFunc":  func(p P, h []H) { _, err := p.InsertFunc(func(H, *plain) {}); ok(err == nil) },
		"Len":         func(p P, h []H) { n += p.Len() },
		"MustGet":     func(p P, h []H) { n += int(p.MustGet(h[0]).ID) },
		"Pin": func(p P, h []H) {
			g := p.Pin()
			_, is := g.Get(h[0])
			ok(is)
			ptrs = g.GetBatch(h[:10], ptrs[:0])
			for range g.All() {
				n++
			}
			for _, page := range g.Pages() {
				for range page {
					n++
				}
			}
			g.Repin()
			g.Unpin()
		},
		"Ptr": func(p P, h []H) {
			q := p.Ptr(h[0])
			_, is := q.Get()
			ok(is && q.Live() && q.View(func(*plain) {}) && q.Remove())
		},
		"Remove":      func(p P, h []H) { ok(p.Remove(h[0])) },
		"RemoveBatch": func(p P, h []H) { ok(p.RemoveBatch(h) == live) },
		"Stats":       func(p P, h []H) { n += p.Stats().Live },
		"Synchronize": func(p P, h []H) { p.RemoveBatch(h); ok(p.Synchronize(ctx) == nil) },
		"Take":        func(p P, h []H) { _, is := p.Take(h[0]); ok(is) },
		"Trim":        func(p P, h []H) { p.RemoveBatch(h); ok(p.Trim() == 0) },
		"TryInsertFunc": func(p P, h []H) {
			_, err := p.TryInsertFunc(func(H, *plain) error { return nil })
			ok(err == nil)
		},
		"View": func(p P, h []H) { ok(p.View(h[0], func(*plain) {})) },
	}
	for i := range reflect.TypeFor[P]().NumMethod() {
		name := reflect.TypeFor[P]().Method(i).Name
		require.Truef(t, named[name] != (verbs[name] != nil), "%s must be tried here, or named", name)
	}
	for _, reuse := range testkit.Reuses {
		for name, verb := range verbs {
			var ps [pools + 1]P // AllocsPerRun calls once before it counts
			var hs [pools + 1][]H
			for i := range ps {
				ps[i] = pool.Must(&pool.Options[plain]{Capacity: 300, Preallocate: true, Reuse: reuse, Shards: 3})
				hs[i] = testkit.Fill(t, ps[i], live, func(int) plain { return plain{} })
			}
			want := 0.0
			if name == "Hold" {
				want = 1
			}
			i := 0
			before := ps[pools].Stats().Bytes
			assert.Equalf(t, want, testing.AllocsPerRun(pools, func() {
				verb(ps[i], hs[i])
				i++
			}), "%s, %v", name, reuse)
			assert.Equalf(t, before, ps[pools].Stats().Bytes, "%s, %v", name, reuse)
		}
	}
}

// nestedLoops runs n loops in each other and returns how many began.
func nestedLoops(p *pool.Pool[plain], n int) int {
	for range p.All() {
		if n > 1 {
			return 1 + nestedLoops(p, n-1)
		}
		break
	}
	return 1
}

// TestWorkersOfPreallocatedPoolsAllocateNothing opens Workers and then fills and
// empties the pool through them, again and again from the first time on.
func TestWorkersOfPreallocatedPoolsAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const capacity, pools = 3000, 5
	for _, reuse := range testkit.Reuses {
		var ws [pools + 1]*pool.Worker[plain]
		for i := range ws {
			ws[i] = pool.Must(&pool.Options[plain]{Capacity: capacity, Preallocate: true, Reuse: reuse, Shards: 3}).Worker()
		}
		hs := make([]pool.Handle[plain], capacity)
		i := 0
		assert.Zero(t, testing.AllocsPerRun(pools, func() {
			for range 3 {
				for j := range hs {
					hs[j], _ = ws[i].Insert(plain{})
				}
				for _, h := range hs {
					if !ws[i].Remove(h) {
						t.Error(h)
					}
				}
			}
			ws[i].Close()
			i++
		}))
	}
}

// TestRestoredPreallocatedPoolHasCounts holds values of a copy, all of
// whose memory ReadFrom was asked to allocate.
func TestRestoredPreallocatedPoolHasCounts(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	opts := &pool.Options[plain]{Capacity: 3000, Preallocate: true}
	p := pool.Must(opts)
	h := testkit.MustInsert(t, p, plain{})
	var snapshot bytes.Buffer
	_, err := p.WriteTo(&snapshot)
	require.NoError(t, err)
	c, err := pool.ReadFrom(&snapshot, opts)
	require.NoError(t, err)
	before := c.Stats().Bytes
	testkit.MustHold(t, c, h).Release()
	require.Equal(t, before, c.Stats().Bytes)
}
