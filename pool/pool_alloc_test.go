package pool_test

import (
	"context"
	"maps"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// operations are those that do not allocate, ready to be run again and again. Hold allocates
// its Ref.
func operations[T any](t *testing.T, p *pool.Pool[T], v T) map[string]func() {
	keep := make([]pool.Handle[T], 3)
	for i := range keep {
		keep[i] = testkit.MustInsert(t, p, v)
	}
	h := keep[0]
	drained := pool.Must(&pool.Options[T]{Shards: 1, Capacity: 100, Preallocate: true})
	w := p.Worker()
	t.Cleanup(w.Close)
	hs := make([]pool.Handle[T], 10)
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
		"Insert, Remove":      func() { h, err := p.Insert(v); ok(err == nil && p.Remove(h)) },
		"Insert, Take":        func() { h, _ := p.Insert(v); _, is := p.Take(h); ok(is) },
		"InsertWait, Remove":  func() { h, err := p.InsertWait(ctx, v); ok(err == nil && p.Remove(h)) },
		"InsertFuncWait":      func() { h, err := p.InsertFuncWait(ctx, init); ok(err == nil && p.Remove(h)) },
		"Grow":                func() { p.Grow(0) },
		"InsertFunc, Remove":  func() { h, err := p.InsertFunc(init); ok(err == nil && p.Remove(h)) },
		"TryInsertFunc":       func() { h, err := p.TryInsertFunc(try); ok(err == nil && p.Remove(h)) },
		"Get":                 func() { _, is := p.Get(h); ok(is) },
		"MustGet":             func() { p.MustGet(h) },
		"View":                func() { ok(p.View(h, use)) },
		"Contains":            func() { ok(p.Contains(h)) },
		"At":                  func() { _, is := p.At(h.Index()); ok(is) },
		"IndexBound":          func() { ok(p.IndexBound() > h.Index()) },
		"Ptr":                 func() { q := p.Ptr(h); ok(q.Live()); _, is := q.Get(); ok(is); ok(q.View(use)) },
		"Pointer":             func() { _, is := p.Pointer(h); ok(is) },
		"Pin, Pointer, Unpin": func() { g := p.Pin(); _, is := g.Pointer(h); ok(is); g.Unpin() },
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
		"RemoveBatch": func() {
			for i := range hs {
				hs[i], _ = p.Insert(v)
			}
			ok(p.RemoveBatch(hs) == len(hs))
		},
		"Hold": func() { r, is := p.Hold(h); ok(is); r.Release() },
		"Drain": func() {
			_, _ = drained.Insert(v)
			for range drained.Drain() {
				n++
			}
		},
		"DeleteFunc":                 func() { p.DeleteFunc(none) },
		"Len, Cap":                   func() { n += p.Len() + p.Cap() },
		"Stats":                      func() { n += p.Stats().Live },
		"Synchronize":                func() { ok(p.Synchronize(ctx) == nil) },
		"Worker.Insert, Remove":      func() { h, err := w.Insert(v); ok(err == nil && w.Remove(h)) },
		"Worker.Insert, Take":        func() { h, _ := w.Insert(v); _, is := w.Take(h); ok(is) },
		"Worker.InsertFunc":          func() { h, err := w.InsertFunc(init); ok(err == nil && w.Remove(h)) },
		"Worker.TryInsertFunc":       func() { h, err := w.TryInsertFunc(try); ok(err == nil && w.Remove(h)) },
		"Worker.Flush":               func() { h, _ := w.Insert(v); w.Remove(h); w.Flush() },
		"Insert, Remove elsewhere":   func() { h, _ := w.Insert(v); ok(p.Remove(h)) },
		"Insert, then Worker.Remove": func() { h, _ := p.Insert(v); ok(w.Remove(h)) },
		"Get, Take, Hold, RemoveBatch of forged handles": func() {
			for _, forged := range [...]pool.Handle[T]{0, 1, h ^ 1<<32, h ^ 1<<33, h ^ 1<<63, h | math.MaxUint32, ^h, math.MaxUint64} {
				_, got := p.Get(forged)
				_, took := p.Take(forged)
				_, held := p.Hold(forged)
				hs[0] = forged
				q := p.Ptr(forged)
				ok(!got && !took && !held && p.RemoveBatch(hs[:1]) == 0 && !p.Remove(forged) && !w.Remove(forged) && !q.Live() && !q.View(use) && !p.View(forged, use))
			}
		},
	}
}

