//go:build interleave

package explore_test

import (
	"errors"
	"slices"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// Refusals are true: at one moment of the call no slot was left for its value. So the judge asks
// at each moment, of each slot, why an insertion cannot have it. The reasons are in what the
// program did. Of the engine the judge asks only where a slot lies, so an engine that keeps a slot
// which no guard, Ref or Hold can delay is caught by its first refusal.

// Why an insertion could not have a slot.
const (
	inUse   = 1 << iota // it is live, reserved, or in the hands of an operation
	delayed             // it was removed, and a guard, a Ref or a Hold that is under way delays it
)

// measure notes for each operation how many slots it could not have at this moment.
func (w *world) measure() {
	if w.p == nil || len(w.frames) == 0 {
		return
	}
	w.clock++
	t := Arena(w.p).Table.Pages()
	clear(w.why[:t.Limit])
	some := w.inHands(t)
	w.delayedByRefs(t)
	w.released = slices.DeleteFunc(w.released, func(e released) bool { return !e.by.Buffered() })
	seen := w.count(t, nil)
	excused := w.busyWorkers()
	for _, f := range w.frames {
		seen := seen
		if slices.ContainsFunc(w.released, func(e released) bool { return e.by == f.a.t }) {
			seen = w.count(t, f.a.t)
		}
		others := some + Arena(w.p).InResets() - f.slots
		f.full = max(f.full, seen.inUse+others)
		if seen.delayed > 0 {
			f.stalled = max(f.stalled, seen.either+others)
		}
		f.delayed = max(f.delayed, seen.delayed)
		f.excused = f.excused || excused
	}
}

// counts are those of the slots that an insertion cannot have at a moment, by the reason. A slot on
// its way to limbo that a guard or a Ref delays has both, and its refusal may name either.
type counts struct{ inUse, delayed, either int }

// count counts the slots for an insertion of the thread, for which guards have ended that it has
// ended itself.
func (w *world) count(t *slots.PageTable, thread *interleave.Thread) (n counts) {
	before := w.why
	w.delayedByGuards(t, thread)
	for _, why := range w.why[:t.Limit] {
		if why != 0 {
			n.either++
		}
		if why&inUse != 0 {
			n.inUse++
		}
		if why&delayed != 0 {
			n.delayed++
		}
	}
	w.why = before
	return n
}

// inHands marks the slots that are in use. It returns how many more operations may own, of which
// it does not know which these are.
func (w *world) inHands(t *slots.PageTable) (some int) {
	for _, f := range w.frames {
		if some += f.slots; f.shown != 0 {
			some -= f.slots
			w.mark(t, f.shown.Index(), inUse, func(g uint32) bool { return g < f.shown.Generation() || w.place[f.shown.Index()] == nowhere })
		}
		for _, h := range f.removes {
			w.mark(t, h.Index(), inUse, func(uint32) bool { return w.place[h.Index()] == nowhere })
		}
	}
	for _, r := range w.reserved {
		if IsOpen(r) {
			w.why[r.Handle().Index()] |= inUse
		}
	}
	for i := range t.Limit {
		if at := w.place[i]; at == inReady || at == inBag {
			w.why[i] |= inUse // by a Worker
		}
		word := slots.At[val](t, i).Word.Load()
		if !slots.IsLive(word) {
			continue
		}
		w.why[i] |= inUse
		h := Handle[val](word)
		if w.find(h) == nil && !slices.ContainsFunc(w.frames, func(f *frame) bool { return f.shown == h }) {
			some-- // its insertion has not returned, and owns no other
		}
	}
	return max(some, 0)
}

// mark notes why an insertion cannot have slot i, if that is not live and has a generation for
// which is reports true. What lies where insertions look is not kept from them.
func (w *world) mark(t *slots.PageTable, i uint32, why uint8, is func(generation uint32) bool) {
	if i >= t.Limit {
		return
	}
	switch w.place[i] {
	case inFree, isReady, inFresh, isAbsent, unallotted:
		return
	}
	if word := slots.At[val](t, i).Word.Load(); !slots.IsLive(word) && is(slots.Generation(word)) {
		w.why[i] |= why
	}
}

// removed reports whether a generation is the one that a removal of h leaves.
func removed(h Handle[val]) func(generation uint32) bool {
	gone := slots.Generation(slots.Vacated(uint64(h), slots.None))
	return func(generation uint32) bool { return generation == gone }
}

// delayedByGuards marks what was removed since the oldest guard was pinned. Guards hold back
// nothing else. Guards that the thread has ended do not count.
func (w *world) delayedByGuards(t *slots.PageTable, thread *interleave.Thread) {
	oldest := w.clock // pin
	for _, rd := range w.watched {
		if rd.Ref == nil {
			oldest = min(oldest, rd.from)
		}
	}
	for _, e := range w.released {
		if e.by != thread {
			oldest = min(oldest, e.from)
		}
	}
	for _, f := range w.frames {
		if f.pins {
			oldest = min(oldest, f.from)
		}
	}
	for _, e := range w.entries {
		if e.gone == 0 && Slot(w.p, e.h.Index()).Word.Load() != uint64(e.h) && !w.removes(e.h) {
			e.gone = w.clock - 1 // by an operation whose result was lost
		}
		if oldest < w.clock && (e.gone == 0 || e.gone > oldest) {
			w.mark(t, e.h.Index(), delayed, removed(e.h))
		}
	}
	if oldest == w.clock {
		return
	}
	for _, h := range w.burned {
		w.mark(t, h.Index(), delayed, removed(h))
	}
	for _, f := range w.frames {
		if f.shown != 0 { // its constructor may have failed
			w.mark(t, f.shown.Index(), delayed, removed(f.shown))
		}
	}
}

// removes reports whether an operation is under way that may remove h.
func (w *world) removes(h Handle[val]) bool {
	return slices.ContainsFunc(w.frames, func(f *frame) bool { return f.sweeps || slices.Contains(f.removes, h) })
}

// delayedByRefs marks the slots of Refs whose values were removed. A Hold that finds its value
// live may come too late: the value is removed, and its slot perhaps reused, before the Hold has
// raised the slot's count. Until it has dropped the count, it delays that slot, whatever the
// generation, and no other. So does a Release until it has returned. What has found the count
// raised puts the slot away later, perhaps after the Hold has returned.
func (w *world) delayedByRefs(t *slots.PageTable) {
	for _, rd := range w.watched {
		if rd.Ref != nil {
			w.mark(t, rd.Seen[0].H.Index(), delayed, removed(rd.Seen[0].H))
		}
	}
	for _, f := range w.frames {
		i := f.holds.Index()
		if f.holds == 0 || i >= t.Limit {
			continue
		}
		f.late = f.late || Slot(w.p, i).Word.Load() == uint64(f.holds)
		n, parked := t.Holding(i)
		f.raised = f.raised || n > 0
		if !f.late {
			continue
		}
		w.mark(t, i, delayed, func(uint32) bool { return true })
		if f.raised && n == 0 && !parked && w.place[i] == nowhere {
			w.mark(t, i, inUse, func(uint32) bool { return true }) // it may be on its way to limbo
		}
	}
	w.late = slices.DeleteFunc(w.late, func(i uint32) bool { return w.place[i] != nowhere })
	for _, i := range w.late {
		w.mark(t, i, delayed, func(uint32) bool { return true })
	}
}

// busyWorkers reports whether a Worker may have slots and nobody knows which: an operation of its
// is under way. Between these its slots are seen where they are. It has none in a queue, or in a
// small pool.
func (w *world) busyWorkers() bool {
	if a := Arena(w.p); a.FIFO || a.Capacity > 0 && a.Capacity < leastCached {
		return false
	}
	return slices.ContainsFunc(w.workers, func(k *keeper) bool { return k.closing || k.busy > 0 })
}

// leastCached is the least Capacity of a pool whose Workers have slots in reach.
const leastCached = 64

// refuse judges the error of an insertion. A pool is full when its slots are in use, and stalled
// when some are delayed, and the others in use or delayed as well.
func (w *world) refuse(f *frame, err error) {
	c, m := int(Arena(w.p).Capacity), int(Arena(w.p).MaxLimbo)
	stalls := errors.Is(err, ErrStalled)
	switch {
	case !errors.Is(err, ErrFull) || w.roomy:
		w.r.Failf("Insert: %v", err)
	case errors.Is(err, ErrExhausted):
		interleave.Unseen(w.exhausted)
	case f.excused:
	case !stalls && (c == 0 || f.full < c):
		w.r.Failf("%s: %v; the capacity is %d, and never more than %d slots were in use", f.op, err, c, f.full)
	case stalls && f.delayed == 0:
		w.r.Failf("%s: %v; no guard, Ref or Hold delayed a slot", f.op, err)
	case stalls && (c == 0 || f.stalled < c) && (m == 0 || f.delayed < m):
		w.r.Failf("%s: %v; the capacity is %d, and never more than %d slots were in use or delayed, and %d delayed", f.op, err, c, f.stalled, f.delayed)
	}
}

// exhausted fails if some slot has lives left. No slot gets any back, so it need not be asked at
// each moment. One whose last life is being made or given up may count as either.
func (w *world) exhausted() {
	t := Arena(w.p).Table.Pages()
	left := int(Arena(w.p).Slots) - int(t.Limit)
	for i := range t.Limit {
		g := w.generation[i]
		if !w.isVoid(t, i) {
			g = slots.Generation(Slot(w.p, i).Word.Load())
		}
		if g < slots.LastGeneration-1 && g != slots.Spent {
			left++
		}
	}
	if left > 0 {
		w.r.Failf("Insert: %v; %d slots have lives left", ErrExhausted, left)
	}
}
