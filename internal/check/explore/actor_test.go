//go:build interleave

package explore_test

import (
	"context"
	"runtime"
	"slices"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
)

// actor calls verbs for one thread, and judges their results (judge_test.go). With t nil it
// prepares the run.
type actor struct {
	*world
	t *interleave.Thread
	k *keeper // the Worker that it acts through, if there is one
}

// subject is the pool, without the lives of what it opens: they would run on a goroutine
// that is no thread of the run.
type subject struct{ *Pool[val] }

func (s subject) Worker() *Worker[val] {
	w := s.Pool.Worker()
	runtime.SetFinalizer(w, nil)
	return w
}

// Each is what a goroutine of Each does.
func (s subject) Each(_ context.Context, _ int, f func(Handle[val], *val) error) error {
	return EachAlone(s.Pool, f)
}

// vals makes the values of the explored pools, which their stamps distinguish.
var (
	vals = verbs.Kind[val]{
		Make: func(n uint64) val { return val{n, &anchor} },
		Number: func(v *val) uint64 {
			if v.stamp != 0 && v.keep != &anchor {
				return 1 << 63 // torn
			}
			return v.stamp
		},
	}
	table = verbs.Table[val]()
)

// call returns a call of a verb. In its callback, if it has one, or at the first value of its
// loop it does inner, if that is not nil.
func (a *actor) call(name string, inner func(), hs ...Handle[val]) *verbs.Call[val] {
	c := &verbs.Call[val]{Verb: table.Named(name), Judge: a, Kind: vals, Pool: subject{a.p}, Handles: hs, State: &frame{a: a, inner: inner}}
	if c.Needs&verbs.Any != 0 && a.k != nil {
		c.Via = a.k.w
	}
	return c
}

// inserts makes a call, and returns the handle that it inserted, or 0.
func inserts(c *verbs.Call[val]) Handle[val] {
	c.Do()
	return frameOf(c).inserted
}

// at calls a verb that takes handles or nothing. It returns the handle that it inserted, or 0.
func (a *actor) at(name string, inner func(), hs ...Handle[val]) Handle[val] {
	return inserts(a.call(name, inner, hs...))
}

// waits is at for a verb that waits until ctx is done.
func (a *actor) waits(ctx context.Context, name string, inner func()) Handle[val] {
	c := a.call(name, inner)
	c.Context = ctx
	return inserts(c)
}

// do does what is no verb, as an operation with this name.
func (a *actor) do(op string, f func()) {
	a.enter(op)
	f()
	a.leave()
}

// reserve opens a reservation, or returns nil. What it makes stays in w.reserved, so that the
// collector drops no block in the middle of a run.
func (a *actor) reserve(by string) *Reservation[val] {
	c := a.call(by, nil)
	c.Context = a.brief()
	c.Do()
	r := c.Open
	if r == nil {
		return nil
	}
	if slices.Contains(a.reserved, r) {
		a.r.Failf("the Reservation of %v was given out before", r.Handle())
	}
	a.reserved = append(a.reserved, r)
	return r
}

// isOpen reports whether r is not settled yet.
func isOpen(r *Reservation[val]) (is bool) {
	interleave.Unseen(func() { is = r != nil && IsOpen(r) })
	return is
}

// commit makes the value of r live, if that is open.
func (a *actor) commit(r *Reservation[val]) Handle[val] {
	if !isOpen(r) {
		return 0
	}
	c := a.call("Commit", nil)
	c.Open = r
	return inserts(c)
}

// opens calls a verb that opens a guard, or a Ref of a handle that is live. What that sees is
// watched.
func (a *actor) opens(name string, hs ...Handle[val]) *reader {
	from, c := a.clock, a.call(name, nil, hs...)
	if !slices.Contains(hs, 0) {
		c.Do()
	}
	if c.Hold == nil {
		return nil
	}
	rd := &reader{Hold: c.Hold, from: from}
	a.watched = append(a.watched, rd)
	return rd
}

func (a *actor) cancel(r *Reservation[val], how func(*Reservation[val])) {
	if !isOpen(r) {
		return
	}
	h := r.Handle()
	a.burned = append(a.burned, h)
	a.cancelled++
	a.push(&frame{a: a, op: "Cancel", shown: h})
	how(r)
	a.leave()
}

// pin pins a guard and looks at h, if that is not zero.
func (a *actor) pin(h Handle[val]) *reader {
	rd := a.opens("Pin")
	if h != 0 {
		a.under("Guard.Pointer", rd, nil, h)
	}
	return rd
}

// crowd pins so many guards, and unpins all but the one in the middle.
func (a *actor) crowd(n int) *reader {
	all := make([]*reader, n)
	for i := range all {
		all[i] = a.pin(0)
	}
	for i, rd := range all {
		if i != n/2 {
			a.unpin(rd)
		}
	}
	return all[n/2]
}

// under calls a verb of a guard, if that is pinned. What it sees is watched.
func (a *actor) under(name string, rd *reader, inner func(), hs ...Handle[val]) {
	if !slices.Contains(a.watched, rd) || rd.Ref != nil {
		return
	}
	c := a.call(name, inner, hs...)
	c.Hold = rd.Hold
	if c.Needs&verbs.Loops != 0 {
		rd.loops++
		defer func() { rd.loops-- }() // also if a Reset ends the thread
	}
	c.Do()
}

// unpin ends a guard that is pinned, or a hold that succeeded.
func (a *actor) unpin(rd *reader) {
	if !slices.Contains(a.watched, rd) || rd.loops > 0 {
		return
	}
	unwatch := func() { a.watched = slices.DeleteFunc(a.watched, func(o *reader) bool { return o == rd }) }
	if rd.Ref != nil {
		unwatch() // the slot may be reused before Release returns
	}
	c := a.call("Unpin", nil)
	c.Hold = rd.Hold
	c.Do()
	unwatch()
	a.unpinned(rd.from)
}

// conserved checks that every slot is accounted for if no Worker or Reservation is open.
func (a *actor) conserved() {
	if st := a.p.Stats(); st.Workers+st.Reserved > 0 {
		return
	}
	if st := a.p.Stats(); st.Live+st.Free+st.Limbo != st.Allocated {
		a.r.Failf("nothing is open, and slots are away: %+v", st)
	}
}
