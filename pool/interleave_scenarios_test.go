//go:build interleave

package pool

import (
	"errors"

	"coatcheck/shard"
)

// scenario is one program. Where it says nothing else, pages have two slots and
// batches too, there are two pin cells, and generations start at 101.
type scenario struct {
	name  string
	setup func(w *world)
}

var scenarios = []scenario{
	{"insert, remove and get", func(w *world) {
		a := w.pool(Options[val]{})
		old := a.insertN(2)
		w.roomy = true
		w.thread(0, func(a *actor) {
			h := a.insert()
			a.get(h)
			a.remove(h)
		})
		w.thread(0, func(a *actor) {
			a.remove(old[0])
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.read(old[0])
			a.get(old[1])
		})
	}},
	{"two removers of one handle", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(2)
		w.thread(0, func(a *actor) { a.remove(h[0]) })
		w.thread(0, func(a *actor) { a.take(h[0]) })
		w.thread(0, func(a *actor) { a.view(h[0]); a.remove(h[1]) })
	}},
	{"three goroutines and a failing constructor in a tiny pool", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3})
		a.removeBatch(a.insertN(3)...)
		w.thread(0, func(a *actor) {
			a.remove(a.insert())
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.insertFunc(true, nil)
			a.insert()
		})
		w.thread(0, func(a *actor) { a.remove(a.insert()) })
	}},
	{"a failing constructor that inserts", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.insertFunc(true, func() { a.insert() })
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insertFunc(false, nil)
		})
	}},
	{"a slot leaves the freelist and comes back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(4)
		a.removeBatch(h[:3]...)
		a.synchronize(1) // three slots are in the freelist
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) {
			first, _ := a.insert(), a.insert()
			a.remove(h[3])
			a.remove(first)
			a.insert()
		})
	}},
	{"seal against frontier", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(4)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.remove(h[1]) }) // reclaims
		w.thread(0, func(a *actor) {
			a.pin(h[2]) // for good
			a.remove(h[2])
		})
		w.thread(0, func(a *actor) {
			a.read(h[2])
			a.remove(h[3])
			a.insert()
		})
	}},
	{"two shards and slots in both", func(w *world) {
		a := w.pool(Options[val]{Capacity: 6, Shards: 2})
		h := a.insertN(6)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.remove(h[1]) // reclaims shard 0
			a.insert()
		})
		w.thread(1, func(a *actor) {
			a.pin(h[2]) // for good
			a.remove(h[2])
			a.remove(h[3]) // reclaims shard 1
		})
		w.thread(1, func(a *actor) { a.insert() })
	}},
	{"two shards, each sealed", func(w *world) {
		a := w.pool(Options[val]{Capacity: 6, Shards: 2})
		h := a.insertN(6)
		rd := a.pin(h[5])
		a.removeBatch(h[0], h[1])
		a.unpin(rd)
		w.thread(1, func(a *actor) {
			a.removeBatch(h[2], h[3])
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.insert()
			a.read(h[2])
		})
		w.thread(1, func(a *actor) {
			a.pin(h[3])
			a.remove(h[4])
		})
	}},
	{"two sealers", func(w *world) {
		a := w.pool(Options[val]{Shards: 2})
		h := a.insertN(6)
		w.thread(0, func(a *actor) {
			a.remove(h[0])
			a.remove(h[1]) // seals
		})
		w.thread(1, func(a *actor) {
			a.remove(h[2])
			a.remove(h[3]) // seals
			a.remove(h[4])
			a.pin(h[5])
			a.remove(h[5]) // seals
		})
	}},
	{"values without pointers go round whole batches at a time", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		w.p.space.Zero = false
		h := a.insertN(4)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.insert()
			a.remove(h[2])
		})
		w.thread(0, func(a *actor) {
			a.pin(h[1])
			a.remove(h[3])
		})
	}},
	{"values without pointers that run out of generations", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3, Origin: shard.LastGeneration - 2})
		w.p.space.Zero, w.exhausting = false, true
		h := a.insertN(3)
		a.removeBatch(h[:2]...)
		w.thread(0, func(a *actor) {
			a.remove(a.insert())
			a.remove(a.insert())
		})
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.insertFunc(true, nil)
		})
	}},
	{"FIFO: enqueue and dequeue", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3, Reuse: FIFO, MinFree: 1})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.insert()
			a.remove(h[2])
		})
		w.thread(0, func(a *actor) { a.read(h[1]) })
	}},
	{"FIFO: two shards lend each other slots", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4, Reuse: FIFO, MinFree: 1, Shards: 2})
		h := a.insertN(4)
		a.removeBatch(h[0], h[1])
		w.thread(1, func(a *actor) { a.insertN(2) })
		w.thread(0, func(a *actor) {
			a.removeBatch(h[2], h[3])
			a.insert()
		})
		w.thread(1, func(a *actor) { a.remove(a.insert()) })
	}},
	{"growth", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insert()
		w.roomy = true
		w.thread(0, func(a *actor) { a.get(a.insert()); a.insert() })
		w.thread(0, func(a *actor) { a.insertN(2) })
		w.thread(0, func(a *actor) {
			rd := a.pin(h)
			a.look(rd, a.insert())
			a.unpin(rd)
		})
	}},
	{"growth of a pool with two shards", func(w *world) {
		w.pool(Options[val]{Shards: 2})
		w.roomy = true
		w.thread(0, func(a *actor) { a.insertN(2) })
		w.thread(1, func(a *actor) { a.insertN(2) })
		w.thread(1, func(a *actor) { a.insert(); a.all() })
	}},
	{"exhaustion", func(w *world) {
		a := w.pool(Options[val]{Capacity: 2, Origin: shard.LastGeneration - 2})
		h := a.insertN(2)
		w.exhausting = true
		use := func(a *actor, h Handle[val]) {
			a.take(h)
			a.remove(a.insert())
		}
		w.thread(0, func(a *actor) { use(a, h[0]) })
		w.thread(0, func(a *actor) { use(a, h[1]) })
		w.finish = func() error {
			a.removeAll(a.insertN(5))
			a.removeAll(a.insertN(5))
			if err := w.p.Synchronize(&patience{w, 0, 3}); err != nil {
				return err
			}
			if _, err := w.p.Insert(val{}); !errors.Is(err, ErrExhausted) || len(w.entries) != 4 {
				return errors.Join(err, errors.New("two slots with two generations each should have served 4 values and be exhausted"))
			}
			return nil
		}
	}},
	{"exhaustion, FIFO", func(w *world) {
		a := w.pool(Options[val]{Capacity: 2, Reuse: FIFO, MinFree: 1, Origin: shard.LastGeneration})
		h := a.insertN(2)
		w.exhausting = true
		w.thread(0, func(a *actor) { a.remove(h[0]); a.insert() })
		w.thread(0, func(a *actor) { a.remove(h[1]); a.insert() })
	}},
	{"a reservation is cancelled", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3})
		h := a.insertN(2)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			if r := a.reserve(); r != nil {
				a.get(r.Handle())
				a.cancel(r, (*Reservation[val]).Cancel)
			}
			a.insert()
		})
		w.thread(0, func(a *actor) {
			if r := a.reserve(); r != nil {
				a.remove(a.commit(r))
			}
		})
		w.thread(0, func(a *actor) {
			if r := a.reserve(); r != nil {
				a.cancel(r, dropReservation[val])
			}
		})
	}},
	{"a Worker refills, turns its bag and flushes", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128}) // 8 in reach, 3 of them in the bag
		wk := a.worker()
		h := wk.insertN(4)
		wk.remove(h[0])
		wk.remove(h[1])
		w.thread(0, func(a *actor) {
			wk := a.by(wk)
			wk.remove(h[2])
			wk.insert()
			wk.remove(h[3])
			wk.flush()
			wk.insert()
		})
		w.thread(0, func(a *actor) {
			a.read(h[2])
			a.remove(h[2])
			a.pin(h[3])
		})
	}},
	{"a Worker takes from the freelist and gives back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		wk := a.worker()
		h := a.insertN(6)
		a.removeBatch(h[:4]...)
		a.synchronize(1)
		a.remove(h[4])
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) {
			wk := a.by(wk)
			a.remove(h[5]) // two more come to the freelist
			a.insert()     // takes one of them
			wk.insert()    // takes the other, and what the first thread saw on top
			a.insert()     // takes what it saw below
			wk.flush()     // gives back what it saw on top
		})
	}},
	{"a Worker is dropped", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		wk := a.worker()
		h := wk.insertN(4)
		wk.remove(h[0])
		w.thread(0, func(a *actor) { a.by(wk).drop() })
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.read(h[0])
			a.remove(a.insert())
		})
	}},
	{"two Workers, one of them with nothing left to live", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128, Origin: shard.LastGeneration - 2})
		one, two := a.worker(), a.worker()
		h := one.insertN(3)
		one.removeAll(h)
		w.exhausting = true
		w.thread(0, func(a *actor) {
			wk := a.by(one)
			wk.take(wk.insert())
			wk.take(wk.insert())
			wk.close()
		})
		w.thread(0, func(a *actor) {
			wk := a.by(two)
			wk.remove(wk.insert())
			wk.close()
		})
	}},
	{"Clear against Get", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.clear() })
		w.thread(0, func(a *actor) {
			a.get(h[0])
			a.read(h[1])
			a.remove(h[2])
		})
		w.thread(0, func(a *actor) { a.insert(); a.clear() })
	}},
	{"two Drains and a loop", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.drain() })
		w.thread(0, func(a *actor) { a.drain() })
		w.thread(0, func(a *actor) { a.view(h[0]) })
	}},
	{"a loop while values come and go", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.all() })
		w.thread(0, func(a *actor) {
			a.remove(h[0])
			a.remove(h[1])
			a.insert()
		})
	}},
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
			a.insertFunc(false, nil)
		})
		w.thread(0, func(a *actor) {
			a.read(h[0])
			a.take(h[2])
		})
	}},
	{"a whole batch meets what a Worker gives back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		w.p.space.Zero = false
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
		all := []*reader{a.pin(0), a.pin(0)} // no cell is left
		w.thread(0, func(a *actor) { a.pin(h[0]) })
		w.thread(0, func(a *actor) {
			a.unpin(a.pin(0))
			a.unpin(all[0])
			a.unpin(all[1])
			a.removeBatch(h...)
		})
	}},
	{"guards in cells that were provided", func(w *world) {
		a := w.pool(Options[val]{})
		w.p.domain.Init(4)
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
		h := a.insertN(12)
		rd := a.pin(h[0])
		a.removeBatch(h[:10]...)
		a.unpin(rd)
		w.thread(0, func(a *actor) {
			a.remove(h[10])
			a.remove(h[11])
		})
		w.thread(0, func(a *actor) { a.insertN(2) })
	}},
}
