//go:build interleave

package pool_test

import (
	"slices"

	. "coatcheck/pool"
)

// reserveFrom is reserve by a Reserver. What it makes stays in w.reserved, so
// that no block is dropped in the middle of a run.
func (a *actor) reserveFrom(v *Reserver[val]) *Reservation[val] {
	a.enter("Reserve")
	r, err := v.Reserve()
	f := a.leave()
	if err != nil {
		a.refuse(f, err)
		return nil
	}
	if slices.Contains(a.reserved, r) {
		a.r.Failf("the Reservation of %v was given out before", r.Handle())
	}
	a.opened(r)
	return r
}

// reserver makes a Reserver whose blocks do without their finalizer, as what
// other actors open does: runs end with open Reservations, and a collection in
// the middle of another run must not be seen there.
func (a *actor) reserver() *Reserver[val] {
	v := a.p.Reserver()
	KeepBlocks(v)
	return v
}

// reserverScenarios are about goroutines that share a Reserver.
var reserverScenarios = []scenario{
	{"two take from a Reserver's block", func(w *world) {
		a := w.pool(Options[val]{Capacity: 3, Shards: 1})
		v := a.reserver()
		a.cancel(a.reserveFrom(v), (*Reservation[val]).Cancel)
		w.thread(0, func(a *actor) {
			if r := a.reserveFrom(v); r != nil {
				a.remove(a.commit(r))
			}
		})
		w.thread(0, func(a *actor) {
			if r := a.reserveFrom(v); r != nil {
				a.cancel(r, (*Reservation[val]).Cancel)
			}
			a.reserveFrom(v)
		})
	}},
	{"three come to the end of a Reserver's block", func(w *world) {
		a := w.pool(Options[val]{Capacity: 4})
		v := a.reserver()
		a.reserveFrom(v)
		TakeBlock(v)
		w.thread(0, func(a *actor) {
			if r := a.reserveFrom(v); r != nil {
				a.commit(r)
			}
		})
		w.thread(0, func(a *actor) {
			if r := a.reserveFrom(v); r != nil {
				a.cancel(r, DropReservation[val])
			}
		})
		w.thread(0, func(a *actor) {
			if r := a.reserveFrom(v); r != nil {
				a.commit(r)
			}
		})
	}},
}
