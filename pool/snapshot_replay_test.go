package pool_test

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// replayed drives a pool by drawn calls of one goroutine, and records what they return.
type replayed struct {
	*testing.T
	p      *pool.Pool[*int]
	w      *pool.Worker[*int]
	rnd    *rand.Rand // of the calls, not of the collector
	live   []pool.Handle[*int]
	guards []*pool.Guard[*int]
	most   int // guards at once
	refs   []*pool.Ref[*int]
	log    []result
}

func newReplayed(t *testing.T, o *pool.Options[*int], seed uint64) *replayed {
	p, rnd := tiny8(t, o), rand.New(rand.NewPCG(seed, 0))
	return &replayed{T: t, p: p, w: p.Worker(), rnd: rnd, most: 4 + 46*rnd.IntN(2)}
}

// result is what a call has returned.
type result struct {
	call string
	h    pool.Handle[*int]
	n    int64
	err  error // ErrFull, ErrStalled, or of a context
}

func (r *replayed) note(call string, h pool.Handle[*int], n int64, err error) {
	r.log = append(r.log, result{call, h, n, testkit.Kind(err)}) // without the figures of the pool
}

// insert inserts n values, through the pool or the Worker.
func (r *replayed) insert(verb string, insert func(*int) (pool.Handle[*int], error), n int) {
	for range n {
		h, err := insert(new(int))
		if r.note(verb, h, 0, err); err == nil {
			r.live = append(r.live, h)
		}
	}
}

// take takes n handles out of live, from a drawn place on, sometimes in a drawn order.
func (r *replayed) take(n int) (hs []pool.Handle[*int]) {
	n = min(n, len(r.live))
	if r.rnd.IntN(8) == 0 {
		r.rnd.Shuffle(len(r.live), func(i, j int) { r.live[i], r.live[j] = r.live[j], r.live[i] })
	}
	at := r.rnd.IntN(len(r.live) - n + 1)
	hs = append(hs, r.live[at:at+n]...)
	r.live = append(r.live[:at], r.live[at+n:]...)
	return hs
}

// step does one drawn call, or some of a kind.
func (r *replayed) step() {
	n := 1 + r.rnd.IntN(1+r.rnd.IntN(200))
	switch r.rnd.IntN(16) {
	case 0, 1, 2:
		r.insert("Insert", r.p.Insert, n)
	case 3, 4:
		r.insert("Worker.Insert", r.w.Insert, n)
	case 5, 6:
		for _, h := range r.take(n) {
			require.True(r, r.p.Remove(h), "the value should be live")
		}
	case 7, 8:
		for _, h := range r.take(n) {
			require.True(r, r.w.Remove(h), "the value should be live")
		}
	case 9:
		hs := r.take(n)
		require.Equal(r, len(hs), r.p.RemoveBatch(hs))
	case 10, 11:
		if len(r.guards) < r.most {
			g := r.p.Pin()
			r.guards = append(r.guards, &g)
		}
	case 12:
		r.unpin()
	case 13:
		r.unpin()
		if len(r.guards) == 0 {
			r.note("Synchronize", 0, 0, r.p.Synchronize(context.Background()))
		}
	case 14:
		switch r.rnd.IntN(8) {
		case 0:
			r.w.Flush()
		case 1:
			r.note("Trim", 0, r.p.Trim(), nil)
		case 2:
			r.note("Synchronize, done", 0, 0, r.p.Synchronize(testkit.Done()))
		case 3:
			for h := range r.p.Drain() {
				r.note("Drain", h, 0, nil)
			}
			r.live = r.live[:0]
		case 4:
			r.p.Grow(8 * n)
		case 5, 6:
			if n := len(r.live); n > 0 {
				r.refs = append(r.refs, mustHold(r, r.p, r.live[r.rnd.IntN(n)]))
			}
		case 7:
			r.release()
		}
	case 15: // pairs, as of a program that goes on evenly
		for range n {
			h, err := r.p.Insert(nil)
			if r.note("pair", h, 0, err); err == nil {
				require.True(r, r.p.Remove(h), "the value should be live")
			}
		}
	}
}

// unpin ends a drawn guard.
func (r *replayed) unpin() {
	if n := len(r.guards); n > 0 {
		k := r.rnd.IntN(n)
		r.guards[k].Unpin()
		r.guards = append(r.guards[:k], r.guards[k+1:]...)
	}
}

// release releases all Refs.
func (r *replayed) release() {
	for _, ref := range r.refs {
		ref.Release()
	}
	r.refs = nil
}

// end ends all that is open.
func (r *replayed) end() {
	for len(r.guards) > 0 {
		r.unpin()
	}
	r.release()
	r.w.Close()
}

// runReplay returns what so many calls return that a seed draws. The collector runs where collect
// says, and nowhere else.
func runReplay(t *testing.T, o pool.Options[*int], seed uint64, calls int, collect func(*pool.Pool[*int])) []result {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r := newReplayed(t, &o, seed)
	defer r.end()
	for range calls {
		r.step()
		collect(r.p)
	}
	return r.log
}

// requireSame requires that two runs of a program have the same results, and shows the first that differs.
func requireSame(t *testing.T, want, got []result, how string, seed uint64) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i], "result %d of %d, with %s, seed %d", i, len(want), how, seed)
		}
	}
	require.Len(t, got, len(want), "%s, seed %d", how, seed)
}

// tiny8 returns a pool with pages of 256 slots, so that Trim finds some.
func tiny8[T any](t *testing.T, o *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.NewTiny(o, 8)
	require.NoError(t, err)
	return p
}

// ignore is an event that does nothing.
func ignore(pool.Handle[*int], **int) {}

// With Origin, one shard and one goroutine, the same calls issue the same handles and are refused
// alike, whenever the garbage collector runs or values are let go, however long its finalizers take, and
// wherever the stack lies.
func TestCollectorDoesNotChangeAReplay(t *testing.T) {
	calls := 100 + testkit.LongAlone(2000)
	for _, o := range []pool.Options[*int]{
		{}, {Capacity: 2000}, {Capacity: 300}, {MaxLimbo: 300}, {MaxLimbo: 5000}, {Capacity: 2000, Preallocate: true}, {Reset: resetPointer},
		{Capacity: 2000, Reset: resetPointer}, {OnInsert: ignore, OnRemove: ignore},
	} {
		o.Origin, o.Shards = 1, 1
		for _, o.Reuse = range testkit.Reuses {
			t.Run(describe(&o), func(t *testing.T) {
				rnd, collected := testkit.Rand(t), testkit.LongAlone(4)
				nothing := func(*pool.Pool[*int]) {}
				for n := range 4 * collected {
					seed := rnd.Uint64()
					want := runReplay(t, o, seed, calls, nothing)
					require.Greater(t, len(want), 3*calls, "the calls did hardly anything")
					same := func(how string, collect func(*pool.Pool[*int])) {
						requireSame(t, want, runReplay(t, o, seed, calls, collect), how, seed)
					}
					same("values that are let go at drawn moments", func(p *pool.Pool[*int]) {
						if o.Reset == nil && rnd.IntN(3) == 0 { // or the collector lets go of nothing
							pool.ClearExpired(p)
						}
					})
					testkit.Deeper(3, func() { same("a deeper stack", nothing) })
					if n >= collected {
						continue
					}
					same("collections at drawn moments", func(*pool.Pool[*int]) {
						if rnd.IntN(20) == 0 {
							testkit.Settle(t)
						}
					})
					func() {
						defer testkit.Collect()()
						same("collections all the time", nothing)
					}()
				}
			})
		}
	}
}
