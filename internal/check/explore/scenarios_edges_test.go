//go:build interleave

package explore_test

import (
	. "coatcheck/pool"
	"coatcheck/shard"
)

// edgeScenarios were each written for a seeded bug that all others let through
// (internal/check/mutants): runs longer than a batch, ranges, last lives in company.
var edgeScenarios = []scenario{
	{"two Takes of neighbours that are Reset", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reset: w.reset})
		h := a.insertN(4)
		w.thread(0, func(a *actor) { a.take(h[0]) })
		w.thread(0, func(a *actor) { a.take(h[1]) })
		w.thread(0, func(a *actor) { a.remove(h[2]) })
	}},
	{"FIFO: arrears are more than one call moves", func(w *world) {
		a := w.pool(Options[val]{Capacity: 20, Reuse: FIFO, MinFree: 1})
		h := a.insertN(14)
		rd := a.pin(h[0])
		a.removeBatch(h[:12]...)
		a.unpin(rd)
		w.roomy = true
		w.thread(0, func(a *actor) {
			a.remove(h[12])
			a.remove(h[13])
			a.synchronize(1)
		})
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"Stats beside a batch that passes", func(w *world) {
		a := w.pool(Options[val]{})
		Arena(w.p).Pointers = false
		h := a.insertN(6)
		w.thread(0, func(a *actor) { a.stats() })
		w.thread(0, func(a *actor) { a.removeBatch(h[2:]...) })
	}},
	{"Stats beside a Trim whose Reset grows the pool", func(w *world) {
		a := w.pool(Options[val]{Reset: w.resetting(3, func(a *actor) { a.grow(1) })})
		h := a.insert()
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.trim()
		})
		w.thread(0, func(a *actor) { a.stats() })
	}},
	{"FIFO: Stats beside a reclaimer", func(w *world) {
		a := w.pool(Options[val]{Capacity: 20, Reuse: FIFO, MinFree: 1})
		h := a.insertN(15)
		rd := a.pin(h[0])
		a.removeBatch(h[:11]...)
		a.unpin(rd)
		a.removeAll(h[11:14]) // the last one turns a part of ten
		w.thread(0, func(a *actor) { a.stats() })
		w.thread(0, func(a *actor) {
			a.remove(h[14])
			a.synchronize(1)
		})
	}},
	{"FIFO: seals beside a reclaimer", func(w *world) {
		a := w.pool(Options[val]{Reuse: FIFO, MinFree: 1})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.synchronize(1)
			a.remove(h[2])
			a.synchronize(1)
		})
	}},
	{"FIFO: arrears that come to a queue whole", func(w *world) {
		a := w.pool(Options[val]{Capacity: 24, Reuse: FIFO, MinFree: 1})
		Arena(w.p).Pointers = false
		h := a.insertN(18)
		rd := a.pin(h[0])
		a.removeBatch(h[:16]...)
		a.unpin(rd)
		w.roomy = true
		w.thread(0, func(a *actor) { a.removeBatch(h[16:]...) })
		w.thread(0, func(a *actor) { a.insert() })
	}},
	{"FIFO: whole batches come to a queue", func(w *world) {
		a := w.pool(Options[val]{Reuse: FIFO, MinFree: 1})
		Arena(w.p).Pointers = false
		h := a.insertN(4)
		rd := a.pin(h[0])
		a.removeBatch(h[:2]...)
		w.roomy = true
		w.thread(0, func(a *actor) {
			a.unpin(rd)
			a.removeBatch(h[2:]...)
		})
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"FIFO: a range of slots", func(w *world) {
		a := w.pool(Options[val]{Capacity: 60, Reuse: FIFO, MinFree: 2})
		h := a.insert()
		w.roomy = true
		w.thread(0, func(a *actor) { a.insertN(2) })
		w.thread(0, func(a *actor) { a.insert(); a.remove(h) })
	}},
	{"FIFO: what another shard keeps back stands in for a worn slot", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reuse: FIFO, MinFree: 2, Shards: 2, Origin: shard.LastGeneration})
		h := a.insertN(4)
		a.removeAt(0, h[0]) // its loss leaves shard 1 with too much
		w.roomy, w.exhausting = true, true
		w.thread(1, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) { a.get(h[1]) })
	}},
	{"a run that a Worker takes comes back meanwhile", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		wk := a.worker()
		h := a.insertN(6)
		a.removeBatch(h[:4]...)
		a.synchronize(1)
		a.remove(h[4])
		w.thread(0, func(a *actor) { a.by(wk).insert() })
		w.thread(0, func(a *actor) {
			first := a.insert()
			a.insertN(2)
			a.remove(h[5]) // two more come to the freelist
			a.remove(first)
			a.remove(a.insert()) // and so does what the Worker saw on top
		})
	}},
	{"many last lives are removed at once", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Origin: shard.LastGeneration})
		Arena(w.p).Pointers, w.exhausting = false, true
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.removeBatch(h[:2]...) })
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.remove(a.insert())
		})
	}},
	{"a Worker removes last lives", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128, Origin: shard.LastGeneration})
		wk := a.worker()
		h := wk.insertN(3)
		w.exhausting = true
		w.thread(0, func(a *actor) {
			wk := a.by(wk)
			wk.remove(h[0])
			wk.take(h[1])
			wk.remove(wk.insert())
			wk.remove(wk.insert())
			wk.flush()
		})
		w.thread(0, func(a *actor) { a.remove(h[2]); a.insert() })
	}},
	{"a last life ends while another slot has lives left", func(w *world) {
		a := w.pool(Options[val]{Capacity: 2, Origin: shard.LastGeneration - 4})
		w.exhausting = true
		h := a.insertN(2)
		a.remove(h[0])
		a.remove(a.insert())
		last := a.insert()
		w.thread(0, func(a *actor) {
			a.remove(last)
			a.insertN(2) // the second is refused, and not for good
		})
		w.thread(0, func(a *actor) { a.remove(h[1]) })
	}},
	{"plain values run out of generations in two shards", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Shards: 2, Origin: shard.LastGeneration - 2})
		Arena(w.p).Pointers, w.exhausting = false, true
		h := a.insertN(4)
		a.removeBatch(h[:2]...)
		last := a.insertN(2)
		w.thread(0, func(a *actor) {
			a.remove(last[0])
			a.remove(h[2])
			a.removeAll(a.insertN(2))
		})
		w.thread(1, func(a *actor) {
			a.remove(last[1])
			a.remove(h[3])
		})
	}},
	{"a plain value's last life among others", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3, Origin: shard.LastGeneration - 2})
		Arena(w.p).Pointers, w.exhausting = false, true
		h := a.insertN(3)
		a.removeBatch(h[:2]...)
		last := a.insertN(2)
		w.thread(0, func(a *actor) { a.remove(last[0]) })
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.removeAll(a.insertN(2))
		})
	}},
	{"an insertion meets a reclaimer that was preempted", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(4)
		a.remove(h[0])
		w.roomy = true                                 // for the one insertion
		w.thread(0, func(a *actor) { a.remove(h[1]) }) // reclaims
		w.thread(0, func(a *actor) { a.insert() })
	}},
	{"an insertion meets two reclaimers under FIFO", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reuse: FIFO, MinFree: 1, Shards: 2})
		h := a.insertN(4)
		a.remove(h[0])
		w.roomy = true
		w.thread(0, func(a *actor) { a.remove(h[1]) })
		w.thread(1, func(a *actor) { a.removeBatch(h[2]); a.synchronize(1) })
		w.thread(1, func(a *actor) { a.insert() })
	}},
	{"slots move behind an insertion's back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Shards: 2})
		h := a.insertN(4)
		a.removeBatch(h[0], h[1])
		a.synchronize(1)
		w.roomy = true // at most three are live or on their way
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(1, func(a *actor) {
			a.remove(a.insert())
			a.remove(a.insert())
		})
	}},
	{"a guard is pinned between two removals of a small pool", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(4)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.pin(h[1]) // for good
			a.remove(h[1])
		})
		w.thread(0, func(a *actor) { a.insert(); a.read(h[1]) })
		w.thread(0, func(a *actor) { a.remove(h[2]); a.pin(h[3]) })
	}},
	{"a guard delays only its own in a small pool", func(w *world) {
		h := w.delayed(LIFO, 0)
		w.thread(0, func(a *actor) { a.contains(h) })
	}},
	{"FIFO: a guard delays only its own while another holds the queue", func(w *world) {
		w.delayed(FIFO, 1)
		w.thread(0, func(a *actor) { a.stats() })
	}},
	{"two guards come while a scan is under way", func(w *world) {
		a := w.pool(Options[val]{Shards: 2})
		h := a.insertN(6)
		w.thread(0, func(a *actor) {
			a.removeBatch(h[4], h[5])
			a.insertN(3)
		})
		w.thread(0, func(a *actor) { a.pin(h[2]) }) // for good
		w.thread(1, func(a *actor) {
			a.removeBatch(h[2], h[3])
			a.pin(h[0]) // for good, an epoch later
		})
	}},
	{"two scans raise the frontier, the later one further", func(w *world) {
		a := w.pool(Options[val]{Shards: 2})
		h := a.insertN(8)
		rd := a.pin(h[0])
		a.removeBatch(h[6], h[7]) // the scan meets the guard: the epoch is 1
		a.unpin(rd)
		rd = a.pin(h[0])
		w.thread(0, func(a *actor) { a.removeBatch(h[4], h[5]) })
		w.thread(1, func(a *actor) {
			a.unpin(rd)
			a.pin(h[1]) // for good
			a.removeBatch(h[2], h[3])
		})
	}},
	{"a guard is pinned while a removal takes its stamp", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(4)
		w.thread(0, func(a *actor) { a.remove(h[0]) })
		w.thread(0, func(a *actor) { a.pin(h[0]) }) // for good
		w.thread(0, func(a *actor) { a.insert() })
	}},
	{"small pool: removals, guards and reclaimers", func(w *world) {
		a := w.pool(Options[val]{Capacity: 6})
		h := a.insertN(5)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.pin(h[1]) // for good
			a.remove(h[1])
		})
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.pin(h[3])
			a.remove(h[4])
		})
		w.thread(0, func(a *actor) { a.insertN(3) })
	}},
	{"a look-up is preempted in its pin", func(w *world) {
		a := w.pool(Options[val]{Capacity: 2})
		h := a.insertN(2)
		w.roomy = true
		w.thread(0, func(a *actor) { a.get(h[0]) })
		w.thread(0, func(a *actor) { a.remove(h[1]); a.insert() })
	}},
	{"the collector's turn", func(w *world) {
		a := w.pool(Options[val]{Shards: 2})
		h := a.insertN(4)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.enter("sentinel"); Arena(a.p).LetGo(); a.leave() })
		w.thread(0, func(a *actor) { a.remove(h[1]); a.insert() })
		w.thread(1, func(a *actor) { a.remove(h[2]); a.read(h[3]) })
	}},
	{"an insertion is overtaken by growth", func(w *world) {
		a := w.pool(Options[val]{})
		a.removeBatch(a.insertN(2)...)
		a.synchronize(1) // the freelist has the first page
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) {
			first, _ := a.insert(), a.insert()
			a.remove(a.insert()) // of a page that the other may not know
			a.remove(first)      // its word links to that one
		})
	}},
	{"a Worker's run is overtaken by growth", func(w *world) {
		a := w.pool(Options[val]{})
		wk := a.worker()
		a.removeBatch(a.insertN(2)...)
		a.synchronize(1) // the freelist has the first page
		w.thread(0, func(a *actor) { a.by(wk).insert() })
		w.thread(0, func(a *actor) {
			first, _ := a.insert(), a.insert()
			a.remove(a.insert()) // of a page that the Worker may not know
			a.remove(first)      // its word links to that one
		})
	}},
	{"another shard ends the epoch during a seal", func(w *world) {
		a := w.pool(Options[val]{Shards: 2})
		h := a.insertN(6)
		a.removeAt(0, h[0])
		w.thread(0, func(a *actor) { a.removeAt(0, h[1]) }) // seals
		w.thread(1, func(a *actor) {
			rd := a.pin(h[2])
			a.removeBatch(h[3], h[4]) // seals, and ends the epoch
			a.unpin(rd)
			a.pin(h[5]) // for good
			a.removeAt(0, h[5])
		})
	}},
	{"a guard comes during a seal behind another", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(5)
		rd := a.pin(h[0])
		a.removeBatch(h[0], h[1]) // sealed, and waits
		a.remove(h[2])
		w.thread(0, func(a *actor) { a.remove(h[3]) }) // seals, and ends the epoch
		w.thread(0, func(a *actor) {
			a.unpin(rd)
			a.pin(h[4]) // for good
			a.remove(h[4])
		})
	}},
	{"Synchronize while another seals", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(4)
		rd := a.pin(h[0])
		a.removeBatch(h[0], h[1]) // sealed
		a.remove(h[2])
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) {
			a.unpin(rd)
			a.remove(h[3]) // reclaims and seals
			a.read(0)
		})
	}},
	{"Synchronize while more waits than can be sealed", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(6)
		rd := a.pin(h[0])
		a.removeBatch(h[:2]...)
		a.removeBatch(h[2:4]...)
		a.remove(h[4]) // stays in limbo
		w.thread(0, func(a *actor) { a.synchronize(2) })
		w.thread(0, func(a *actor) {
			a.unpin(rd)
			a.remove(h[5])
		})
	}},
	{"Synchronize under FIFO while more waits than can be sealed", func(w *world) {
		a := w.pool(Options[val]{Reuse: FIFO, MinFree: 1})
		h := a.insertN(5)
		rd := a.pin(h[0])
		a.removeBatch(h[:2]...)
		a.removeBatch(h[2:4]...)
		a.remove(h[4]) // stays in limbo
		w.thread(0, func(a *actor) { a.synchronize(2) })
		w.thread(0, func(a *actor) { a.unpin(rd) })
	}},
	{"Synchronize beside a queue's Resets", func(w *world) {
		a := w.pool(Options[val]{Reuse: FIFO, MinFree: 1, Reset: w.reset})
		a.insertN(2)
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) { a.drain(nil) })
	}},
	{"FIFO: a Reset inserts", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3, Reuse: FIFO, MinFree: 1, Reset: w.resetting(1, func(a *actor) { a.insert() })})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.remove(h[1]) })
		w.thread(0, func(a *actor) { a.insert() })
	}},
	{"FIFO: a Reset fails", func(w *world) {
		a := w.pool(Options[val]{Reuse: FIFO, MinFree: 1, Reset: w.resetting(1, func(a *actor) { a.fail() })})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.removeBatch(h[:2]...) })
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.synchronize(1)
		})
	}},
	{"a Reset exits under a guard's loop", func(w *world) {
		a := w.pool(Options[val]{Capacity: 8, Reset: w.resetting(1, func(a *actor) { a.exit() })})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.allUnder(a.pin(0), func() { a.synchronize(1) }) })
		w.thread(0, func(a *actor) { a.remove(h[1]) })
	}},
	{"a Reset fails beside Synchronize", func(w *world) {
		a := w.pool(Options[val]{Reset: w.resetting(3, func(a *actor) { a.fail() })})
		h := a.insertN(7)
		a.take(h[6])
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) { a.remove(h[5]) })
	}},
	{"Synchronize beside a seal", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		a.pin(h[2]) // for good: Synchronize must not return
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.synchronize(2) })
		w.thread(0, func(a *actor) { a.remove(h[1]) })
	}},
	{"Synchronize beside a reclaimer", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(4)
		rd := a.pin(h[0])
		a.removeBatch(h[:2]...)
		w.thread(0, func(a *actor) { a.synchronize(2) })
		w.thread(0, func(a *actor) {
			a.unpin(rd)
			a.removeBatch(h[2:]...)
		})
	}},
	{"Synchronize beside Resets", func(w *world) {
		a := w.pool(Options[val]{Reset: w.reset})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) { a.removeBatch(h...) })
	}},
	{"a guard in a cell that was used an epoch before", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(6)
		a.removeBatch(h[0], h[1])
		Domain(w.p).Retire() // the cell is used in epoch 1: that of epoch 0 has no bit to come through
		a.read(h[5])
		w.thread(0, func(a *actor) {
			a.remove(h[2]) // its seal begins epoch 2
			a.synchronize(1)
		})
		w.thread(0, func(a *actor) { a.pin(h[4]); a.remove(h[4]); a.remove(h[5]) })
	}},
}

// delayed makes a pool of two slots, of which one waits, and a thread that removes the
// other value, h, under a guard and then needs the first.
func (w *world) delayed(reuse Reuse, minFree int) (h Handle[val]) {
	a := w.pool(Options[val]{Capacity: 2, Reuse: reuse, MinFree: minFree})
	hs := a.insertN(2)
	a.remove(hs[0])
	w.roomy = true
	w.thread(0, func(a *actor) {
		a.pin(hs[1]) // for good
		a.remove(hs[1])
		a.insert()
	})
	return hs[1]
}
