//go:build interleave

package explore_test

import (
	. "coatcheck/pool"
)

// reserveFrom is reserve by a Reserver. What it makes stays in w.reserved, so
// that no block is dropped in the middle of a run.
func (a *actor) reserveFrom(v *Reserver[val]) *Reservation[val] {
	c, _ := a.call("Reserver.Reserve", nil)
	c.Reserver = v
	return a.opens(c)
}

func (a *actor) reserver() *Reserver[val] { return subject{a.p}.Reserver() }

// reserverScenarios are about goroutines that share a Reserver.
var reserverScenarios = []scenario{
	{"two take from a Reserver's block", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3, Shards: 1})
		v := a.reserver()
		a.cancel(a.reserveFrom(v), (*Reservation[val]).Cancel)
		w.thread(0, func(a *actor) { a.remove(a.commit(a.reserveFrom(v))) })
		w.thread(0, func(a *actor) {
			a.cancel(a.reserveFrom(v), (*Reservation[val]).Cancel)
			a.reserveFrom(v)
		})
	}},
	{"three come to the end of a Reserver's block", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		v := a.reserver()
		a.reserveFrom(v)
		TakeBlock(v)
		w.thread(0, func(a *actor) { a.commit(a.reserveFrom(v)) })
		w.thread(0, func(a *actor) { a.cancel(a.reserveFrom(v), DropReservation[val]) })
		w.thread(0, func(a *actor) { a.commit(a.reserveFrom(v)) })
	}},
}
