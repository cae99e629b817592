//go:build interleave

package explore_test

import (
	. "coatcheck/pool"
	"coatcheck/shard"
)

// Programs that were drawn and found something, in the form that shrinking left.
var drawnScenarios = []scenario{
	// Limbo is at its most when growth is asked for, empty at the looks, and at its most again.
	{"an insertion is not refused while memory is left and no guard is pinned", func(w *world) {
		a := w.paged(1, Options[val]{MaxLimbo: 1})
		h := a.insertBatch(2)
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) { a.remove(h[1]) })
		w.thread(0, func(a *actor) { a.insert() })
	}},
	// Limbo is at its most by a slot that no insertion can have.
	{"an exhausted slot that waits for a guard stalls growth", func(w *world) {
		a := w.pool(Options[val]{MaxLimbo: 1, Origin: shard.LastGeneration})
		w.exhausting = true
		h := a.insertN(2) // a page
		g := a.pin(h[0])
		a.remove(h[0])
		w.thread(0, func(a *actor) { a.insert() })
		w.thread(0, func(a *actor) { a.look(g, h[1]) })
	}},
	// Limbo is at its most by the slots that are in the Reset itself.
	{"a Reset inserts while memory is left", func(w *world) {
		a := w.paged(1, Options[val]{MaxLimbo: 1, Reset: w.resetting(3, func(a *actor) { a.insert() })})
		hs := a.insertN(2)
		w.thread(0, func(a *actor) { a.removeBatch(hs...) })
		w.thread(0, func(a *actor) { a.get(hs[0]) })
	}},
	{"a Pin that is under way holds slots back", func(w *world) {
		a := w.pool(Options[val]{Capacity: 1})
		h := a.insert()
		first := a.pin(0)
		a.all(nil) // marks the second block of cells, so that scans read it
		w.thread(0, func(a *actor) { a.pin(0) })
		w.thread(0, func(a *actor) { a.unpin(first) })
		w.thread(0, func(a *actor) {
			a.remove(h)
			a.insert()
		})
	}},
	{"a Repin in a loop ends the protection of what the loop has shown", func(w *world) {
		a := w.pool(Options[val]{})
		h := a.insert()
		w.thread(0, func(a *actor) { a.removeBatch(h) })
		w.thread(0, func(a *actor) {
			g := a.pin(0)
			a.allUnder(g, func() { a.repin(g) })
		})
	}},
}
