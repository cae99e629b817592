package pool

import (
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Reservation is a slot whose handle is known before its value is live, such as for values
// that refer to each other.
//
// [Pool.Reserve] and [Reserver.Reserve] return a Reservation; a zero Reservation panics. One
// goroutine at a time may use it. Commit, CommitHold or Cancel settles it, after which these
// and Value panic. It must not be copied.
//
// The garbage collector cancels a Reservation that is dropped, so keep it until you settle
// it; the pointer of Value does not keep it. If a path uses that pointer and does not settle,
// defer runtime.KeepAlive. Do not store a Reservation in a value of its own pool: the
// collector would never find it dropped.
type Reservation[T any] struct {
	mark  mark // noCopy
	pool  *Pool[T]
	slot  *shard.Slot[T] // nil when settled, so that it keeps no page from the collector
	h     uint64
	state atom.Uint32 // open → settled, by compare-and-swap: once
	block bool        // it is part of a Reserver's block, which has the finalizer
}

const (
	open    = 1
	settled = 2
)

// Reserve takes a vacant slot without making it live. The error is ErrFull or wraps it.
//
// It allocates an object with a finalizer, which costs several times as much as an insertion.
// A [Reserver] makes many Reservations at less cost.
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

// Handle returns the handle that the value will have. It becomes live at Commit, and never
// after Cancel.
func (r *Reservation[T]) Handle() Handle[T] {
	if r.pool == nil {
		panic(unsettled)
	}
	return Handle[T](r.h)
}

// Value returns a pointer to the value, which is zero or as Options.Reset left it. The
// pointer is valid until the Reservation is settled.
func (r *Reservation[T]) Value() *T {
	if r.state.Load() != open {
		panic(unsettled)
	}
	return &r.slot.Value
}

// Commit makes the value live and returns its handle.
func (r *Reservation[T]) Commit() Handle[T] {
	slot := r.settle()
	slot.Publish(r.h)
	r.began()
	return Handle[T](r.h)
}

// CommitHold is Commit and [Pool.Hold] in one step: the value cannot be removed between the
// two. The pointer of the Reservation's Value stays valid until Release. CommitHold costs
// two locked instructions more than Commit, and allocates what Hold allocates.
func (r *Reservation[T]) CommitHold() *Ref[T] {
	slot := r.settle()
	k := r.pool.arena.PublishHeld(slot, r.h)
	r.began()
	return r.pool.ref(k, Handle[T](r.h))
}

// Cancel returns the slot to the pool. The handle never becomes live.
func (r *Reservation[T]) Cancel() {
	slot := r.settle()
	if debugging {
		r.pool.records.lives.Ended(r.h, cancelled)
		r.mark.closed(r.pool.records.reservations, cancelled)
	}
	r.pool.arena.Abandon(slot, r.h)
}

// begin opens r, which was never used before, on a slot that the caller claimed as h.
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

// began records that the value became live.
func (r *Reservation[T]) began() {
	if debugging {
		r.pool.records.lives.Began(r.h, committed)
		r.mark.closed(r.pool.records.reservations, committed)
	}
}

// settle ends the Reservation and returns its slot. If the compare-and-swap succeeds, the
// caller owns the slot. It fails if the Reservation was settled before.
func (r *Reservation[T]) settle() *shard.Slot[T] {
	if !r.state.CompareAndSwap(open, settled) {
		panic(unsettled)
	}
	if !r.block {
		runtime.SetFinalizer(r, nil)
	}
	slot := r.slot
	r.slot = nil
	r.pool.reserved.Add(-1)
	return slot
}

// dropReservation is the finalizer of Reservations. It does not reclaim, because that may call
// Reset: a panic on the goroutine of finalizers would end the program.
func dropReservation[T any](r *Reservation[T]) {
	if r.state.CompareAndSwap(open, settled) {
		r.pool.collected.Add(1)
		if debugging {
			r.pool.records.lives.Dropped(r.h, collected)
			r.mark.dropped(r.pool.records.reservations, collected)
		}
		r.pool.arena.AbandonQuietly(r.slot, r.h)
		r.pool.reserved.Add(-1) // last: if no Reservation is open, all slots are back
	}
}
