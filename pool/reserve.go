package pool

import (
	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// Reservation is a slot whose handle is known before its value is live, such as for values
// that refer to each other.
//
// [Pool.Reserve] returns a Reservation; a zero Reservation panics. One goroutine at a time may
// use it. Commit or Cancel settles it, after which these and Value panic. It must not be copied.
//
// The garbage collector cancels a Reservation that is dropped, so keep it until you settle
// it; the pointer of Value does not keep it. If a path uses that pointer and does not settle,
// defer runtime.KeepAlive. A Reservation in a value of its own pool is not dropped as long as
// the pool is reachable.
//
// Reservations are made in blocks of 63. The collector cancels those that are dropped only when
// no Reservation of their block is reachable, including those that are settled. So drop a
// Reservation when it is settled: it keeps the 3 KiB of its block, but no value.
type Reservation[T any] struct {
	_    noCopy
	pool *Pool[T] // nil when settled, as slot is, so that it keeps no value
	slot *shard.Slot[T]
	h    uint64
	open *reservation // tells whether it is open
}

// Reserve takes a vacant slot without making it live. The error is ErrFull or wraps it. It
// allocates five objects for each 63 Reservations.
func (p *Pool[T]) Reserve() (*Reservation[T], error) {
	slot, h, err := p.arena.Claim(hint.Frame())
	if err != nil {
		return nil, err
	}
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	p.arena.Blank(slot)
	r := p.cell()
	p.reserved.Add(1)
	r.pool, r.slot, r.h = p, slot, h
	if debugging {
		p.records.lives.Began(h, "reserved")
		r.open.mark.opened(p.records.reservations, "reserved", Handle[T](h).String())
	}
	r.open.h.Store(h)
	return r, nil
}

// Handle returns the handle that the value will have. It becomes live at Commit, and never
// after Cancel.
func (r *Reservation[T]) Handle() Handle[T] {
	if r.open == nil {
		panic(unsettled)
	}
	return Handle[T](r.h)
}

// Value returns a pointer to the value, which is zero or as Options.Reset left it. The
// pointer is valid until the Reservation is settled.
func (r *Reservation[T]) Value() *T {
	if r.open == nil || r.open.h.Load() == 0 {
		panic(unsettled)
	}
	return &r.slot.Value
}

// Commit makes the value live and returns its handle.
func (r *Reservation[T]) Commit() Handle[T] {
	p, slot := r.settle()
	slot.Publish(r.h)
	if debugging {
		p.records.lives.Began(r.h, "committed")
		r.open.mark.closed(p.records.reservations, "committed")
	}
	return Handle[T](r.h)
}

// Cancel returns the slot to the pool. The handle never becomes live.
func (r *Reservation[T]) Cancel() {
	p, slot := r.settle()
	if debugging {
		p.records.lives.Ended(r.h, "cancelled")
		r.open.mark.closed(p.records.reservations, "cancelled")
	}
	p.arena.Abandon(slot, r.h, shard.Reclaim)
}

// settle ends the Reservation and returns its pool and its slot, which the caller owns then. It
// panics if the Reservation was settled before.
func (r *Reservation[T]) settle() (*Pool[T], *shard.Slot[T]) {
	if r.open == nil || r.open.h.Swap(0) == 0 {
		panic(unsettled)
	}
	p, slot := r.pool, r.slot
	r.pool, r.slot = nil, nil
	p.reserved.Add(-1)
	return p, slot
}
