//go:build interleave

package explore_test

import (
	"slices"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// An actor judges the results of its calls. Other threads may be within calls of theirs, so a
// call may have met a handle in one of several states. What is judged here is which ones these
// are, by what the operations that began and returned say; what is right in a state is specified in
// internal/check/verbs.

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
	case c.Needs&verbs.Pins != 0 && c.Needs&verbs.Handle != 0: // by a Ref
		f.holds = c.Handles[0]
	case c.Needs&verbs.Either != 0 && c.Hold.Ref != nil:
		f.op, f.holds, f.late = "Release", c.Hold.Seen[0].H, true
	case c.Needs&verbs.Context != 0:
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
		f.slots, f.sweeps = slots.Batch, true // what it gathers
	case c.Needs&verbs.Inserts != 0:
		f.slots = 1
	case c.Needs&verbs.Reservation != 0:
		interleave.Unseen(func() { f.shown = c.Open.Handle() })
	}
	f.pins = c.Needs&verbs.Under != 0 || c.Needs&verbs.Pins != 0 && c.Needs&verbs.Handle == 0
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
	if c.Needs&verbs.Under != 0 {
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

// Reported requires that r is right for a state in which the call can have met h.
func (a *actor) Reported(c *verbs.Call[val], h Handle[val], r verbs.Report) {
	f := frameOf(c)
	a.t.Notef("%v: %v", h, r)
	a.must(f, h, r)
	switch e := a.find(h); r.Effect {
	case verbs.Reserve:
		f.shown = h
		a.shown = append(a.shown, h)
	case verbs.Insert, verbs.Commit:
		a.issued(h, r.Value)
		f.inserted = h
	case verbs.Cancel:
		a.burned = append(a.burned, h)
	case verbs.Read:
		if f.last != nil && f.last.tries == 2 {
			f.last.unlinked = true // by no other thread
		}
		f.last = nil
	case verbs.Sweep:
		f.last = e
	case verbs.Take:
		if r.OK {
			a.taken = append(a.taken, r.Value)
			a.notBoth()
		}
	}
}

// must fails if r is right for no state in which f can have met h. It notes a removal.
func (a *actor) must(f *frame, h Handle[val], r verbs.Report) {
	if lives := a.lives(f, h, r); !r.Fits(lives...) {
		a.r.Failf("%s says of %v, %v; it was one of %v", f.op, h, r, lives)
	}
	if e := a.find(h); e != nil && r.OK && (r.Effect == verbs.Remove || r.Effect == verbs.Take) {
		a.gone++
		if e.removed = true; !f.sweeps {
			e.gone = a.clock
		}
	}
}

// lives returns the states in which f can have met h. Others may insert h or remove it
// meanwhile. To a look or a removal, a handle that is not live is as good as dead.
func (a *actor) lives(f *frame, h Handle[val], r verbs.Report) (lives []verbs.Life) {
	k := f.knew(h)
	switch r.Effect {
	case verbs.Look, verbs.Read:
		if e := a.find(h); e != nil && !k.was {
			lives = append(lives, verbs.Live(e.stamp))
		}
		if k.e == nil || k.e.begun {
			lives = append(lives, verbs.Dead)
		}
		return lives
	case verbs.Remove, verbs.Take:
		live := false
		interleave.Unseen(func() { live = a.p.Contains(h) })
		switch {
		case r.OK: // and no other removal has been
		case k.e != nil && !k.was && live: // from beginning to end
			return []verbs.Life{verbs.Live(k.e.stamp)}
		default:
			return []verbs.Life{verbs.Dead}
		}
	}
	return []verbs.Life{a.life(h)}
}

// Owned reports whether no removal of h has begun. None can before the call is reported: between
// its last step and the report another thread has no turn.
func (a *actor) Owned(_ *verbs.Call[val], h Handle[val]) bool {
	e := a.find(h)
	return e != nil && !e.begun
}

// Others judges what a loop says of the values that it has not met. Sweeps say nothing about
// those that come and go meanwhile.
func (a *actor) Others(c *verbs.Call[val], met map[Handle[val]]bool, r verbs.Report) {
	for _, e := range frameOf(c).settled {
		if !met[e.h] {
			a.must(frameOf(c), e.h, r)
		}
	}
}

// Condemned removes the values with an odd stamp.
func (a *actor) Condemned(_ *verbs.Call[val], h Handle[val], stamp uint64) bool {
	return stamp%2 == 1 && a.find(h) != nil
}

func (a *actor) Counted(_ *verbs.Call[val], n int) {
	a.t.Notef("removed %d", n)
	a.gone += n
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

func (a *actor) Acted(c *verbs.Call[val], err error) {
	a.t.Notef("%d, %v", c.N, err)
	f := frameOf(c)
	switch {
	case c.Needs&verbs.Context != 0 && err == nil:
		interleave.Unseen(func() { a.reclaimed(f.waits) })
	case c.Needs&verbs.Counts != 0:
		if most := len(a.entries) + len(a.frames); c.N > most {
			a.r.Failf("%v says that %d values are live, and there were %d ever", c, c.N, most)
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
// Ref may keep. With one shard, a WriteTo or a Clone holds the slot that it reads.
func (w *world) removedByNow() (hs []Handle[val]) {
	holds := func(f *frame) bool {
		return f.a.k != nil || f.holds != 0 || (f.op == "WriteTo" || f.op == "Clone") && Arena(w.p).Shards == 1
	}
	if slices.ContainsFunc(w.frames, holds) {
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
		if slots.Generation(slot.Word.Load()) != h.Generation()+1 {
			continue
		}
		at := w.place[h.Index()]
		inHand := at == nowhere && !w.isClean(h.Index()) && slot.Value.stamp == w.find(h).stamp
		if at == inLimbo || at == isWaiting || inHand {
			w.r.Failf("Synchronize returned, and %v is not reclaimed", h)
		}
	}
}
