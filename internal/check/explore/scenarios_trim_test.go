//go:build interleave

package explore_test

import (
	. "coatcheck/pool"
	"coatcheck/shard"
)

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
		w.emptied(Options[val]{Capacity: 4}, 4)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insertN(2) })
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"Trim of two shards against a pop", func(w *world) {
		w.emptied(Options[val]{Shards: 2}, 6)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(1, func(a *actor) { a.remove(a.insert()) })
		w.thread(0, func(a *actor) { a.insert() })
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
		a := w.emptied(Options[val]{Capacity: 128}, 6)
		wk := a.worker()
		wk.remove(wk.insert())
		var h Handle[val]
		w.thread(0, func(a *actor) {
			a.trim()
			h = a.insert()
		})
		w.thread(0, func(a *actor) {
			a = a.by(wk)
			a.remove(h)
			a.take(h)
			a.flush()
		})
	}},
	{"a Worker takes what lives where another page was", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 128}, 6)
		wk := a.worker()
		next := Handle[val](shard.Pack(105, 0)) // Trim makes 102 the floor 104
		w.thread(0, func(a *actor) {
			a.trim()
			a.insert()
		})
		w.thread(0, func(a *actor) { a.by(wk).take(next) })
	}},
	{"pages come back to two inserters, and go again", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 8}, 8)
		a.trim()
		w.roomy = true
		w.thread(0, func(a *actor) { a.remove(a.insert()) })
		w.thread(0, func(a *actor) { a.insertN(3) })
		w.thread(0, func(a *actor) { a.trim() })
	}},
	{"pages that came back together are offered, or go again", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 12}, 8)
		a.insertN(4) // or nothing would come back but what is needed
		a.trim()
		w.thread(0, func(a *actor) { a.insertN(3) })
		w.thread(0, func(a *actor) { a.trim() })
	}},
	{"pages that came back together, and two inserters", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 8}, 8)
		a.insertN(4)
		a.trim()
		w.roomy = true
		w.thread(0, func(a *actor) { a.insertN(2) })
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"a pop that is late, and a page that was away", func(w *world) {
		w.emptied(Options[val]{Capacity: 4, Origin: 101}, 4)
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) {
			a.trim()
			h := a.insertN(2)
			a.removeBatch(h...)
			a.insert()
		})
	}},
	{"Trim of slots that have lived unequally long", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 4}, 4)
		for range 3 {
			a.remove(a.insert()) // always the same
			a.synchronize(1)
		}
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"Trim of pages that were never used", func(w *world) {
		w.emptied(Options[val]{Capacity: 6}, 5)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"FIFO: a page comes back behind a pop", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 6, Reuse: FIFO, MinFree: 1}, 6)
		a.trim()
		Arena(w.p).SetReserve(0)
		a.synchronize(1)
		w.exhausting = true // Capacity is not what it was
		a.pop()             // the dummy is alone
		w.thread(0, func(a *actor) { a.pop() })
		w.thread(0, func(a *actor) {
			a.remove(a.insert())
			a.synchronize(1)
		})
	}},
	{"the zero handle in a page that is away", func(w *world) {
		w.emptied(Options[val]{Capacity: 4, Origin: 1}, 4)
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			if a.p.Contains(0) {
				a.r.Failf("the zero Handle is live")
			}
			a.read(0)
			a.all(nil)
			if a.p.Remove(0) {
				a.r.Failf("the zero Handle was removed")
			}
		})
	}},
	{"Trim against Trim", func(w *world) {
		w.emptied(Options[val]{Capacity: 4}, 4)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insert() })
	}},
	{"Trim of the only free slots, which lie in another shard", func(w *world) {
		w.emptied(Options[val]{Capacity: 4, Shards: 2}, 4)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(1, func(a *actor) { a.insert() })
	}},
	{"Trim takes what an insertion has reclaimed", func(w *world) {
		a := w.emptied(Options[val]{Capacity: 4}, 4)
		for range 3 {
			a.reserve() // for good: nothing lives in any page
		}
		a.remove(a.insert())
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.insert() })
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
		h := a.insertN(2)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			a.removeBatch(h...) // appends to a queue
			a.insert()
		})
	}},
	{"Trim against Grow of what it gives up", func(w *world) {
		w.emptied(Options[val]{Capacity: 6}, 4)
		w.roomy = true
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) { a.grow(4) })
		w.thread(0, func(a *actor) { a.insert() })
	}},
	{"Trim against a reservation, a Ref and a loop", func(w *world) {
		a := w.emptied(Options[val]{}, 6)
		h := a.insert()
		rd := a.hold(h)
		w.thread(0, func(a *actor) { a.trim() })
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.unpin(rd)
			a.cancel(a.reserve(), (*Reservation[val]).Cancel)
		})
		w.thread(0, func(a *actor) { a.all(nil) })
	}},
}

// pop takes a slot from the queue of the only shard, and makes
// it live.
func (a *actor) pop() {
	a.enter("Pop")
	slot, h := Arena(a.p).PopAt(0)
	if slot == nil {
		a.leave()
		return
	}
	stamp := a.NewNumber()
	slot.Value = val{stamp, &anchor}
	slot.Publish(h)
	a.leave()
	a.issued(Handle[val](h), stamp)
}

// emptied is a pool of which n slots were in use and are free, in lists.
func (w *world) emptied(o Options[val], n int) *actor {
	a := w.pool(o)
	a.removeBatch(a.insertN(n)...)
	a.synchronize(1)
	return a
}
