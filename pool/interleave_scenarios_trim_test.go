//go:build interleave

package pool

// trimScenarios are about pages that lose their memory and get it back. A page has
// two slots; one Trim gives up two pages or more.
var trimScenarios = []scenario{
	{"Trim against insert and remove", func(w *world) {
		a := w.emptied(Options[val]{}, 6)
		h := a.insert()
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			a.insert()
			a.remove(h)
		})
	}},
	{"Trim of a full pool's only free slots", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 4}, 4)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			a.insertN(2)
		})
		w.thread(0, func(a *actor) {
			a.insertN(2)
		})
		_ = a
	}},
	{"Trim of two shards against a pop", func(w *world) {
		a := w.emptied(Options[val]{Shards: 2}, 6)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(1, func(a *actor) { a.remove(a.insert()) })
		w.thread(0, func(a *actor) { a.insert() })
		_ = a
	}},
	{"a guard sees what comes back", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 4}, 4)
		rd := a.pin(0)
		var h [4]Handle[val]
		w.thread(0, func(a *actor) {
			a.trim()
			for i := range h {
				h[i] = a.insert()
			}
		})
		w.thread(0, func(a *actor) {
			for i := range h {
				a.look(rd, h[i])
			}
		})
	}},
	{"a Worker's copy of the table, before and after", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 64}, 8)
		wk := a.worker()
		wk.remove(wk.insert())
		wk.flush()
		old := wk.insert()
		w.thread(0, func(a *actor) {
			a.trim()
			a.insertN(2)
		})
		w.thread(0, func(a *actor) {
			a = a.by(wk)
			a.remove(old)
			a.remove(a.insert())
			a.flush()
		})
	}},
	{"pages come back to two inserters, and go again", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 8}, 8)
		a.trim()
		w.roomy = true
		w.thread(0, func(a *actor) { a.remove(a.insert()) })
		w.thread(0, func(a *actor) {
			a.insertN(3)
		})
		w.thread(0, func(a *actor) { a.trim() })
	}},
	{"a pop that is late, and a page that was away", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 4, Origin: 101}, 4)
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) {
			a.trim()
			h := a.insertN(2)
			a.removeBatch(h...)
			a.insert()
		})
		_ = a
	}},
	{"Trim against Trim", func(w *world) {
		a := w.emptied(Options[val]{Shards: 2}, 6)
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(1, func(a *actor) { a.trim() })
		w.thread(1, func(a *actor) { a.insert() })
		_ = a
	}},
	{"Trim under FIFO", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 6, Reuse: FIFO, MinFree: 1}, 6)
		h := a.insert()
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			a.insertN(2)
			a.remove(h)
		})
	}},
	{"Trim of two queues", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 8, Reuse: FIFO, MinFree: 1, Shards: 2}, 8)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insertN(2) })
		w.thread(1, func(a *actor) { a.remove(a.insert()) })
		_ = a
	}},
	{"Trim against a reservation, a Ref and a loop", func(w *world) {
		a := w.emptied(Options[val]{}, 6)
		h := a.insert()
		rd := a.hold(h)
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.release(rd)
			a.cancel(a.reserve(), (*Reservation[val]).Cancel)
		})
		w.thread(0, func(a *actor) { a.all() })
	}},
}

// emptied is a pool of which n slots were in use and are free, in lists.
func (w *world) emptied(o Options[val], n int) *actor {
	a := w.pool(o)
	a.removeBatch(a.insertN(n)...)
	a.synchronize(1)
	return a
}
