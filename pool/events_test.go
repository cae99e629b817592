//go:build !race

package pool_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard"
)

// told are the lives of which events told, of one goroutine.
type told struct {
	t       *testing.T
	pool    *pool.Pool[int]
	lives   map[pool.Handle[int]]int // the value of each, between the two events
	inserts int
	removes int
}

// raised is what onInsert adds to each value.
const raised = 1 << 20

// events makes o's events tell, and returns what they told.
func events(t *testing.T, o *pool.Options[int]) *told {
	e := &told{t: t, lives: map[pool.Handle[int]]int{}}
	o.OnInsert, o.OnRemove = e.onInsert, e.onRemove
	return e
}

func (e *told) onInsert(h pool.Handle[int], v *int) {
	require.NotContains(e.t, e.lives, h, "an event for a life that had begun")
	require.False(e.t, e.pool.Contains(h), "%v is live before OnInsert returns", h)
	*v += raised
	e.lives[h] = *v
	e.inserts++
}

func (e *told) onRemove(h pool.Handle[int], v *int) {
	require.Contains(e.t, e.lives, h, "an event for a life that had not begun, or had ended")
	require.False(e.t, e.pool.Contains(h), "%v is live in OnRemove", h)
	require.Equal(e.t, e.lives[h], *v, "the value of %v", h)
	delete(e.lives, h)
	e.removes++
}

// eventOptions are options of pools that take different ways.
func eventOptions() map[string]pool.Options[int] {
	return map[string]pool.Options[int]{
		"default": {}, "Capacity": {Capacity: 1024}, "FIFO": {Reuse: pool.FIFO}, "Reset": {Reset: func(v *int) { *v = 0 }},
		"Preallocate": {Capacity: 1024, Preallocate: true}, "MaxLimbo": {MaxLimbo: 500}, "last lives": {Origin: testkit.LastGeneration - 2},
	}
}

// moreInserters are all verbs that insert.
func moreInserters() map[string]inserter[int] {
	all := inserters[int]()
	all["TryInsertFunc"] = func(p *pool.Pool[int], _ *pool.Worker[int], v int) (pool.Handle[int], error) {
		return p.TryInsertFunc(func(_ pool.Handle[int], to *int) error { *to = v; return nil })
	}
	all["Worker.TryInsertFunc"] = func(_ *pool.Pool[int], w *pool.Worker[int], v int) (pool.Handle[int], error) {
		return w.TryInsertFunc(func(_ pool.Handle[int], to *int) error { *to = v; return nil })
	}
	all["ReserveWait"] = func(p *pool.Pool[int], _ *pool.Worker[int], v int) (pool.Handle[int], error) {
		r, err := p.ReserveWait(testkit.Done())
		if err != nil {
			return 0, err
		}
		*r.Pointer() = v
		return r.Commit(), nil
	}
	return all
}

// OnInsert is called once for each value, complete and not yet live, and OnRemove once at the end of its life,
// whichever verbs begin and end it.
func TestEventsTellOfEachLife(t *testing.T) {
	for config, o := range eventOptions() {
		for _, shards := range []int{0, 3} {
			for inserts, insert := range moreInserters() {
				for removes, remove := range removers[int]() {
					name := fmt.Sprintf("%s, %d shards, %s, %s", config, shards, inserts, removes)
					o := o
					o.Shards = shards
					e := events(t, &o)
					p := tiny(t, &o)
					e.pool = p
					w := p.Worker()
					total := 0
					for _, n := range []int{1, 65} { // a batch has 64
						var hs []pool.Handle[int]
						for i := range n {
							h, err := insert(p, w, i+1)
							require.NoError(t, err, name)
							require.Equal(t, raised+i+1, p.MustGet(h), name)
							hs = append(hs, h)
						}
						total += n
						require.Equal(t, total, e.inserts, "OnInserts: %s", name)
						remove(p, w, hs)
						remove(p, w, hs) // what is not live has no event
						require.Equal(t, total, e.removes, "OnRemoves: %s", name)
						require.Empty(t, e.lives, name)
					}
					w.Close()
					testkit.RequireReclaimed(t, p)
				}
			}
		}
	}
}

// failures are ways in which an event does not return.
var failures = map[string]func(){"panic": func() { panic("meant") }, "Goexit": runtime.Goexit}

// If OnInsert fails, its value never goes live, and the slot goes back.
func TestOnInsertThatFails(t *testing.T) {
	for how, fail := range failures {
		for verb, insert := range moreInserters() {
			var given pool.Handle[int]
			fails, resets := true, 0
			p := tiny(t, &pool.Options[int]{Capacity: 1, OnRemove: func(pool.Handle[int], *int) { t.Error("a life that never began ends") },
				Reset: func(*int) { resets++ },
				OnInsert: func(h pool.Handle[int], _ *int) {
					if given = h; fails {
						fail()
					}
				}})
			w := p.Worker()
			returned := false
			x := testkit.Apart(func() {
				_, _ = insert(p, w, 1)
				returned = true
			})
			require.Equal(t, how == "panic", x == "meant", "%s, %s", verb, how)
			require.False(t, returned, "%s, %s", verb, how)
			require.False(t, p.Contains(given), "%s, %s", verb, how)
			require.Zero(t, p.Stats().Reserved, "%s, %s", verb, how)
			fails = false
			refused := given
			h, err := insert(p, w, 2) // the only slot
			require.NoError(t, err, "%s, %s", verb, how)
			require.NotEqual(t, refused, h)
			require.Equal(t, 1, resets, "what OnInsert refused is Reset, as what a constructor has built")
		}
	}
}

