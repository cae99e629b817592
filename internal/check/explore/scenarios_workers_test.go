//go:build interleave

package explore_test

import (
	. "coatcheck/pool"
	"coatcheck/shard"
)

// allBack checks that every slot is accounted for if nothing is open any more.
func (a *actor) allBack() {
	if st := a.p.Stats(); st.Workers+st.Reserved > 0 {
		return
	}
	if st := a.p.Stats(); st.Live+st.Free+st.Limbo != st.Allocated {
		a.r.Failf("nothing is open, and slots are away: %+v", st)
	}
}

// workerScenarios are about who has many slots at once: Workers, and operations
// that go through all values.
var workerScenarios = []scenario{
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
	{"a Worker that was dropped is open until its slots are back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		wk := a.worker()
		h := wk.insertN(4)
		wk.remove(h[0])
		w.thread(0, func(a *actor) { a.by(wk).drop() })
		w.thread(0, (*actor).allBack)
	}},
	{"a Reservation that was dropped is open until its slot is back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		r := a.reserve()
		w.thread(0, func(a *actor) { a.cancel(r, DropReservation[val]) })
		w.thread(0, (*actor).allBack)
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
	{"a guard is pinned between two removals of a Worker", func(w *world) {
		a := w.pool(Options[val]{Capacity: 128})
		wk := a.worker()
		h := wk.insertN(4)
		w.thread(0, func(a *actor) {
			wk := a.by(wk)
			wk.remove(h[0])
			wk.take(h[1])
			wk.insertN(3)
		})
		w.thread(0, func(a *actor) { a.pin(h[1]) }) // for good
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
		w.thread(0, func(a *actor) { a.drain(nil) })
		w.thread(0, func(a *actor) { a.drain(nil) })
		w.thread(0, func(a *actor) { a.view(h[0], nil) })
	}},
	{"a loop while values come and go", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insertN(3)
		w.thread(0, func(a *actor) { a.all(nil) })
		w.thread(0, func(a *actor) {
			a.remove(h[0])
			a.remove(h[1])
			a.insert()
		})
	}},
}
