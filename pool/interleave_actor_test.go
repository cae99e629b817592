//go:build interleave

package pool

import (
	"errors"
	"runtime"
	"slices"
	"unsafe"

	"coatcheck/internal/check/interleave"
	"coatcheck/shard"
)

// verbs are what a Pool and a Worker have in common.
type verbs interface {
	Insert(val) (Handle[val], error)
	InsertFunc(func(Handle[val], *val)) (Handle[val], error)
	Get(Handle[val]) (val, bool)
	Remove(Handle[val]) bool
	Take(Handle[val]) (val, bool)
	Pin() Guard[val]
}

// actor is one thread's hand on the pool: it does what the thread says and
// checks the answers. With t nil it prepares the run.
type actor struct {
	*world
	t  *interleave.Thread
	do verbs
	k  *keeper // do, if that is a Worker
}

func (a *actor) enter(op string) {
	if a.k != nil {
		a.k.busy = true
	}
	a.t.Begin(op)
}

func (a *actor) leave() {
	if a.k != nil {
		a.k.busy = false
	}
	a.t.End()
}

func (a *actor) insert() Handle[val] {
	stamp := a.stamp()
	a.enter("Insert")
	h, err := a.do.Insert(val{stamp, &anchor})
	return a.inserted(h, stamp, err)
}

