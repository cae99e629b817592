//go:build interleave

package pool_test

import (
	"errors"
	"runtime"
	"slices"
	"unsafe"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// actor is one thread's hand on the pool: it does what the thread says and
// checks the answers. With t nil it prepares the run.
type actor struct {
	*world
	t  *interleave.Thread
	do verbs.Door[val]
	k  *keeper // do, if that is a Worker
}

func (a *actor) insert() Handle[val] {
	stamp := a.stamp()
	a.enter("Insert")
	h, err := a.do.Insert(val{stamp, &anchor})
	return a.inserted(h, stamp, err)
}

func (a *actor) inserted(h Handle[val], stamp uint64, err error) Handle[val] {
	f := a.leave()
	if err != nil {
		a.t.Notef("%v", err)
		a.refuse(f, err)
		return 0
	}
	a.t.Notef("inserted %v", h)
	a.issued(h, stamp)
	return h
}

// insertN inserts n values.
func (a *actor) insertN(n int) []Handle[val] {
	hs := make([]Handle[val], n)
	for i := range hs {
		hs[i] = a.insert()
	}
	return hs
}

// clean fails if a slot is shown that is not ready for its next life.
func (a *actor) clean(h Handle[val], v *val) {
	if v.stamp != 0 || v.keep != nil && Arena(a.p).Reset == nil {
		a.r.Failf("constructor of %v sees what another value left: %+v", h, *v)
	}
}

// insertFunc inserts through a constructor that does inner on the way, if that is
// not nil. If inner fails or exits, so does the constructor.
func (a *actor) insertFunc(inner func()) Handle[val] {
	stamp := a.stamp()
	var h Handle[val]
	var err error
	a.enter("InsertFunc")
	failed := a.caught(func() {
		h, err = a.do.InsertFunc(func(h Handle[val], v *val) {
			a.clean(h, v)
			built := false
			defer func() {
				if !built {
					a.burned = append(a.burned, h)
				}
			}()
			*v = val{stamp, &anchor}
			if inner != nil {
				inner()
				interleave.Pause()
			}
			if v.stamp != stamp {
				a.r.Failf("the value of %v changed while it was built", h)
			}
			built = true
		})
	})
	if failed {
		a.leave()
		return 0
	}
	return a.inserted(h, stamp, err)
}

// errMeant is what the constructors of insertFails return.
var errMeant = errors.New("meant")

// insertFails inserts through a constructor that does inner on the way, if that is not
// nil, and then returns an error.
func (a *actor) insertFails(inner func()) {
	var err error
	var h, shown Handle[val]
	a.enter("TryInsertFunc")
	failed := a.caught(func() {
		h, err = a.do.TryInsertFunc(func(h Handle[val], v *val) error {
			a.clean(h, v)
			defer func() { a.burned = append(a.burned, h) }()
			shown = h
			*v = val{a.stamp(), &anchor}
			if inner != nil {
				inner()
			}
			return errMeant
		})
	})
	f := a.leave()
	switch {
	case failed:
	case h != 0 || err == nil:
		a.r.Failf("TryInsertFunc returned %v and %v; its constructor failed", h, err)
	case shown == 0:
		a.refuse(f, err)
	case err != errMeant:
		a.r.Failf("TryInsertFunc returned %v; its constructor %v", err, errMeant)
	}
}

// reserve opens a reservation, or returns nil.
func (a *actor) reserve() *Reservation[val] {
	a.enter("Reserve")
	r, err := a.p.Reserve()
	f := a.leave()
	if err != nil {
		a.refuse(f, err)
		return nil
	}
	runtime.SetFinalizer(r, nil) // see worker
	a.opened(r)
	return r
}

// opened notes a reservation.
func (a *actor) opened(r *Reservation[val]) {
	interleave.Unseen(func() { a.clean(r.Handle(), r.Value()) }) // nobody else has r
	a.reserved = append(a.reserved, r)
	a.turn[r.Handle().Index()] = 0
}

// isOpen reports whether r is to be settled yet.
func isOpen(r *Reservation[val]) (is bool) {
	interleave.Unseen(func() { is = r != nil && IsOpen(r) })
	return is
}

// commit makes the value of r live, if that is open.
func (a *actor) commit(r *Reservation[val]) Handle[val] {
	if !isOpen(r) {
		return 0
	}
	stamp := a.stamp()
	interleave.Unseen(func() { *r.Value() = val{stamp, &anchor} })
	a.enter("Commit")
	return a.inserted(r.Commit(), stamp, nil)
}

// commitHold makes the value of r live and holds it, if r is open. What it holds is
// watched.
func (a *actor) commitHold(r *Reservation[val]) *reader {
	if !isOpen(r) {
		return nil
	}
	rd := &reader{stamp: a.stamp()}
	a.announced = append(a.announced, rd.stamp) // the Ref is made when the value is live
	interleave.Unseen(func() { *r.Value() = val{rd.stamp, &anchor} })
	a.enter("CommitHold")
	rd.ref = r.CommitHold()
	rd.h = rd.ref.Handle()
	interleave.Unseen(func() { rd.v = rd.ref.Value() })
	a.watched = append(a.watched, rd)
	a.leave()
	a.t.Notef("inserted %v", rd.h)
	if e := a.appeared(rd.h, rd.stamp); e == nil || e.stamp != rd.stamp {
		a.r.Failf("CommitHold made %v live for value %d, which it is not", rd.h, rd.stamp)
	}
	return rd
}

func (a *actor) cancel(r *Reservation[val], how func(*Reservation[val])) {
	if !isOpen(r) {
		return
	}
	a.burned = append(a.burned, r.Handle())
	a.cancelled++
	a.enter("Cancel")
	how(r)
	a.leave()
}

// known is find for somebody who is about to do something with h: nil also while
// h's publication has yet to leave another thread's buffer. Its insertion has
// returned by then, but nobody can have been told: any word that tells would have
// left the buffer later.
func (a *actor) known(h Handle[val]) *life {
	e := a.find(h)
	if e != nil && interleave.Pending(unsafe.Pointer(&shard.At[val](a.names.table(), h.Index()).Word)) {
		return nil
	}
	return e
}

// begin notes that h may go from now on.
func (a *actor) begin(h Handle[val]) *life {
	e := a.find(h)
	if e != nil {
		if a.t == nil && !e.begun && Arena(a.p).Reset == nil && Arena(a.p).Shards == 1 { // nobody watches limbo yet
			a.turns++
			a.turn[h.Index()] = a.turns
		}
		e.begun = true
		e.tries++
	} else {
		a.guessed = append(a.guessed, h)
	}
	return a.known(h)
}

// end notes what a removal of h answered; before is what was known when it began.
func (a *actor) end(h Handle[val], before *life, was, ok bool) {
	a.leave()
	a.t.Notef("%v: %v", h, ok)
	e := a.find(h)
	switch {
	case ok && e == nil:
		a.r.Failf("%v was removed and never inserted", h)
	case ok && before != nil && was:
		a.r.Failf("%v was removed again", h)
	case ok:
		a.removed(e)
		a.gone++
	case before != nil && !was && e.tries == 1 && a.clearing == 0:
		a.r.Failf("%v is live, nobody else removes it, and its removal is refused", h)
	}
}

// removed notes that e's value was removed by an operation that has returned.
func (a *actor) removed(e *life) {
	if e.removed {
		a.r.Failf("%v was removed twice", e.h)
	}
	e.removed, e.gone = true, a.clock
}

func (a *actor) remove(h Handle[val]) bool {
	if h == 0 {
		return false
	}
	e := a.begin(h)
	was := e != nil && e.removed
	a.enter("Remove").removing(h)
	ok := a.do.Remove(h)
	a.end(h, e, was, ok)
	return ok
}

// removeAt removes h, which lives, into the limbo of shard k.
func (a *actor) removeAt(k int, h Handle[val]) {
	e := a.begin(h)
	a.enter("Remove").removing(h)
	a.end(h, e, false, Arena(a.p).RemoveAt(k, Slot(a.p, h.Index()), uint64(h)))
}

// removeAll removes hs one after the other.
func (a *actor) removeAll(hs []Handle[val]) {
	for _, h := range hs {
		a.remove(h)
	}
}

func (a *actor) take(h Handle[val]) bool {
	if h == 0 {
		return false
	}
	e := a.begin(h)
	was := e != nil && e.removed
	a.enter("Take").removing(h)
	v, ok := a.do.Take(h)
	a.end(h, e, was, ok)
	if !ok {
		return false
	}
	if e = a.find(h); v.stamp != e.stamp {
		a.r.Failf("Take of %v gave value %d; want %d", h, v.stamp, e.stamp)
	}
	a.taken = append(a.taken, v.stamp)
	a.notBoth()
	return ok
}

// reset is an Options.Reset that keeps a part of the value, and complains about
// values that are not the pool's any more.
func (w *world) reset(v *val) {
	switch {
	case v.keep != nil && v.stamp != 0:
		w.resets = append(w.resets, v.stamp)
	case w.cancelled > 0:
		w.cancelled-- // a Reservation shows a slot that may have been written to
	default:
		w.r.Failf("Reset of what is no value: %+v", *v)
	}
	w.notBoth()
	v.stamp = 0
}

// notBoth fails if a value was Reset and taken.
func (w *world) notBoth() {
	for _, s := range w.taken {
		if slices.Contains(w.resets, s) {
			w.r.Failf("value %d was taken, and Reset all the same", s)
		}
	}
}

// sweep runs an operation that removes whatever it meets.
func (a *actor) sweep(op string, f func() int) {
	for _, e := range a.entries {
		e.begun = true
		e.tries += 2
	}
	a.clearing++
	defer func() { a.clearing-- }()
	a.enter(op).slots = maxSlots
	n := 0
	if a.caught(func() { n = f() }) {
		a.vague = true
	}
	a.leave()
	a.t.Notef("removed %d", n)
	a.gone += n
}

func (a *actor) clear() { a.sweep("Clear", a.p.Clear) }

// drain drains the pool, and does inner at the first value, if that is not nil.
func (a *actor) drain(inner func()) {
	a.sweep("Drain", func() int {
		n := 0
		for h, v := range a.p.Drain() {
			e := a.find(h)
			a.sees(h, e, e != nil && e.removed, true, v.stamp)
			if e != nil {
				e.removed = true
			}
			a.taken = append(a.taken, v.stamp)
			a.notBoth()
			if n++; n == 1 && inner != nil {
				inner()
			}
		}
		return n
	})
}

// deleteFunc removes the values with an odd stamp, and does inner at the first, if
// that is not nil.
func (a *actor) deleteFunc(inner func()) {
	a.sweep("DeleteFunc", func() int {
		a.top(a.t).pins = true
		first := true
		var last *life // that was to go
		return a.p.DeleteFunc(func(h Handle[val], v *val) bool {
			if last != nil && last.tries == 2 {
				last.unlinked = true // by nobody else
			}
			last = nil
			e := a.find(h)
			a.sees(h, e, false, true, v.stamp)
			stamp := v.stamp
			if first && inner != nil {
				first = false
				inner()
			}
			interleave.Pause()
			if v.stamp != stamp {
				a.r.Failf("the value of %v changed under DeleteFunc", h)
			}
			if stamp%2 == 1 {
				last = e
			}
			return last != nil
		})
	})
}

// removeBatch removes hs at once.
func (a *actor) removeBatch(hs ...Handle[val]) {
	for _, h := range hs {
		a.begin(h)
	}
	a.enter("RemoveBatch").removing(hs...)
	n := a.p.RemoveBatch(hs)
	a.leave()
	a.gone += n
	for _, h := range hs {
		if e := a.find(h); e != nil && n == len(hs) { // all of them, by this call
			a.removed(e)
		}
	}
}

// insertBatch inserts n values at once.
func (a *actor) insertBatch(n int) []Handle[val] {
	var vs []val
	for range n {
		vs = append(vs, val{a.stamp(), &anchor})
		a.announced = append(a.announced, vs[len(vs)-1].stamp)
	}
	a.enter("InsertBatch").slots = n
	hs, err := a.p.InsertBatch(vs, nil)
	f := a.leave()
	a.t.Notef("%v: %v", hs, err)
	for i, h := range hs {
		a.appeared(h, vs[i].stamp) // the last may not have been noted yet
		if e := a.find(h); e == nil || e.stamp != vs[i].stamp {
			a.r.Failf("InsertBatch returned %v for value %d, which it is not", h, vs[i].stamp)
		}
	}
	if len(hs) < n && err == nil || len(hs) == n && err != nil {
		a.r.Failf("InsertBatch inserted %d of %d: %v", len(hs), n, err)
	}
	if err != nil {
		a.refuse(f, err)
	}
	return append(hs, make([]Handle[val], n-len(hs))...)
}

// stats asks for all figures.
func (a *actor) stats() {
	a.enter("Stats")
	st, n := a.p.Stats(), a.p.Len()
	a.leave()
	if most := len(a.entries) + len(a.announced) + len(a.frames); st.Live > most || n > most {
		a.r.Failf("Stats and Len say that %d and %d values are live, and there were %d ever", st.Live, n, most)
	}
}