// If OnRemove fails, its value stays removed, its slot is retired, and a batch stops there. Take returns no
// copy, and Drain yields the value.
func TestOnRemoveThatFails(t *testing.T) {
	const n = 5
	for how, fail := range failures {
		for verb, remove := range removers[int]() {
			for config, o := range eventOptions() {
				name := fmt.Sprintf("%s, %s, %s", verb, how, config)
				calls := 0
				o.OnRemove = func(_ pool.Handle[int], v *int) {
					if calls++; calls == 2 {
						fail()
					}
				}
				p := tiny(t, &o)
				w := p.Worker()
				hs := testkit.Fill(t, p, n, testkit.Number)
				returned := false
				x := testkit.Apart(func() {
					remove(p, w, hs)
					returned = true
				})
				require.Equal(t, how == "panic", x == "meant", name)
				require.False(t, returned, name)
				require.Equal(t, 2, calls, name)
				require.Equal(t, n-2, p.Len(), "what is behind stays live: %s", name)
				require.False(t, p.Contains(hs[1]), name)
				require.False(t, p.Remove(hs[1]), "it was removed: %s", name)
				w.Close()
				p.Clear()
				testkit.RequireReclaimed(t, p)
			}
		}
	}
}

func TestDrainYieldsWhatOnRemoveRefuses(t *testing.T) {
	for how, fail := range failures {
		p := tiny(t, &pool.Options[int]{OnRemove: func(_ pool.Handle[int], v *int) {
			if *v%3 == 0 {
				fail()
			}
		}})
		testkit.Fill(t, p, 100, testkit.Number)
		yielded := map[int]int{}
		for p.Len() > 0 {
			testkit.Apart(func() {
				for _, v := range p.Drain() {
					yielded[v]++
				}
			})
		}
		require.Len(t, yielded, 100, how)
		for v, k := range yielded {
			require.Equal(t, 1, k, "%s: value %d", how, v)
		}
	}
}

func TestWhatHasNoEvents(t *testing.T) {
	var o pool.Options[int]
	e := events(t, &o)
	p := tiny(t, &o)
	e.pool = p
	w := p.Worker()
	refusal := errors.New("no")
	refuse := func(pool.Handle[int], *int) error { return refusal }
	for _, try := range []func(func(pool.Handle[int], *int) error) (pool.Handle[int], error){p.TryInsertFunc, w.TryInsertFunc} {
		_, err := try(refuse)
		require.Same(t, refusal, err)
	}
	require.Equal(t, "no", testkit.Recovered(func() { _, _ = p.InsertFunc(func(pool.Handle[int], *int) { panic("no") }) }))
	mustReserve(t, p).Cancel()
	testkit.Apart(func() { _ = mustReserve(t, p) })
	testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "the dropped Reservation")
	w.Flush()
	w.Close()
	require.Zero(t, e.inserts+e.removes)

	// What ReadFrom brings ends with an event all the same.
	const n = 100
	hs := testkit.Fill(t, p, n, testkit.Number)
	var b bytes.Buffer
	_, err := p.WriteTo(&b)
	require.NoError(t, err)
	for verb, remove := range removers[int]() {
		lives, inserts := map[pool.Handle[int]]int{}, e.inserts
		for h, v := range e.lives {
			lives[h] = v
		}
		for _, capacity := range []int{0, 2 * n} {
			if capacity == 0 && testkit.Quarantine > 0 {
				continue // new memory comes before slots that were used
			}
			restored := &told{t: t, lives: map[pool.Handle[int]]int{}}
			for h, v := range lives {
				restored.lives[h] = v
			}
			q, err := pool.ReadFrom(bytes.NewReader(b.Bytes()), &pool.Options[int]{Capacity: capacity, OnInsert: restored.onInsert, OnRemove: restored.onRemove})
			require.NoError(t, err)
			restored.pool = q
			w := q.Worker()
			require.Zero(t, restored.inserts)
			remove(q, w, hs)
			require.Equal(t, n, restored.removes, verb)
			// Their slots skip lives, as without events.
			again := map[uint32]pool.Handle[int]{}
			for range 2 * n {
				if h, err := w.Insert(1); err == nil {
					again[h.Index()] = h
				}
			}
			skipped := 0
			for _, h := range hs {
				if next, ok := again[h.Index()]; ok {
					require.Greater(t, next.Generation(), h.Generation()+2*shard.LeastSkip, "%s: %v, after %v", verb, next, h)
					skipped++
				}
			}
			require.Positive(t, skipped, "the test should meet slots again: %s", verb)
		}
		require.Equal(t, inserts, e.inserts)
	}
}

