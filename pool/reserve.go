package pool

import (
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Reservation is a slot whose handle is known before its value is live: for
// values that refer to each other, or to themselves, and for handles that must
// be handed out before there is anything to show.
//
// It is used by one goroutine at a time, and settled by one Commit, CommitHold or
// Cancel.
// One that is dropped is cancelled by the garbage collector, so keep it until
// you settle it: the pointer that Value gave does not. Where a path may use that
// pointer and never settle, defer runtime.KeepAlive. The zero Reservation
// panics. It must not be copied, nor kept in a value of its own pool, where the
// collector would never find it dropped.
type Reservation[T any] struct {
	mark  mark // noCopy
	pool  *Pool[T]
	slot  *shard.Slot[T] // until it is settled: a settled one keeps no page from the collector
	h     uint64
	state atom.Uint32 // open → settled, by compare-and-swap: once
	block bool        // it lies in a Reserver's block, which has the finalizer
}

const (
	open    = 1
	settled = 2
)

// Reserve takes a vacant slot without making it live. The error is ErrFull, or
// one that wraps it. It allocates one object. That, and having the object
// watched by the garbage collector, costs several times what an insertion does:
// whoever makes many, gets them from a [Reserver].
func (p *Pool[T]) Reserve() (*Reservation[T], error) {
	slot, h, err := p.arena.Claim()
	if err != nil {
		return nil, err
	}
	r := new(Reservation[T])
	r.begin(p, slot, h)
	runtime.SetFinalizer(r, p.dropped)
	return r, nil
}

// begin opens r, which nobody has used before, on a slot that is the caller's.
func (r *Reservation[T]) begin(p *Pool[T], slot *shard.Slot[T], h uint64) {
	p.arena.Blank(slot)
	p.reserved.Add(1)
	r.pool, r.slot, r.h = p, slot, h
	r.state.Store(open)
	if debugging {
		p.records.lives.Began(h, reserved)
		r.mark.opened(p.records.reservations, reserved, Handle[T](h).String())
	}
}

// dropReservation is the finalizer of reservations. It leaves reclaiming to those
// who use the pool: a Reset has no business on the collector's goroutine, where
// a panic would end the program.
func dropReservation[T any](r *Reservation[T]) {
	if r.state.CompareAndSwap(open, settled) {
		r.pool.collected.Add(1)
		if debugging {
			r.pool.records.lives.Dropped(r.h, collected)
			r.mark.dropped(r.pool.records.reservations, collected)
		}
		r.pool.arena.AbandonQuietly(r.slot, r.h)
		r.pool.reserved.Add(-1) // last: where no Reservation is open, all slots are back
	}
}

// Handle returns the handle that the value will have. It is not live until
// Commit, and never will be after Cancel.
func (r *Reservation[T]) Handle() Handle[T] {
	if r.pool == nil {
		panic(unsettled)
	}
	return Handle[T](r.h)
}

// Value returns the value to fill in, which is zero or as Options.Reset left it.
// The pointer is good until the Reservation is settled, and does not keep it.
func (r *Reservation[T]) Value() *T {
	if r.state.Load() != open {
		panic(unsettled)
	}
	return &r.slot.Value
}

// Commit makes the value live and returns its handle.
func (r *Reservation[T]) Commit() Handle[T] {
	slot := r.settle()
	r.pool.reserved.Add(-1)
	slot.Publish(r.h)
	r.began()
	return Handle[T](r.h)
}

// CommitHold is Commit and [Pool.Hold] in one step: no Remove or Clear comes between
// the two, so there is always a value to hold. The value may be removed from then on,
// as any other, and stays readable until Release. The pointer that the Reservation's
// Value gave stays good as long. It costs what Commit costs, two locked instructions
// more, and what Hold allocates.
func (r *Reservation[T]) CommitHold() *Ref[T] {
	slot := r.settle()
	r.pool.reserved.Add(-1)
	k := r.pool.arena.PublishHeld(slot, r.h)
	r.began()
	return r.pool.ref(k, Handle[T](r.h))
}

// began records that the value went live.
func (r *Reservation[T]) began() {
	if debugging {
		r.pool.records.lives.Began(r.h, committed)
		r.mark.closed(r.pool.records.reservations, committed)
	}
}

// Cancel gives the slot back. The handle never becomes live.
func (r *Reservation[T]) Cancel() {
	slot := r.settle()
	r.pool.reserved.Add(-1)
	if debugging {
		r.pool.records.lives.Ended(r.h, cancelled)
		r.mark.closed(r.pool.records.reservations, cancelled)
	}
	r.pool.arena.Abandon(slot, r.h)
}

// settle ends the reservation and returns its slot. Success of the
// compare-and-swap makes the caller the slot's owner; failure means misuse, or
// the finalizer of a reservation that nobody has.
func (r *Reservation[T]) settle() *shard.Slot[T] {
	if !r.state.CompareAndSwap(open, settled) {
		panic(unsettled)
	}
	if !r.block {
		runtime.SetFinalizer(r, nil)
	}
	slot := r.slot
	r.slot = nil
	return slot
}
