package pool

import (
	"context"

	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// Reservation is a slot whose handle is known before its value is live. It serves values that
// refer to one another. [Pool.Reserve] returns one; a zero Reservation panics. It must not be
// copied. One goroutine at a time may use it.
//
// Commit or Cancel settles a Reservation. After that, Pointer, Commit and Cancel panic. The garbage
// collector cancels a Reservation that is dropped before, but perhaps late, while other
// Reservations of the pool are reachable. So drop settled ones.
//
// The result of Pointer does not keep the Reservation reachable. If a path may not settle it,
// defer runtime.KeepAlive. A Reservation in a value of its own pool is not dropped before the
// pool.
type Reservation[T any] struct {
	_ [0]*T
	cell
}

// cell is a Reservation without its T.
type cell struct {
	_    noCopy
	core *core // nil when settled, as slot is, so that it keeps no value
	slot *shard.Hook
	h    uint64
	open *reservation // tells whether it is open
}

// Reserve takes a vacant slot and returns it as a [Reservation], whose value becomes live at
// Commit. If there is no vacant slot, the error is ErrFull or wraps it. Any number of goroutines
// may reserve at once.
func (p *Pool[T]) Reserve() (*Reservation[T], error) {
	r, err := p.reserve(p.arena.Claim(hint.Frame()))
	return reservationOf[T](r), err
}

// ReserveWait is like [Pool.Reserve], but where Reserve would return an error, it waits for a
// slot as [Pool.InsertWait] does.
func (p *Pool[T]) ReserveWait(ctx context.Context) (*Reservation[T], error) {
	p.pages()
	r, err := p.reserve(p.arena.ClaimWait(ctx, hint.Frame()))
	return reservationOf[T](r), err
}

// reserve makes a Reservation of a slot that was claimed as h, unless that failed.
func (c *core) reserve(slot *shard.Hook, h uint64, err error) (*cell, error) {
	if err != nil {
		return nil, err
	}
	if debugging {
		c.mustBeUntouched(slot, h)
	}
	c.arena.Blank(slot)
	r := c.cell()
	c.reserved.Add(1)
	r.core, r.slot, r.h = c, slot, h
	if debugging {
		c.records.lives.Began(h, "reserved")
		r.open.mark.opened(c.records.reservations, "reserved", textOf(h))
	}
	r.open.h.Store(h)
	return r, nil
}

// Handle returns the handle that the value will have. It becomes live at Commit, and never
// after Cancel.
func (r *Reservation[T]) Handle() Handle[T] {
	if r.open == nil {
		panic(settledReservation)
	}
	return Handle[T](r.h)
}

// Pointer returns a pointer to the value, which is zero or as Options.Reset left it. The
// pointer is valid until the Reservation is settled.
func (r *Reservation[T]) Pointer() *T {
	if r.open == nil || r.open.h.Load() == 0 {
		panic(settledReservation)
	}
	return shard.ValueOf[T](r.slot)
}

// Commit makes the value live and returns its handle.
func (r *Reservation[T]) Commit() Handle[T] { return Handle[T](r.commit()) }

func (r *cell) commit() uint64 {
	c, slot := r.settle()
	slot.Publish(r.h)
	if debugging {
		c.records.lives.Began(r.h, "committed")
		r.open.mark.closed(c.records.reservations, "committed")
	}
	return r.h
}

// Cancel returns the slot to the pool. The handle never becomes live.
func (r *Reservation[T]) Cancel() { r.cancel() }

func (r *cell) cancel() {
	c, slot := r.settle()
	if debugging {
		c.records.lives.Ended(r.h, "cancelled")
		r.open.mark.closed(c.records.reservations, "cancelled")
	}
	c.arena.Abandon(slot, r.h, shard.Now)
}

// settle ends the Reservation and returns its pool and its slot, which the caller owns then. It
// panics if the Reservation was settled before.
func (r *cell) settle() (*core, *shard.Hook) {
	if r.open == nil || r.open.h.Swap(0) == 0 {
		panic(settledReservation)
	}
	c, slot := r.core, r.slot
	r.core, r.slot = nil, nil
	c.reserved.Add(-1)
	return c, slot
}
