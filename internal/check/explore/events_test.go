//go:build interleave

package explore_test

import (
	"fmt"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// heard is what the events of a pool have told of one life.
type heard struct {
	stamp  uint64
	begun  bool // OnInsert has returned
	ending bool // OnRemove has begun
}

// tells gives o both events. In each of them another thread may run, and the first few do inner as well, by the
// actor whose operation they interrupt.
func (w *world) tells(o *Options[val], times int, inner func(a *actor)) {
	w.heard = map[Handle[val]]*heard{}
	meddle := func(event string) {
		f := w.top(interleave.Running())
		if interleave.Running() == nil || f == nil || times == 0 {
			return
		}
		times--
		f.a.enter(event)
		inner(f.a)
		f.a.leave()
	}
	o.OnInsert = func(h Handle[val], v *val) { w.onInsert(h, v, func() { meddle("OnInsert") }) }
	o.OnRemove = func(h Handle[val], v *val) { w.onRemove(h, v, func() { meddle("OnRemove") }) }
}

// onInsert fails the run if h is known, or live, or if its value is not its alone.
func (w *world) onInsert(h Handle[val], v *val, inner func()) {
	if w.heard[h] != nil || w.isLive(h) || v.stamp == 0 {
		w.r.Failf("OnInsert of %v, with value %d; live: %v, told before: %+v", h, v.stamp, w.isLive(h), w.heard[h])
	}
	e := &heard{stamp: v.stamp}
	w.heard[h] = e
	defer func() {
		if !e.begun { // a Reset has failed in what it did
			w.burned = append(w.burned, h)
		}
	}()
	interleave.Pause()
	inner()
	if w.isLive(h) || v.stamp != e.stamp {
		w.r.Failf("during OnInsert of %v its value became %d, and live: %v", h, v.stamp, w.isLive(h))
	}
	e.begun = true
}

// onRemove fails the run if h has not begun, has ended before, or is live, or if the slot is not kept for it.
func (w *world) onRemove(h Handle[val], v *val, inner func()) {
	e := w.heard[h]
	if e == nil || !e.begun || e.ending || w.isLive(h) || v.stamp != e.stamp {
		w.r.Failf("OnRemove of %v, with value %d; live: %v, told before: %+v", h, v.stamp, w.isLive(h), e)
		return
	}
	e.ending = true
	interleave.Pause()
	inner()
	if g := w.generationOf(h); g != h.Generation()+1 || v.stamp != e.stamp {
		w.r.Failf("during OnRemove of %v the slot came to generation %d and value %d", h, g, v.stamp)
	}
}

func (w *world) isLive(h Handle[val]) bool { return w.generationOf(h) == h.Generation() }

// generationOf returns the generation of h's slot, as no thread sees it.
func (w *world) generationOf(h Handle[val]) (g uint32) {
	interleave.Unseen(func() { g = slots.Generation(Slot(w.p, h.Index()).Word.Load()) })
	return g
}

// told fails if h, which is live, has had no OnInsert, or an OnRemove.
func (w *world) told(h Handle[val]) error {
	if w.heard == nil {
		return nil
	}
	if e := w.heard[h]; e == nil || !e.begun || e.ending {
		return fmt.Errorf("%v is live, and its events have told %+v", h, e)
	}
	return nil
}

// toldAll fails if the events of what was issued, and of nothing else, are not complete while no operation is
// under way.
func (w *world) toldAll() error {
	if w.heard == nil {
		return nil
	}
	for _, e := range w.entries {
		if k := w.heard[e.h]; k == nil || !k.begun || k.ending == (Slot(w.p, e.h.Index()).Word.Load() == uint64(e.h)) {
			return fmt.Errorf("%v is removed: %v, and its events have told %+v", e.h, e.removed, k)
		}
	}
	begun := 0
	for _, k := range w.heard {
		if k.begun { // else what it did has panicked: then the value never lives
			begun++
		}
	}
	if begun != len(w.entries) {
		return fmt.Errorf("events tell of %d lives, and %d were issued", begun, len(w.entries))
	}
	return nil
}
