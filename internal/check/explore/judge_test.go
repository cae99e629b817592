//go:build interleave

package explore_test

import (
	"slices"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// An actor judges the results of its calls. Other threads may be within calls of theirs.

// knew is what was known of a handle when a call began.
type knew struct {
	h   Handle[val]
	e   *life
	was bool // it was removed
}

// knew returns what was known of h, or what is known now of a value in a loop.
func (f *frame) knew(h Handle[val]) knew {
	for _, k := range f.before {
		if k.h == h {
			return k
		}
	}
	return knew{h, f.a.find(h), false}
}

func frameOf(c *verbs.Call[val]) *frame { return c.State.(*frame) }

// NewNumber returns a stamp.
func (a *actor) NewNumber() uint64 {
	a.serial++
	return a.serial
}

func (a *actor) Begin(c *verbs.Call[val]) {
	f := frameOf(c)
	f.op = c.Name
	switch {
	case c.Needs&verbs.Sweeps != 0:
		for _, e := range a.entries {
			e.begun = true
			e.tries += 2
		}
		a.clearing++
	case c.Needs&verbs.Loops != 0:
		f.settled = a.settledEntries()
	case c.Name == "Hold":
		f.holds = c.Handles[0]
	case c.Name == "Unpin" && c.Hold.Ref != nil:
		f.op, f.holds, f.late = "Release", c.Hold.Seen[0].H, true
	case c.Name == "Synchronize":
		f.waits = a.removedByNow()
	}
	for _, h := range c.Handles {
		k := knew{h: h}
		if c.Needs&verbs.Removes != 0 {
			k.e = a.begin(h)
		} else {
			k.e = a.known(h)
		}
		k.was = k.e != nil && k.e.removed
		f.before = append(f.before, k)
	}
	switch {
	case c.Needs&verbs.Removes != 0:
		f.removes = c.Handles
	case c.Needs&verbs.Sweeps != 0:
		f.slots, f.sweeps = shard.Batch, true // what it gathers
	case c.Needs&verbs.Inserts != 0:
		f.slots = 1
	case c.Needs&verbs.Reservation != 0:
		interleave.Unseen(func() { f.shown = c.Open.Handle() })
	}
	f.pins = c.Needs&verbs.Under != 0 || c.Name == "Pin"
	a.push(f)
}

func (a *actor) Returned(c *verbs.Call[val]) {
	a.unwind(frameOf(c))
	a.leave()
}

func (a *actor) Meant(c *verbs.Call[val], x any) bool {
	f := frameOf(c)
	if !a.meant(x) {
		return false
	}
	a.unwind(f)
	a.vague = a.vague || f.sweeps
	return true
}

func (a *actor) Inside(c *verbs.Call[val], h Handle[val]) {
	f := frameOf(c)
	if c.Needs&verbs.Inserts == 0 && c.Name != "Drain" {
		interleave.Pause()
	}
	if inner := f.inner; inner != nil {
		f.inner = nil
		inner()
		interleave.Pause()
	}
}

func (a *actor) Unseen(f func()) { interleave.Unseen(f) }

func (a *actor) Failf(format string, args ...any) { a.r.Failf(format, args...) }

func (a *actor) Refused(c *verbs.Call[val], err error) {
	a.t.Notef("%v", err)
	a.refuse(frameOf(c), err)
}

func (a *actor) Shown(c *verbs.Call[val], h Handle[val], _ *val) { frameOf(c).shown = h }

func (a *actor) Inserted(c *verbs.Call[val], h Handle[val], stamp uint64) {
	a.t.Notef("inserted %v", h)
	a.issued(h, stamp)
	frameOf(c).inserted = h
}

func (a *actor) GivenUp(_ *verbs.Call[val], h Handle[val]) {
	a.burned = append(a.burned, h)
}

// known is find for an operation that begins. It also returns nil while h's publication is in
// another thread's store buffer: its insertion has returned by then, but no other thread can
// know of it, because a word that tells would leave the buffer later.
func (a *actor) known(h Handle[val]) *life {
	e := a.find(h)
	if e == nil {
		return nil
	}
	var word *atom.Uint64
	interleave.Unseen(func() { word = &Slot(a.p, h.Index()).Word })
	if interleave.Pending(unsafe.Pointer(word)) {
		return nil
	}
	return e
}

// begin notes that an operation which may remove h begins.
func (a *actor) begin(h Handle[val]) *life {
	e := a.find(h)
	if e != nil {
		e.begun = true
		e.tries++
	} else {
		a.guessed = append(a.guessed, h)
	}
	return a.known(h)
}

// removed notes that e's value was removed by an operation that has returned.
func (a *actor) removed(e *life) {
	if e.removed {
		a.r.Failf("%v was removed twice", e.h)
	}
	e.removed, e.gone = true, a.clock
}

func (a *actor) Removed(c *verbs.Call[val], h Handle[val], v *val, ok bool) {
	f := frameOf(c)
	f.ok = ok
	a.t.Notef("%v: %v", h, ok)
	if f.sweeps {
		e := a.find(h)
		a.sees(h, e, e != nil && e.removed, true, v.stamp)
		if e != nil {
			e.removed = true
		}
		a.gone++
	} else {
		a.ended(f.knew(h), ok)
	}
	if ok && v != nil {
		if e := a.find(h); e != nil && v.stamp != e.stamp {
			a.r.Failf("%v of %v gave value %d; want %d", c, h, v.stamp, e.stamp)
		}
		a.taken = append(a.taken, v.stamp)
		a.notBoth()
	}
}

// ended judges what a removal of a handle answered.
func (a *actor) ended(k knew, ok bool) {
	e, live := a.find(k.h), false
	interleave.Unseen(func() { live = a.p.Contains(k.h) })
	switch {
	case ok && e == nil:
		a.r.Failf("%v was removed and never inserted", k.h)
	case ok && k.e != nil && k.was:
		a.r.Failf("%v was removed again", k.h)
	case ok:
		a.removed(e)
		a.gone++
	case k.e != nil && !k.was && live:
		a.r.Failf("%v was live from beginning to end, and its removal is refused", k.h)
	}
}

// Condemned removes the values with an odd stamp.
func (a *actor) Condemned(c *verbs.Call[val], h Handle[val], v *val) bool {
	f := frameOf(c)
	if v.stamp%2 == 1 {
		f.last = a.find(h)
	}
	return f.last != nil
}

func (a *actor) Counted(c *verbs.Call[val], n int) {
	a.t.Notef("removed %d", n)
	a.gone += n
	for _, h := range c.Handles {
		if e := a.find(h); e != nil && n == len(c.Handles) { // all of them, by this call
			a.removed(e)
		}
	}
}

// reset is an Options.Reset that keeps a part of the value. It fails the run for a value that
// is not the pool's any more.
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

// sees judges the result of a look-up of h. was says whether h was removed when it began.
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

func (a *actor) Asked(c *verbs.Call[val], h Handle[val], ok bool) {
	k, stamp := frameOf(c).knew(h), uint64(0)
	if e := a.find(h); e != nil {
		stamp = e.stamp // it shows none
	}
	a.t.Notef("%v: %v", h, ok)
	a.sees(h, k.e, k.was, ok, stamp)
}

func (a *actor) Looked(c *verbs.Call[val], h Handle[val], v *val) {
	f := frameOf(c)
	k := f.knew(h)
	a.t.Notef("sees %v: %v", h, v != nil)
	if f.last != nil && f.last.tries == 2 {
		f.last.unlinked = true // by no other thread
	}
	f.last = nil
	if v == nil {
		a.sees(h, k.e, k.was, false, 0)
		return
	}
	a.sees(h, k.e, k.was, true, v.stamp)
	if v.keep != &anchor {
		a.r.Failf("%v of %v: %+v", c, h, *v)
	}
}

// Ranged fails if a loop misses a value that was live throughout.
func (a *actor) Ranged(c *verbs.Call[val], met map[Handle[val]]bool) {
	for _, e := range frameOf(c).settled {
		if !e.begun && !met[e.h] {
			a.r.Failf("%v misses %v", c, e.h)
		}
	}
}

func (a *actor) Acted(c *verbs.Call[val], err error) {
	a.t.Notef("%d, %v", c.N, err)
	f := frameOf(c)
	switch {
	case c.Name == "Synchronize" && err == nil:
		interleave.Unseen(func() { a.reclaimed(f.waits) })
	case c.Name == "Stats":
		if most := len(a.entries) + len(a.frames); c.N > most {
			a.r.Failf("Stats or Len say that %d values are live, and there were %d ever", c.N, most)
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
	return slices.ContainsFunc(w.watched, func(rd *reader) bool { return rd.Ref != nil && rd.Seen[0].H == h })
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
		inHand := at == nowhere && !w.isClean(h.Index()) && slot.Value.stamp == w.find(h).stamp
		if at == inLimbo || at == isWaiting || inHand {
			w.r.Failf("Synchronize returned, and %v is not reclaimed", h)
		}
	}
}
