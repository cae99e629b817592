//go:build interleave

package pool_test

import (
	"iter"
	"slices"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// What an actor looks at, and what it waits for.

// sees judges an answer to a look at h that began when it was removed or not.
func (a *actor) sees(h Handle[val], e *life, was bool, ok bool, stamp uint64) {
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

// before returns what is known of h before a look at it, and whether it was removed.
func (a *actor) before(h Handle[val]) (e *life, was bool) {
	e = a.known(h)
	return e, e != nil && e.removed
}

func (a *actor) get(h Handle[val]) bool {
	e, was := a.before(h)
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
	rd := &reader{from: a.clock}
	a.enter("Pin")
	rd.g = a.do.Pin()
	rd.copy = PinOf(&rd.g)
	a.leave()
	a.watched = append(a.watched, rd)
	a.look(rd, h)
	return rd
}

// look makes rd look at h, if it is pinned.
func (a *actor) look(rd *reader, h Handle[val]) {
	if h == 0 || !slices.Contains(a.watched, rd) || rd.ref != nil {
		return
	}
	e, was := a.before(h)
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
	e, was := a.before(h)
	a.enter("Hold")
	ref, ok := a.p.Hold(h)
	a.leave()
	a.t.Notef("holds %v: %v", h, ok)
	if !ok {
		a.sees(h, e, was, false, 0)
		return nil
	}
	rd := &reader{h: h, ref: ref}
	interleave.Unseen(func() { rd.v = ref.Value() })
	rd.stamp = rd.v.stamp
	a.sees(h, e, was, true, rd.stamp)
	a.watched = append(a.watched, rd)
	return rd
}

// lookAll makes rd look at several handles at once, if it is pinned.
func (a *actor) lookAll(rd *reader, hs ...Handle[val]) {
	if !slices.Contains(a.watched, rd) || rd.ref != nil {
		return
	}
	es, was := make([]*life, len(hs)), make([]bool, len(hs))
	for i, h := range hs {
		es[i], was[i] = a.before(h)
	}
	a.enter("GetBatch")
	vs := rd.g.GetBatch(hs, nil)
	a.leave()
	for i, h := range hs {
		if vs[i] == nil {
			a.sees(h, es[i], was[i], false, 0)
			continue
		}
		a.sees(h, es[i], was[i], true, vs[i].stamp)
		rd.h, rd.v, rd.stamp = h, vs[i], vs[i].stamp
	}
}

// release ends a hold that succeeded.
func (a *actor) release(rd *reader) {
	if !slices.Contains(a.watched, rd) {
		return
	}
	// Not watched any more: the slot may be reused before Release returns.
	a.watched = slices.DeleteFunc(a.watched, func(o *reader) bool { return o == rd })
	if a.t == nil { // nobody watches whether it comes to limbo anew
		a.turn[rd.h.Index()] = 0
	}
	a.enter("Release")
	rd.ref.Release()
	a.leave()
}

// unpin ends what rd has, if that did not end yet, and no loop under it goes on.
func (a *actor) unpin(rd *reader) {
	if !slices.Contains(a.watched, rd) || rd.loops > 0 {
		return
	}
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

// repin pins rd anew, if it is a guard that is pinned. What it has seen is nobody's any
// more.
func (a *actor) repin(rd *reader) {
	if !slices.Contains(a.watched, rd) || rd.ref != nil || rd.brief != nil {
		return
	}
	// Not watched any more: the slot may be reused before Repin returns.
	rd.h, rd.v = 0, nil
	from := a.clock
	a.enter("Repin")
	rd.g.Repin()
	rd.from, rd.copy = from, PinOf(&rd.g)
	a.leave()
}

// again unpins a copy of rd, which has been unpinned.
func (a *actor) again(rd *reader) {
	if rd == nil || rd.ref != nil || slices.Contains(a.watched, rd) {
		return
	}
	a.enter("Unpin again")
	if rd.copy.Release() {
		a.r.Failf("the copy of a guard that was unpinned ends a pin")
	}
	a.leave()
}

// read is a pin, a look, and an unpin.
func (a *actor) read(h Handle[val]) { a.unpin(a.pin(h)) }

// brief is the pin that Get makes, with a look under it that lasts.
func (a *actor) brief(h Handle[val], lasting bool) {
	e, was := a.before(h)
	a.enter("PinBrief")
	g := Domain(a.p).PinBrief()
	ok := a.p.Contains(h)
	rd := &reader{h: h, from: a.top(a.t).from}
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

// contains asks for h.
func (a *actor) contains(h Handle[val]) {
	e, was := a.before(h)
	a.enter("Contains")
	ok := a.p.Contains(h)
	a.leave()
	stamp := uint64(0)
	if it := a.find(h); it != nil {
		stamp = it.stamp // Contains shows none
	}
	a.sees(h, e, was, ok, stamp)
}

// view looks at h through View, and does inner meanwhile, if that is not nil.
func (a *actor) view(h Handle[val], inner func()) {
	e, was := a.before(h)
	a.enter("View").pins = true
	ok := false
	failed := a.caught(func() {
		ok = a.p.View(h, func(v *val) {
			a.sees(h, e, was, true, v.stamp)
			stamp := v.stamp
			interleave.Pause()
			if inner != nil {
				inner()
			}
			if v.stamp != stamp {
				a.r.Failf("the value of %v changed under View", h)
			}
		})
	})
	a.leave()
	if !ok && !failed {
		a.sees(h, e, was, false, 0)
	}
}

// all ranges over the values, and does inner at the first, if that is not nil; if
// inner fails, the loop ends early. What lives all the while must be yielded once.
func (a *actor) all(inner func()) { a.loop("All", a.p.All(), inner) }

// allUnder is all under a guard, if that is pinned.
func (a *actor) allUnder(rd *reader, inner func()) {
	if slices.Contains(a.watched, rd) && rd.ref == nil && rd.brief == nil {
		rd.loops++
		defer func() { rd.loops-- }() // also if a Reset ends the thread
		a.loop("Guard.All", rd.g.All(), inner)
	}
}

// each is what a goroutine of Each does.
func (a *actor) each(inner func()) {
	a.loop("Each", func(yield func(Handle[val], *val) bool) {
		err := EachAlone(a.p, func(h Handle[val], v *val) error {
			if !yield(h, v) {
				return errFails
			}
			return nil
		})
		if err != nil {
			a.r.Failf("Each: %v", err)
		}
	}, inner)
}

func (a *actor) loop(how string, values iter.Seq2[Handle[val], *val], inner func()) {
	before := a.settledEntries()
	var seen []Handle[val]
	failed := false
	a.enter(how).pins = true
	for h, v := range values {
		e := a.find(h)
		a.sees(h, e, false, true, v.stamp)
		if slices.Contains(seen, h) {
			a.r.Failf("%s yields %v twice", how, h)
		}
		seen = append(seen, h)
		interleave.Pause()
		if inner != nil && len(seen) == 1 {
			failed = a.caught(inner)
		}
		if e != nil && v.stamp != e.stamp {
			a.r.Failf("the value of %v changed under %s", h, how)
		}
		if failed {
			break
		}
	}
	a.leave()
	for _, e := range before {
		if !e.begun && !failed && !slices.Contains(seen, e.h) {
			a.r.Failf("%s misses %v", how, e.h)
		}
	}
}

// settledEntries are the entries that the thread can know of.
func (a *actor) settledEntries() (list []*life) {
	for _, e := range a.entries {
		if a.known(e.h) != nil {
			list = append(list, e)
		}
	}
	return list
}

// synchronize waits for what was removed, for a few turns.
func (a *actor) synchronize(turns int) {
	before := a.removedByNow()
	a.enter("Synchronize")
	err := a.p.Synchronize(&patience{a.world, turns, 3})
	a.leave()
	a.t.Notef("%v", err)
	if err != nil {
		return
	}
	interleave.Unseen(func() { a.reclaimed(before) })
}

// removedByNow are the handles that were removed, but for those whose slots a Worker or a
// Ref may keep.
func (w *world) removedByNow() (hs []Handle[val]) {
	if slices.ContainsFunc(w.frames, func(f *frame) bool { return f.a.k != nil || f.op == "Hold" || f.op == "Release" }) {
		return nil // they may be on their way
	}
	interleave.Unseen(func() {
		if err := w.locate(); err != nil {
			w.r.Failf("%v", err)
		}
	})
	for _, e := range w.entries {
		if at := w.place[e.h.Index()]; (e.removed || e.unlinked) && at != inBag && at != isParked && !w.isHeld(e.h) {
			hs = append(hs, e.h)
		}
	}
	return hs
}

// isHeld reports whether a Ref holds h.
func (w *world) isHeld(h Handle[val]) bool {
	return slices.ContainsFunc(w.watched, func(rd *reader) bool { return rd.ref != nil && rd.h == h })
}

// reclaimed fails if a slot of hs waits for its grace period.
func (w *world) reclaimed(hs []Handle[val]) {
	if err := w.locate(); err != nil {
		w.r.Failf("%v", err)
		return
	}
	for _, h := range hs {
		slot := Slot(w.p, h.Index())
		if shard.Generation(slot.Word.Load()) != h.Generation()+1 {
			continue
		}
		at := w.place[h.Index()]
		inHand := at == nowhere && w.vacant(h.Index()) != nil && slot.Value.stamp == w.find(h).stamp
		if at == inLimbo || at == inSealed || inHand {
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

// grow makes memory ahead.
func (a *actor) grow(n int) {
	a.enter("Grow")
	err := a.p.Grow(n)
	a.leave()
	if (err != nil) != (n > a.p.Cap()) {
		a.r.Failf("Grow(%d) of a pool of %d: %v", n, a.p.Cap(), err)
	}
}
