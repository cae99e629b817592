//go:build interleave

package explore_test

import (
	"errors"
	"slices"

	. "coatcheck/pool"
	"coatcheck/shard"
)

// scenario is one program. Where it says nothing else, pages have two slots and
// batches too, there are two pin cells, and generations start at 101.
type scenario struct {
	name  string
	setup func(w *world)
}

var scenarios = slices.Concat(slotScenarios, workerScenarios, guardScenarios, edgeScenarios, holdScenarios, trimScenarios, snapshotScenarios, reserverScenarios, copyScenarios, drawnScenarios)

// slotScenarios are about the life of slots: freelists, limbo, growth, generations
// that run out.
var slotScenarios = []scenario{
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
		w.thread(0, func(a *actor) { a.view(h[0], nil); a.remove(h[1]) })
	}},
	{"three goroutines and a failing constructor in a tiny pool", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3})
		a.removeBatch(a.insertN(3)...)
		w.thread(0, func(a *actor) {
			a.remove(a.insert())
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.insertFunc(a.fail)
			a.insert()
		})
		w.thread(0, func(a *actor) { a.remove(a.insert()) })
	}},
	{"a failing constructor that inserts", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		h := a.insertN(3)
		a.remove(h[0])
		w.thread(0, func(a *actor) {
			a.insertFunc(func() { a.insert(); a.fail() })
			a.insert()
		})
		w.thread(0, func(a *actor) {
			a.remove(h[1])
			a.insertFunc(nil)
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
		h := a.insertN(7)
		a.pin(h[6]) // for good: scans meet it, and advance the epoch
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
		Arena(w.p).Pointers = false
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
		Arena(w.p).Pointers, w.exhausting = false, true
		h := a.insertN(3)
		a.removeBatch(h[:2]...)
		w.thread(0, func(a *actor) {
			a.remove(a.insert())
			a.remove(a.insert())
		})
		w.thread(0, func(a *actor) {
			a.remove(h[2])
			a.insertFunc(a.fail)
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
		w.thread(1, func(a *actor) { a.insert(); a.all(nil) })
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
		w.finish = func() error {
			for _, e := range w.entries {
				a.remove(e.h)
			}
			a.removeAll(a.insertN(2))
			if err := w.p.Synchronize(&patience{w, 0, 3}); err != nil {
				return err
			}
			if _, err := w.p.Insert(val{}); !errors.Is(err, ErrExhausted) || len(w.entries) != 3 {
				return errors.Join(err, errors.New("two slots and the reserve should have served a value each and be exhausted"))
			}
			return nil
		}
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
		w.thread(0, func(a *actor) { a.remove(a.commit(a.reserve())) })
		w.thread(0, func(a *actor) { a.cancel(a.reserve(), DropReservation[val]) })
	}},
}