// allocates returns how many objects an operation allocates.
func allocates(name string) float64 {
	if name == "Hold" {
		return 1
	}
	return 0
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
		assert.Equal(t, allocates(strings.Fields(name)[0]), testing.AllocsPerRun(1000, f), name)
	}
	for _, reuse := range testkit.Reuses {
		t.Run(testkit.NameOf(reuse), func(t *testing.T) {
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

// With Preallocate, nothing is allocated after New: not by the first use of a verb, not up to
// Capacity, not by a Worker, and not while guards stall reclamation.
func TestPreallocatedPoolNeverAllocates(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	// Each cycle of the garbage collector allocates: a sentinel for each pool (collected.go), and what the
	// runtime itself needs.
	testkit.Settle(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const capacity, pools = 1000, 3
	for _, reuse := range testkit.Reuses {
		for _, reset := range []func(*plain){nil, resetPlain} {
			for _, shards := range []int{1, 3, 100} {
				var ps [pools + 1]*pool.Pool[plain]
				var ws [pools + 1]*pool.Worker[plain]
				var before pool.Stats
				hs, guards, i := make([]pool.Handle[plain], 0, capacity), make([]pool.Guard[plain], 256), 0
				use := func() {
					p := ps[i]
					for _, via := range [...]verbs.Shared[plain]{p, ws[i]} {
						hs = hs[:0]
						for h, err := via.Insert(plain{}); err == nil; h, err = via.Insert(plain{}) {
							hs = append(hs, h)
						}
						for k := range guards {
							guards[k] = p.Pin()
						}
						for _, h := range hs[:300] {
							if !via.Remove(h) {
								t.Error(h)
							}
						}
						if _, err := via.Insert(plain{}); len(hs) != capacity || err == nil {
							t.Errorf("%d live, %v under guards", len(hs), err)
						}
						for k := range guards {
							guards[k].Unpin()
						}
						for _, h := range hs[300:] {
							via.Remove(h)
						}
						ws[i].Flush()
					}
					i++
				}
				testkit.Allocates(t, 0, pools, func() func() {
					for i := range ps {
						ps[i] = pool.Must(&pool.Options[plain]{Capacity: capacity, Preallocate: true, Reuse: reuse, Reset: reset, Shards: shards})
						ws[i] = ps[i].Worker()
					}
					before, i = ps[pools].Stats(), 0
					require.GreaterOrEqual(t, before.Allocated, capacity)
					return use
				}, "%v, %d shards", reuse, shards)
				after := ps[pools].Stats()
				assert.Equal(t, before.Allocated, after.Allocated, "it grew")
				assert.Equal(t, before.Bytes, after.Bytes, "it grew")
			}
		}
	}
}

// TestPreallocatedVerbsAllocateNothing calls each verb of a pool with Preallocate,
// and of what the pool hands out, the first time that it is called there. Only
// those may allocate that Options.Preallocate names, and Hold only its Ref.
func TestPreallocatedVerbsAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const pools = 20
	named := map[string]bool{ // by Options.Preallocate
		"Reserve": true, "ReserveWait": true, "Worker": true, "Each": true,
		"WriteTo": true, "Clone": true, "String": true, "Explain": true, "ExplainOpen": true,
	}
	more := map[string]func(p *pool.Pool[plain]){ // not again and again
		"Clear": func(p *pool.Pool[plain]) { p.Clear() },
		"Trim":  func(p *pool.Pool[plain]) { p.Clear(); p.Trim() },
	}
	opts := pool.Options[plain]{Capacity: 300, Preallocate: true, Shards: 3}
	names := slices.Concat(slices.Collect(maps.Keys(more)), slices.Collect(maps.Keys(operations(t, pool.Must(&opts), plain{}))))
	tried := strings.Fields(strings.ReplaceAll(strings.Join(names, " "), ",", ""))
	for i := range reflect.TypeFor[*pool.Pool[plain]]().NumMethod() {
		name := reflect.TypeFor[*pool.Pool[plain]]().Method(i).Name
		require.Truef(t, named[name] != slices.Contains(tried, name), "%s must be tried here, or named", name)
	}
	for _, reuse := range testkit.Reuses {
		opts.Reuse = reuse
		for _, name := range names {
			var ps [pools + 1]*pool.Pool[plain]
			var ops [pools + 1]func()
			var before int64
			i := 0
			testkit.Allocates(t, allocates(name), pools, func() func() {
				for i := range ps {
					ps[i] = pool.Must(&opts)
					if ops[i] = operations(t, ps[i], plain{})[name]; ops[i] == nil {
						ops[i] = func() { more[name](ps[i]) }
					}
				}
				before, i = ps[pools].Stats().Bytes, 0
				return func() { ops[i](); i++ }
			}, "%s, %v", name, reuse)
			assert.Equalf(t, before, ps[pools].Stats().Bytes, "%s, %v", name, reuse)
		}
	}
}

// TestPreallocatedPoolsWaitAtOneCost: the first call that waits allocates what each does, since the queue is
// there.
func TestPreallocatedPoolsWaitAtOneCost(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const pools = 5
	var ps [pools + 1]*pool.Pool[int]
	done, i := testkit.Done(), 0
	wait := func() {
		_, err := ps[i%len(ps)].InsertWait(done, 2)
		require.ErrorIs(t, err, pool.ErrFull)
		i++
	}
	fill := func() func() {
		for i := range ps {
			ps[i] = pool.Must(&pool.Options[int]{Capacity: 1, Preallocate: true})
			testkit.MustInsert(t, ps[i], 1)
		}
		return wait
	}
	fill()
	testing.AllocsPerRun(pools, wait)
	testkit.Allocates(t, testing.AllocsPerRun(100, wait), pools, fill)
}

// TestWorkersOfPreallocatedPoolsGrowInTheirMemory: so it is with a Worker that comes to keep more slots than it
// began with.
func TestWorkersOfPreallocatedPoolsGrowInTheirMemory(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const capacity, burst, pools = 40_000, 2000, 3
	var ws [pools + 1]*pool.Worker[int]
	hs, i := make([]pool.Handle[int], 0, burst), 0
	use := func() {
		w := ws[i]
		for range 20 {
			hs = hs[:0]
			for range burst {
				h, err := w.Insert(1)
				if err != nil {
					t.Error(err)
				}
				hs = append(hs, h)
			}
			for _, h := range hs {
				w.Remove(h)
			}
		}
		i++
	}
	testkit.Allocates(t, 0, pools, func() func() {
		for i := range ws {
			ws[i] = pool.Must(&pool.Options[int]{Capacity: capacity, Preallocate: true, Shards: 1}).Worker()
		}
		i = 0
		return use
	})
}