func (a *actor) inserted(h Handle[val], stamp uint64, err error) Handle[val] {
	a.leave()
	if err != nil {
		a.t.Notef("%v", err)
		a.refuse(err)
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
	if v.stamp != 0 || v.keep != nil && a.p.arena.Reset == nil {
		a.r.Failf("constructor of %v sees what another value left: %+v", h, *v)
	}
}

// insertFunc inserts through a constructor that does inner on the way; if fail,
// it panics after that.
func (a *actor) insertFunc(fail bool, inner func()) Handle[val] {
	stamp := a.stamp()
	failed := errors.New("the constructor fails")
	var h Handle[val]
	var err error
	a.enter("InsertFunc")
	func() {
		defer func() {
			if v := recover(); v != nil && v != failed {
				panic(v)
			}
		}()
		h, err = a.do.InsertFunc(func(h Handle[val], v *val) {
			a.clean(h, v)
			if fail {
				a.burned = append(a.burned, h)
			}
			*v = val{stamp, &anchor}
			if inner != nil {
				inner()
				a.enter("InsertFunc")
				interleave.Pause()
			}
			if v.stamp != stamp {
				a.r.Failf("the value of %v changed while it was built", h)
			}
			if fail {
				panic(failed)
			}
		})
	}()
	if fail {
		a.leave()
		return 0
	}
	return a.inserted(h, stamp, err)
}

// reserve opens a reservation, or returns nil.
func (a *actor) reserve() *Reservation[val] {
	a.enter("Reserve")
	r, err := a.p.Reserve()
	a.leave()
	if err != nil {
		a.refuse(err)
		return nil
	}
	runtime.SetFinalizer(r, nil)                                 // see worker
	interleave.Unseen(func() { a.clean(r.Handle(), r.Value()) }) // nobody else has r
	a.reserved = append(a.reserved, r)
	return r
}

func (a *actor) commit(r *Reservation[val]) Handle[val] {
	stamp := a.stamp()
	interleave.Unseen(func() { *r.Value() = val{stamp, &anchor} })
	a.enter("Commit")
	return a.inserted(r.Commit(), stamp, nil)
}

func (a *actor) cancel(r *Reservation[val], how func(*Reservation[val])) {
	a.burned = append(a.burned, r.Handle())
	a.enter("Cancel")
	how(r)
	a.leave()
}

// known is find for somebody who is about to do something with h: nil also while
// h's publication has yet to leave another thread's buffer. Its insertion has
// returned by then, but nobody can have been told: any word that tells would have
// left the buffer later.
func (a *actor) known(h Handle[val]) *entry {
	e := a.find(h)
	if e != nil && interleave.Pending(unsafe.Pointer(&shard.At[val](a.names.table(), h.Index()).Word)) {
		return nil
	}
	return e
}

// begin notes that h may go from now on.
func (a *actor) begin(h Handle[val]) *entry {
	e := a.find(h)
	if e != nil {
		e.begun = true
		e.tries++
	} else {
		a.guessed = append(a.guessed, h)
	}
	return a.known(h)
}

// end notes what a removal of h answered; before is what was known when it began.
func (a *actor) end(h Handle[val], before *entry, was, ok bool) {
	a.leave()
	a.t.Notef("%v: %v", h, ok)
	e := a.find(h)
	switch {
	case ok && e == nil:
		a.r.Failf("%v was removed and never inserted", h)
	case ok && e.removed:
		a.r.Failf("%v was removed twice", h)
	case ok && before != nil && was:
		a.r.Failf("%v was removed again", h)
	case ok:
		e.removed = true
		a.gone++
	case before != nil && !was && e.tries == 1 && a.clearing == 0:
		a.r.Failf("%v is live, nobody else removes it, and its removal is refused", h)
	}
}

func (a *actor) remove(h Handle[val]) bool {
	if h == 0 {
		return false
	}
	e := a.begin(h)
	was := e != nil && e.removed
	a.enter("Remove")
	ok := a.do.Remove(h)
	a.end(h, e, was, ok)
	return ok
}

// removeAt removes h, which lives, into the limbo of shard k.
func (a *actor) removeAt(k int, h Handle[val]) {
	e := a.begin(h)
	a.enter("Remove")
	a.end(h, e, false, a.p.arena.RemoveAt(k, a.p.slot(h.Index()), uint64(h)))
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
	a.enter("Take")
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
	if v.keep == nil || v.stamp == 0 {
		w.r.Failf("Reset of what is no value: %+v", *v)
	}
	w.resets = append(w.resets, v.stamp)
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

// sees judges an answer to a look at h that began when it was removed or not.
func (a *actor) sees(h Handle[val], e *entry, was bool, ok bool, stamp uint64) {
	known := e != nil
	if !known {
		e = a.find(h) // it may have been inserted meanwhile
	}
	switch {
	case ok && e == nil:
		a.r.Failf("%v is found and was never inserted", h)
	case ok && was:
		a.r.Failf("%v is found after it was removed", h)
	case !ok && known && !e.begun:
		a.r.Failf("%v is lost", h)
	case ok && stamp != e.stamp:
		a.r.Failf("%v has value %d; want %d", h, stamp, e.stamp)
	}
}

func (a *actor) get(h Handle[val]) bool {
	e := a.known(h)
	was := e != nil && e.removed
	a.enter("Get")
	v, ok := a.do.Get(h)
	a.leave()
	a.t.Notef("%v: %v", h, ok)
	a.sees(h, e, was, ok, v.stamp)
	if ok && v.keep != &anchor || !ok && v != (val{}) {
		a.r.Failf("Get of %v: %+v, %v", h, v, ok)
	}
	return ok
}

// pin pins a guard and looks at h, if that is not zero. What it sees is watched.
func (a *actor) pin(h Handle[val]) *reader {
	rd := new(reader)
	a.enter("Pin")
	rd.g = a.do.Pin()
	a.leave()
	a.watched = append(a.watched, rd)
	a.look(rd, h)
	return rd
}

// look makes rd look at h.
func (a *actor) look(rd *reader, h Handle[val]) {
	if h == 0 {
		return
	}
	e := a.known(h)
	was := e != nil && e.removed
	a.enter("Guard.Get")
	v, ok := rd.g.Get(h)
	a.leave()
	a.t.Notef("sees %v: %v", h, ok)
	if !ok {
		a.sees(h, e, was, false, 0)
		return
	}
	a.sees(h, e, was, true, v.stamp)
	rd.h, rd.v, rd.stamp = h, v, v.stamp
}

// hold holds h, if it is live. What it holds is watched.
func (a *actor) hold(h Handle[val]) *reader {
	if h == 0 {
		return nil
	}
	e := a.known(h)
	was := e != nil && e.removed
	a.enter("Hold")
	ref, ok := a.p.Hold(h)
	a.leave()
	a.t.Notef("holds %v: %v", h, ok)
	if !ok {
		a.sees(h, e, was, false, 0)
		return nil
	}
	rd := &reader{h: h, v: ref.Value(), ref: ref}
	rd.stamp = rd.v.stamp
	a.sees(h, e, was, true, rd.stamp)
	a.watched = append(a.watched, rd)
	return rd
}

// release ends a hold that succeeded.
func (a *actor) release(rd *reader) {
	if rd == nil {
		return
	}
	// Not watched any more: the slot may be reused before Release returns.
	a.watched = slices.DeleteFunc(a.watched, func(o *reader) bool { return o == rd })
	a.enter("Release")
	rd.ref.Release()
	a.leave()
}

func (a *actor) unpin(rd *reader) {
	if rd.ref != nil {
		a.release(rd)
		return
	}
	a.enter("Unpin")
	if rd.brief != nil {
		rd.brief.UnpinBrief()
	} else {
		rd.g.Unpin()
	}
	a.leave()
	a.watched = slices.DeleteFunc(a.watched, func(o *reader) bool { return o == rd })
}

// read is a pin, a look, and an unpin.
func (a *actor) read(h Handle[val]) { a.unpin(a.pin(h)) }

// brief is the pin that Get makes, with a look under it that lasts.
func (a *actor) brief(h Handle[val], lasting bool) {
	e := a.known(h)
	was := e != nil && e.removed
	a.enter("PinBrief")
	g := a.p.domain.PinBrief()
	ok := a.p.Contains(h)
	rd := &reader{h: h}
	if ok {
		rd.v = &shard.At[val](a.names.table(), h.Index()).Value
		rd.stamp = rd.v.stamp
	}
	a.sees(h, e, was, ok, rd.stamp)
	a.watched = append(a.watched, rd)
	if !lasting {
		g.UnpinBrief()
		a.watched = slices.DeleteFunc(a.watched, func(o *reader) bool { return o == rd })
	} else {
		rd.brief = &g
	}
	a.leave()
}

// view looks at h through View.
func (a *actor) view(h Handle[val]) {
	e := a.known(h)
	was := e != nil && e.removed
	a.enter("View")
	ok := a.p.View(h, func(v *val) {
		a.sees(h, e, was, true, v.stamp)
		stamp := v.stamp
		interleave.Pause()
		if v.stamp != stamp {
			a.r.Failf("the value of %v changed under View", h)
		}
	})
	a.leave()
	if !ok {
		a.sees(h, e, was, false, 0)
	}
}

// all ranges over the values. Those that live all the while must be yielded once.
func (a *actor) all() {
	var before []*entry
	for _, e := range a.entries {
		if a.known(e.h) != nil {
			before = append(before, e)
		}
	}
	var seen []Handle[val]
	a.enter("All")
	for h, v := range a.p.All() {
		e := a.find(h)
		a.sees(h, e, false, true, v.stamp)
		if slices.Contains(seen, h) {
			a.r.Failf("All yields %v twice", h)
		}
		seen = append(seen, h)
		interleave.Pause()
		if e != nil && v.stamp != e.stamp {
			a.r.Failf("the value of %v changed under All", h)
		}
	}
	a.leave()
	for _, e := range before {
		if !e.begun && !slices.Contains(seen, e.h) {
			a.r.Failf("All misses %v", e.h)
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
	a.enter(op)
	n := f()
	a.leave()
	a.t.Notef("removed %d", n)
	a.clearing--
	a.gone += n
}

func (a *actor) clear() { a.sweep("Clear", a.p.Clear) }

func (a *actor) drain() {
	a.sweep("Drain", func() int {
		n := 0
		for h, v := range a.p.Drain() {
			e := a.find(h)
			a.sees(h, e, e != nil && e.removed, true, v.stamp)
			if e != nil {
				e.removed = true
			}
			n++
		}
		return n
	})
}

// removeBatch removes hs at once.
func (a *actor) removeBatch(hs ...Handle[val]) {
	for _, h := range hs {
		a.begin(h)
	}
	a.enter("RemoveBatch")
	n := a.p.RemoveBatch(hs)
	a.leave()
	a.gone += n
}

// synchronize waits for what was removed, for a few turns.
func (a *actor) synchronize(turns int) {
	var before []Handle[val]
	for _, e := range a.entries {
		if e.removed {
			before = append(before, e.h)
		}
	}
	a.enter("Synchronize")
	err := a.p.Synchronize(&patience{a.world, turns, 3})
	a.leave()
	a.t.Notef("%v", err)
	if err != nil {
		return
	}
	interleave.Unseen(func() { a.reclaimed(before) })
}

// reclaimed fails if a slot of hs waits for its grace period.
func (w *world) reclaimed(hs []Handle[val]) {
	if err := w.locate(); err != nil {
		w.r.Failf("%v", err)
		return
	}
	for _, h := range hs {
		word := w.p.slot(h.Index()).Word.Load()
		if at := w.place[h.Index()]; shard.Generation(word) == h.Generation()+1 && (at == inLimbo || at == inSealed) {
			w.r.Failf("Synchronize returned, and %v is not reclaimed", h)
		}
	}
}

// trim gives memory back.
func (a *actor) trim() {
	a.enter("Trim")
	n := a.p.Trim()
	a.leave()
	a.t.Notef("%d bytes", n)
}