// Events may use the pool and the Worker whose call runs them, and even close it.
func TestEventsUsePoolAndWorker(t *testing.T) {
	for config, o := range eventOptions() {
		for inserts, insert := range moreInserters() {
			for removes, remove := range removers[int]() {
				for within, use := range map[string]func(p *pool.Pool[int], w *pool.Worker[int]){
					"pairs": func(p *pool.Pool[int], w *pool.Worker[int]) {
						for range 3 {
							if h, err := w.Insert(0); err == nil {
								p.Remove(h)
							}
							if h, err := p.Insert(0); err == nil {
								w.Remove(h)
							}
							if h, err := w.Insert(0); err == nil {
								w.Take(h)
							}
						}
					},
					"Flush": func(_ *pool.Pool[int], w *pool.Worker[int]) { w.Flush() },
					"Close": func(_ *pool.Pool[int], w *pool.Worker[int]) { w.Close() },
					"Trim":  func(p *pool.Pool[int], _ *pool.Worker[int]) { p.Trim() },
				} {
					name := fmt.Sprintf("%s, %s, %s, %s", config, inserts, removes, within)
					var p *pool.Pool[int]
					var w *pool.Worker[int]
					depth, calls := 0, 0
					event := func(_ pool.Handle[int], v *int) {
						if *v == 0 || depth > 0 {
							return
						}
						depth++
						calls++
						use(p, w)
						depth--
					}
					o := o
					o.OnInsert, o.OnRemove = event, event
					p = tiny(t, &o)
					const n = 12
					var hs []pool.Handle[int]
					for i := range n {
						w = p.Worker()
						h, err := insert(p, w, i+1)
						require.NoError(t, err, name)
						hs = append(hs, h)
						w.Close()
					}
					for _, h := range hs {
						w = p.Worker()
						remove(p, w, []pool.Handle[int]{h})
						w.Close()
					}
					require.Equal(t, 2*n, calls, name)
					require.Zero(t, p.Len(), name)
					testkit.RequireReclaimed(t, p)
				}
			}
		}
	}
}

// While OnRemove runs, its slot cannot be had. Afterwards it can.
func TestSlotWaitsForOnRemove(t *testing.T) {
	for verb, remove := range removers[int]() {
		var p *pool.Pool[int]
		calls := 0
		p = tiny(t, &pool.Options[int]{Capacity: 1, OnRemove: func(pool.Handle[int], *int) {
			calls++
			_, err := p.Insert(2)
			require.ErrorIs(t, err, pool.ErrFull, verb)
			require.NotErrorIs(t, err, pool.ErrStalled, verb)
		}})
		w := p.Worker()
		hs := testkit.Fill(t, p, 1, testkit.Number)
		remove(p, w, hs)
		require.Equal(t, 1, calls, verb)
		_, err := p.Insert(3)
		require.NoError(t, err, verb)
	}
}

// OnRemove does not wait for guards, but its slot does.
func TestOnRemoveWaitsForNoGuard(t *testing.T) {
	calls := 0
	p := tiny(t, &pool.Options[int]{Capacity: 1, OnRemove: func(pool.Handle[int], *int) { calls++ }})
	h, err := p.Insert(7)
	require.NoError(t, err)
	g := p.Pin()
	v, ok := g.Pointer(h)
	require.True(t, ok)
	require.True(t, p.Remove(h))
	require.Equal(t, 1, calls)
	_, err = p.Insert(8)
	require.ErrorIs(t, err, pool.ErrStalled)
	require.Equal(t, 7, *v)
	g.Unpin()
	_, err = p.Insert(8)
	require.NoError(t, err)
}

// A Worker keeps slots, with events too.
func TestWorkerKeepsSlotsWithEvents(t *testing.T) {
	for _, capacity := range []int{0, 1 << 12} {
		o := pool.Options[int]{Capacity: capacity}
		e := events(t, &o)
		p := pool.Must(&o)
		e.pool = p
		w := p.Worker()
		for range 20 {
			var hs []pool.Handle[int]
			for i := range 10 {
				h, err := w.Insert(i)
				require.NoError(t, err)
				hs = append(hs, h)
			}
			testkit.Each(hs, func(h pool.Handle[int]) { require.True(t, w.Remove(h)) })
			st := p.Stats()
			require.GreaterOrEqual(t, st.Cached, 10, "what the Worker removed")
			require.Zero(t, st.Limbo)
		}
		require.Equal(t, 200, e.removes)
		w.Close()
		require.Zero(t, p.Stats().Cached)
		_, err := p.Insert(1)
		require.NoError(t, err)
		testkit.RequirePanicText(t, func() { _, _ = w.Insert(1) }, "Worker that is closed")
		testkit.RequirePanicText(t, func() { w.Remove(1) }, "Worker that is closed")
	}
}
