//go:build interleave

package explore_test

import . "coatcheck/pool"

// holdScenarios are about Refs: whether a hold and a removal see each other, who
// gets a parked slot, and that nothing else waits.
var holdScenarios = []scenario{
	{"Hold against Remove and reclaim", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.hold(h[1]) })
		w.thread(0, func(a *actor) {
			a.remove(h[1]) // completes a batch
			a.insert()
			a.remove(h[2])
		})
	}},
	{"values without pointers that are held", func(w *world) {
		a := w.pool(Options[val]{})
		Arena(w.p).Pointers = false // or each slot would be visited anyway
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.hold(h[1]) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h[0], h[1])
			a.insertN(2)
		})
	}},
	{"Hold and Release against reclaim and insert", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.unpin(a.hold(h[0])) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h[0], h[1])
			a.insert()
			a.insert()
		})
	}},
	{"two Refs of a parked slot are released", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(4)
		one, two := a.hold(h[0]), a.hold(h[0])
		a.removeBatch(h[0], h[1])
		a.synchronize(1)
		w.thread(0, func(a *actor) { a.unpin(one) })
		w.thread(0, func(a *actor) { a.unpin(two) })
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.insert()
		})
	}},
	{"a slot is parked while its last Ref goes", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(4)
		rd := a.hold(h[1])
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.unpin(rd)
		})
		w.thread(0, func(a *actor) { a.removeBatch(h[0], h[1]) })
	}},
	{"a Hold that is late meets a Release of the parked slot", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.hold(h[0]) })
		w.thread(0, func(a *actor) {
			rd := a.hold(h[0])
			a.removeBatch(h[0], h[1])
			a.synchronize(1)
			a.unpin(rd)
			a.remove(h[2])
			a.insert()
		})
	}},
	{"Holds that are late meet each other", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.hold(h[0]) })
		w.thread(0, func(a *actor) { a.hold(h[0]) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h...)
			a.insert()
		})
	}},
	{"Hold against a Worker that turns its bag", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		wk := a.worker()
		h := wk.insertN(4)
		w.thread(0, func(a *actor) { a.unpin(a.hold(h[1])) })
		w.thread(0, func(a *actor) {
			a = a.by(wk)
			a.removeAll(h)
			a.insertN(3)
		})
	}},
	{"Hold against Take and Reset", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reset: w.reset})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.unpin(a.hold(h[0])) })
		w.thread(0, func(a *actor) {
			a.take(h[0])
			a.remove(h[1])
			a.insertFunc(nil)
		})
	}},
	{"Hold against Clear under FIFO", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reuse: FIFO, MinFree: 1})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.unpin(a.hold(h[1])) })
		w.thread(0, func(a *actor) {
			a.clear()
			a.insertN(2)
		})
	}},
	{"CommitHold against removal and reclaim", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(2)
		r := a.reserve()
		known := r.Handle()
		w.thread(0, func(a *actor) { a.commitHold(r) })
		w.thread(0, func(a *actor) {
			a.remove(known)
			a.remove(h[0]) // completes a batch
			a.insert()
			a.remove(h[1])
		})
	}},
	{"a page's first two Holds", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.hold(h[0]) })
		w.thread(0, func(a *actor) { a.unpin(a.hold(h[1])) })
		w.thread(0, func(a *actor) { a.remove(h[0]) })
	}},
	{"a Ref keeps the last life of a slot", func(w *world) {
		w.exhausting = true
		a := w.pool(Options[val]{Capacity: 4, Origin: 1<<32 - 3})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.unpin(a.hold(h[0])) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h[0], h[1])
			a.remove(h[2])
			a.insert()
		})
	}},
}
