//go:build interleave

package command

import (
	"coatcheck/internal/check/interleave"
	"coatcheck/pool"
)

// scenario is a small program to be explored. If alone is set it has one thread, whose
// steps are checked.
type scenario struct {
	name  string
	alone bool
	setup func(w *world)
}

var scenarios = []scenario{
	{"the stated order", true, func(w *world) {
		a := w.pool(pool.Options[val]{}, 3)
		old := a.put()       // a
		b2 := a.insert(2)    // b
		b0 := a.insert(0)    // c
		a.remove(1, b2)      //
		a.remove(0, old)     //
		a.insert(2)          // d
		a.insert(1)          // e
		a.remove(2, b0)      //
		a.remove(2, old)     // is removed by then
		a.remove(1, a.put()) // f
		w.want = []string{"+e", "+b", "+d", "+c", "-b", "-f", "-c", "-a"}
		w.thread(func(a *actor) { a.apply(1, 2, 0) })
	}},
	{"two recorders share a buffer", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 1)
		old := a.put()
		w.thread(func(a *actor) { a.remove(0, a.insert(0)); a.insert(0) })
		w.thread(func(a *actor) { a.insert(0); a.remove(0, old) })
	}},
	{"a recorder against Apply", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 1)
		a.remove(0, a.insert(0))
		w.thread(func(a *actor) { a.remove(0, a.insert(0)); a.insert(0) })
		w.thread(func(a *actor) { a.apply(0) })
	}},
	{"a recorder in two buffers against Apply", false, func(w *world) {
		w.pool(pool.Options[val]{}, 2)
		w.thread(func(a *actor) { a.remove(1, a.insert(0)); a.remove(0, a.insert(1)) })
		w.thread(func(a *actor) { a.apply(0, 1) })
	}},
	{"two recorders of each other's insertions against Apply", false, func(w *world) {
		w.pool(pool.Options[val]{}, 2)
		var h handle
		w.thread(func(a *actor) { h = a.insert(0) })
		w.thread(func(a *actor) { a.remove(1, h) })
		w.thread(func(a *actor) { a.apply(1, 0) })
	}},
	{"Apply against Apply, in the other order", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 2)
		a.remove(1, a.insert(0))
		a.remove(0, a.insert(1))
		w.thread(func(a *actor) { a.apply(0, 1) })
		w.thread(func(a *actor) { a.apply(1, 0) })
	}},
	{"a recorder between two Applys", false, func(w *world) {
		w.pool(pool.Options[val]{}, 2)
		w.thread(func(a *actor) { a.remove(1, a.insert(0)) })
		w.thread(func(a *actor) { a.apply(0, 1) })
		w.thread(func(a *actor) { a.apply(1, 0) })
	}},
	{"Applys that have one buffer in common", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 3)
		h := a.insert(1)
		a.remove(2, h)
		a.remove(0, h)
		w.thread(func(a *actor) { a.apply(2, 1) })
		w.thread(func(a *actor) { a.apply(1, 0) })
		w.thread(func(a *actor) { a.remove(1, h) })
	}},
	{"a reader against Apply", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 2)
		old := a.put()
		h, k := a.insert(0), a.insert(1)
		a.remove(0, old)
		a.remove(1, k)
		w.thread(func(a *actor) { a.read(h, k, old) })
		w.thread(func(a *actor) { a.apply(0, 1); a.insert(0) })
	}},
	{"others remove what Apply inserts and removes", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 1)
		old := a.put()
		h := a.insert(0)
		a.remove(0, h)
		a.remove(0, old)
		w.thread(func(a *actor) { a.removeNow(h); a.removeNow(old); a.removeNow(h) })
		w.thread(func(a *actor) { a.apply(0) })
	}},
	{"two frames remove the same", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 2)
		old := a.put()
		a.remove(0, old)
		a.remove(1, old)
		w.thread(func(a *actor) { a.apply(0) })
		w.thread(func(a *actor) { a.apply(1) })
	}},
	{"Discard against Apply and a recorder", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 2)
		a.remove(0, a.insert(0))
		w.thread(func(a *actor) { a.insert(1) })
		w.thread(func(a *actor) { a.discard(0) })
		w.thread(func(a *actor) { a.apply(1, 0) })
	}},
	{"Discard against Discard", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 1)
		a.insert(0)
		a.insert(0)
		w.thread(func(a *actor) { a.discard(0) })
		w.thread(func(a *actor) { a.discard(0) })
	}},
	{"a full pool against Apply", false, func(w *world) {
		a := w.pool(pool.Options[val]{Capacity: 2}, 1)
		old := a.put()
		a.insert(0)
		a.remove(0, old)
		w.thread(func(a *actor) { a.insert(0); a.insert(0) })
		w.thread(func(a *actor) { a.apply(0) })
	}},
	{"a Reset records and applies", false, func(w *world) {
		a := w.pool(pool.Options[val]{Reset: func(v *val) {
			*v = val{}
			if w.serial < 6 {
				a := &actor{w, nil} // during an operation
				a.insert(0)
				a.apply(0)
			}
		}}, 1)
		for range 3 {
			a.remove(0, a.insert(0))
		}
		w.thread(func(a *actor) { a.apply(0) })
		w.thread(func(a *actor) { a.apply(0); a.insert(0) })
	}},
	{"a loop over what is recorded while others apply", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 1)
		a.insert(0)
		a.insert(0)
		w.thread(func(a *actor) { a.apply(0) })
		w.thread(func(a *actor) {
			a.t.Begin("Insertions")
			for h := range a.buffers[0].Insertions() {
				if a.find(h) == nil {
					a.r.Failf("%v is shown", h)
				}
			}
			a.t.End()
		})
	}},
	{"loops over what is recorded while others record", false, func(w *world) {
		a := w.pool(pool.Options[val]{}, 1)
		h := a.insert(0)
		a.remove(0, h)
		w.thread(func(a *actor) { a.insertValue(0); a.remove(0, h); a.insert(0) })
		w.thread(func(a *actor) {
			a.t.Begin("Insertions, Removals")
			for k, v := range a.buffers[0].Insertions() {
				interleave.Unseen(func() {
					if v.stamp == 0 {
						a.r.Failf("%v is shown without a value", k)
					}
				})
			}
			for k := range a.buffers[0].Removals() {
				if k != h {
					a.r.Failf("removal of %v", k)
				}
			}
			a.t.End()
		})
	}},
}
