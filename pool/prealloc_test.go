package pool_test

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
		"MustGet":     func(p P, h []H) { n += int(p.MustGet(h[0]).id) },
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
	for _, reuse := range reuses {
		for name, verb := range verbs {
			var ps [pools + 1]P // AllocsPerRun calls once before it counts
			var hs [pools + 1][]H
			for i := range ps {
				ps[i] = pool.Must(&pool.Options[plain]{Capacity: 300, Preallocate: true, Reuse: reuse, Shards: 3})
				hs[i] = fill(t, ps[i], live, func(int) plain { return plain{} })
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
	for _, reuse := range reuses {
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
	h := mustInsert(t, p, plain{})
	var snapshot bytes.Buffer
	_, err := p.WriteTo(&snapshot)
	require.NoError(t, err)
	c, err := pool.ReadFrom(&snapshot, opts)
	require.NoError(t, err)
	before := c.Stats().Bytes
	mustHold(t, c, h).Release()
	require.Equal(t, before, c.Stats().Bytes)
}
