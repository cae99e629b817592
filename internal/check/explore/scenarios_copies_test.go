//go:build interleave

package explore_test

import (
	. "coatcheck/pool"
	"coatcheck/shard"
)

// copyScenarios are about Get where it copies between two looks and has no pin: about
// whoever may write the slot meanwhile. All other scenarios have the Get that pins.
var copyScenarios = []scenario{
	{"a copy is overtaken by a removal and an insertion", func(w *world) {
		a := w.copying(Options[val]{Capacity: 1})
		h := a.insert()
		w.roomy = true // no pin is in the way
		w.thread(0, func(a *actor) { a.get(h) })
		w.thread(0, func(a *actor) { a.remove(h); a.insert() })
	}},
	{"a copy is overtaken by two lives of the slot", func(w *world) {
		a := w.copying(Options[val]{Capacity: 1})
		h := a.insert()
		w.roomy = true
		w.thread(0, func(a *actor) { a.get(h); a.get(h) })
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.remove(a.insert())
			a.insert()
		})
	}},
	{"a copy of what is inserted meanwhile", func(w *world) {
		a := w.copying(Options[val]{Capacity: 1})
		a.remove(a.insert())
		next := Handle[val](shard.Pack(103, 0))
		w.thread(0, func(a *actor) { a.get(next); a.get(next) })
		w.thread(0, func(a *actor) { a.take(a.insert()); a.insert() })
	}},
	{"a copy while the slot is zeroed", func(w *world) {
		a := w.copying(Options[val]{})
		h := a.insertN(4)
		w.thread(0, func(a *actor) { a.get(h[0]) })
		w.thread(0, func(a *actor) { a.removeBatch(h[0], h[1]); a.insert() })
		w.thread(0, func(a *actor) { a.get(h[1]); a.remove(h[2]) })
	}},
	{"a copy while the slot is Reset", func(w *world) {
		a := w.copying(Options[val]{Capacity: 2, Reset: w.reset})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.get(h[0]); a.get(h[1]) })
		w.thread(0, func(a *actor) { a.remove(h[0]); a.insertFunc(nil) })
		w.thread(0, func(a *actor) { a.take(h[1]) })
	}},
	{"a copy while a constructor builds, and fails", func(w *world) {
		a := w.copying(Options[val]{Capacity: 1})
		h := a.insert()
		w.thread(0, func(a *actor) { a.get(h) })
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.insertFunc(a.fail)
			a.insertFunc(nil)
		})
	}},
	{"a copy while a reservation is written", func(w *world) {
		a := w.copying(Options[val]{Capacity: 1})
		h := a.insert()
		w.thread(0, func(a *actor) { a.get(h) })
		w.thread(0, func(a *actor) {
			a.remove(h)
			r := a.reserve()
			a.get(r.Handle())
			a.commit(r)
		})
	}},
	{"a copy is overtaken by Take", func(w *world) {
		a := w.copying(Options[val]{Capacity: 2})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.get(h[0]); a.get(h[1]) })
		w.thread(0, func(a *actor) { a.take(h[0]); a.insert() })
		w.thread(0, func(a *actor) { a.take(h[1]) })
	}},
	{"a copy is overtaken by Clear", func(w *world) {
		a := w.copying(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.clear(); a.insertN(2) })
		w.thread(0, func(a *actor) { a.get(h[0]); a.get(h[2]) })
	}},
	{"a copy of a last life", func(w *world) {
		a := w.copying(Options[val]{Capacity: 2, Origin: shard.LastGeneration})
		w.exhausting = true
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.get(h[0]); a.get(h[1]) })
		w.thread(0, func(a *actor) { a.removeAll(h); a.synchronize(1) })
	}},
	{"a copy in a queue's pool", func(w *world) {
		a := w.copying(Options[val]{Capacity: 2, Reuse: FIFO, MinFree: 1})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.get(h[0]) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h...)
			a.insertN(2)
		})
	}},
	{"a copy while the pool grows", func(w *world) {
		w.copying(Options[val]{})
		w.roomy = true
		w.thread(0, func(a *actor) { a.get(a.insert()); a.get(a.insert()) })
		w.thread(0, func(a *actor) { a.get(a.insert()); a.remove(a.insert()) })
	}},
	{"a Worker's slots go round under a copy", func(w *world) {
		a := w.copying(Options[val]{Capacity: 128})
		wk := a.worker()
		h := wk.insertN(4)
		wk.remove(h[0])
		wk.remove(h[1])
		w.thread(0, func(a *actor) {
			wk := a.by(wk)
			wk.remove(h[2]) // the bag is full
			wk.remove(h[3]) // and turned
			wk.insertN(3)
		})
		w.thread(0, func(a *actor) { a.get(h[2]); a.get(h[3]) })
	}},
	{"a Worker's copy is overtaken by others", func(w *world) {
		a := w.copying(Options[val]{Capacity: 128})
		wk := a.worker()
		h := a.insertN(3)
		w.thread(0, func(a *actor) {
			wk := a.by(wk)
			wk.get(h[0])
			wk.take(h[1])
			wk.get(h[1])
		})
		w.thread(0, func(a *actor) {
			a.removeBatch(h[0], h[2])
			a.insertN(2)
			a.get(h[1])
		})
	}},
	{"a copy from a page that goes", func(w *world) {
		a := w.copying(Options[val]{Capacity: 4})
		h := a.insertN(4)
		a.removeBatch(h[:3]...)
		a.synchronize(1)
		w.thread(0, func(a *actor) { a.get(h[3]); a.get(h[0]) })
		w.thread(0, func(a *actor) {
			a.remove(h[3])
			a.synchronize(1)
			a.trim()
		})
	}},
	{"a copy from a page that goes and comes back", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 4}, 4)
		CopyWithoutPin(true)
		h := a.insert()
		next := Handle[val](shard.Pack(107, h.Index())) // h has 103, and Trim makes 104 the floor 106
		w.thread(0, func(a *actor) { a.get(h); a.get(next) })
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.synchronize(1)
			a.trim()
			a.insertN(4)
		})
	}},
}

// copying makes a pool whose Get copies without a pin.
func (w *world) copying(o Options[val]) *actor {
	a := w.pool(o)
	CopyWithoutPin(true)
	return a
}
