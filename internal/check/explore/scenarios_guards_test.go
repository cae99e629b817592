//go:build interleave

package explore_test

import (
	"fmt"

	"coatcheck/epoch"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// frontier scans the cells.
func (a *actor) frontier() {
	a.enter("Frontier")
	Domain(a.p).Frontier()
	a.leave()
}

// guardScenarios are about who may be looking: guards and their cells, grace
// periods, and pools that were held back and recover.
var guardScenarios = []scenario{
	{"two Synchronize", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) { a.synchronize(1) })
		w.thread(0, func(a *actor) { a.remove(h[1]) })
	}},
	{"Synchronize waits for a guard", func(w *world) {
		a := w.pool(Options[val]{Shards: 2})
		h := a.insertN(3)
		w.thread(0, func(a *actor) {
			a.remove(h[0])
			a.synchronize(2)
		})
		w.thread(1, func(a *actor) {
			a.read(h[0])
			a.remove(h[1])
		})
	}},
	{"Take where slots are Reset", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reset: w.reset})
		h := a.insertN(3)
		w.thread(0, func(a *actor) {
			a.take(h[0])
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insertFunc(nil)
		})
		w.thread(0, func(a *actor) {
			a.read(h[0])
			a.take(h[2])
		})
	}},
	{"a whole batch meets what a Worker gives back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		Arena(w.p).Pointers = false
		wk := a.worker()
		h := wk.insertN(4)
		wk.removeAll(h[:3])
		last := wk.insert() // has turned the bag: two more slots are ready
		a.remove(h[3])
		w.thread(0, func(a *actor) {
			a.remove(last) // reclaims
			a.insert()
		})
		w.thread(0, func(a *actor) { a.by(wk).flush() })
	}},
	{"two brief pins of one cell", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.brief(h[1], true) })
		w.thread(0, func(a *actor) { a.brief(h[1], false) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h[1], h[2])
			a.synchronize(1)
			a.insert()
		})
	}},
	{"more guards than cells", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		a.remove(h[0])
		for range 2 {
			w.thread(0, func(a *actor) { a.read(h[1]) })
		}
		w.thread(0, func(a *actor) {
			a.pin(h[1])
			a.removeBatch(h[1], h[2])
			a.synchronize(1)
		})
	}},
	{"two guards append cells", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(4)
		first := a.pin(0) // no cell is left
		w.thread(0, func(a *actor) { a.pin(h[0]) })
		w.thread(0, func(a *actor) {
			a.unpin(a.pin(0))
			a.unpin(first)
			a.removeBatch(h...)
		})
	}},
	{"guards in cells that were provided", func(w *world) {
		a := w.pool(Options[val]{})
		Domain(w.p).Init(4)
		w.names.find()
		h := a.insertN(4)
		all := []*reader{a.pin(0), a.pin(0)}
		w.thread(0, func(a *actor) { a.pin(h[0]) })
		w.thread(0, func(a *actor) {
			a.unpin(all[0])
			a.unpin(all[1])
			a.removeBatch(h...)
		})
	}},
	{"the copy of a full guard beside brief pins", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		var copies []epoch.Guard
		for range 2 {
			all := []*reader{a.pin(0), a.pin(0), a.pin(0)} // more than there are cells
			for _, rd := range all {
				copies = append(copies, PinOf(&rd.Guard))
			}
			for _, rd := range all {
				a.unpin(rd)
			}
		}
		w.thread(0, func(a *actor) {
			a.brief(h[0], true)
			lasting := a.watched[len(a.watched)-1]
			a.brief(h[1], false) // where full guards were
			a.pin(h[2])
			a.unpin(lasting)
			a.pin(0)
		})
		w.thread(0, func(a *actor) {
			for i := range copies {
				a.enter("Release")
				if copies[i].Release() {
					a.r.Failf("the copy of a guard that was unpinned ends a pin")
				}
				a.leave()
			}
		})
	}},
	{"guards in two blocks", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		first := a.pin(0)
		a.pin(h[0]) // in the older block, for good
		other, newest := a.pin(0), a.pin(0)
		a.unpin(other)
		w.thread(0, func(a *actor) { a.unpin(a.pin(h[1])) })
		w.thread(0, func(a *actor) {
			a.unpin(newest)
			a.unpin(first)
			a.removeBatch(h[0], h[1])
			a.synchronize(2)
		})
	}},
	{"a mark is cleared while a guard comes", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		first, other := a.pin(0), a.pin(0)
		a.unpin(other) // has left a block whose mark is set
		w.thread(0, func(a *actor) { a.pin(h[0]) })
		w.thread(0, func(a *actor) {
			a.frontier()
			a.unpin(first)
			a.removeBatch(h[0], h[1])
			a.synchronize(2)
		})
	}},
	{"two scans clear a mark while guards come", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		first, other := a.pin(0), a.pin(0)
		a.unpin(other)
		w.thread(0, func(a *actor) { a.unpin(a.pin(0)) })
		w.thread(0, func(a *actor) { a.pin(h[0]) })
		w.thread(0, func(a *actor) { a.frontier() })
		w.thread(0, func(a *actor) {
			a.frontier()
			a.unpin(first)
			a.removeBatch(h[0], h[1])
			a.synchronize(1)
		})
	}},
	{"marks of several levels", func(w *world) {
		a := w.pool(Options[val]{})
		Domain(w.p).Init(4) // eight cells, with marks of three levels
		w.names.find()
		h := a.insertN(3)
		all := []*reader{a.pin(0), a.pin(0), a.pin(0)}
		w.thread(0, func(a *actor) { a.pin(h[0]) })
		w.thread(0, func(a *actor) {
			for _, rd := range all[1:] {
				a.unpin(rd)
			}
			a.frontier()
			a.unpin(all[0])
			a.removeBatch(h[0], h[1])
			a.synchronize(2)
		})
	}},
	{"a handle is guessed before its time", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3})
		h := a.insertN(3)
		a.remove(h[0])
		next := Handle[val](shard.Reborn(uint64(h[0])))
		w.thread(0, func(a *actor) { a.remove(next) })
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insertN(2)
		})
		w.thread(0, func(a *actor) { a.get(next); a.take(next) })
	}},
	{"chains and single slots come to one limbo", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(6)
		w.thread(0, func(a *actor) { a.removeBatch(h[0], h[1], h[2]) })
		w.thread(0, func(a *actor) { a.remove(h[3]); a.insert() })
		w.thread(0, func(a *actor) { a.removeBatch(h[4]); a.read(h[0]) })
	}},
	{"arrears are more than one call moves", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(18)
		rd := a.pin(h[0])
		a.removeBatch(h[:16]...)
		a.unpin(rd)
		w.thread(0, func(a *actor) {
			a.remove(h[16])
			a.remove(h[17])
		})
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
	{"the zero handle in a pool's first page", func(w *world) {
		w.pool(Options[val]{})
		w.thread(0, func(a *actor) { a.insertFunc(func() { a.get(0) }) })
		w.thread(0, func(a *actor) { a.get(0); a.get(0) })
	}},
	{"guards of two epochs", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(6)
		w.thread(0, func(a *actor) {
			a.pin(h[0]) // for good, in the first cell
			a.removeBatch(h[0], h[1])
			a.pin(0) // an epoch later, in a cell that is scanned after it
			a.removeBatch(h[2], h[3])
			a.synchronize(1)
		})
		w.thread(0, func(a *actor) { a.read(h[4]); a.remove(h[4]) })
	}},
	{"guards are counted while the epoch advances", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) {
			a.enter("Pinned")
			guards, oldest := Domain(a.p).Pinned()
			a.leave()
			if guards > 1 || oldest > a.epoch {
				a.r.Failf("%d guards are pinned, the oldest since %d epochs; want at most 1, and epoch %d", guards, oldest, a.epoch)
			}
		})
		w.thread(0, func(a *actor) {
			rd := a.pin(h[2])
			a.removeBatch(h[0], h[1]) // the scan meets the guard
			a.unpin(rd)
		})
	}},
	{"a pin waits for nobody", func(w *world) {
		// Other threads' accesses count, but a run without waiting is much shorter.
		const most = 500
		a := w.pool(Options[val]{})
		h := a.insertN(2)
		pinning, steps := false, 0
		w.r.Check(func() error {
			if pinning {
				steps++
			}
			if steps > most {
				return fmt.Errorf("a Pin is not through after %d steps: it waits for another goroutine", most)
			}
			return w.check()
		})
		w.thread(0, func(a *actor) {
			pinning = true
			for range 4 { // more than there are cells
				a.pin(h[0])
			}
			pinning = false
		})
		w.thread(0, func(a *actor) { a.remove(h[1]) })
	}},
	{"a pool that was full and stalled fills again", func(w *world) {
		a := w.pool(Options[val]{Capacity: 6, Shards: 2})
		h := a.insertN(6)
		rd := a.pin(h[0])
		a.removeBatch(h[0], h[1], h[2])
		for _, h := range h[3:] {
			a.removeAt(1, h) // to the other shard
		}
		a.insert() // finds nothing, and tries
		a.unpin(rd)
		w.roomy = true
		w.thread(0, func(a *actor) { a.insertN(6) })
		w.thread(1, func(a *actor) {
			for _, h := range h {
				a.contains(h)
			}
		})
	}},
}
