package pool

import (
	"context"
	"weak"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Reservation is a slot whose handle is known before its value is live. [Pool.Reserve] returns one;
// a zero Reservation panics. It must not be copied. One goroutine at a time may use it.
//
// Commit or Cancel settles a Reservation. After that, Pointer, Commit and Cancel panic. The garbage
// collector cancels one that is dropped before, but perhaps late, unless it is in a value of its
// own pool. The result of Pointer does not keep the Reservation reachable: if a path may not settle
// it, defer runtime.KeepAlive.
type Reservation[T any] struct {
	_ [0]*T
	cell
}

// cell is a Reservation without its T.
type cell struct {
	_    noCopy
	core *core // nil when settled, as slot is, so that it keeps no value
	slot *slots.Hook
	h    uint64
	open *reservation // tells whether it is open
}

// Reserve takes a vacant slot and returns it as a [Reservation]. If there is none, the error is
// that of [Pool.Insert].
func (p *Pool[T]) Reserve() (*Reservation[T], error) {
	r, err := p.reserve(p.arena.Claim(hint.Frame()))
	return reservationOf[T](r), err
}

// ReserveWait is like [Pool.Reserve], but waits for a slot as [Pool.InsertWait] does.
func (p *Pool[T]) ReserveWait(ctx context.Context) (*Reservation[T], error) {
	p.pages()
	r, err := p.reserve(p.arena.ClaimWait(ctx, hint.Frame()))
	return reservationOf[T](r), err
}

// reserve makes a Reservation of a slot that was claimed as h, unless that failed.
func (c *core) reserve(slot *slots.Hook, h uint64, err error) (*cell, error) {
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

// Handle returns the handle that the value will have at Commit.
func (r *Reservation[T]) Handle() Handle[T] {
	if r.open == nil {
		panic(settledReservation)
	}
	return Handle[T](r.h)
}

// Pointer returns a pointer to the value, which is zero or as Options.Reset left it, until the
// Reservation is settled.
func (r *Reservation[T]) Pointer() *T {
	if r.open == nil || r.open.h.Load() == 0 {
		panic(settledReservation)
	}
	return slots.ValueOf[T](r.slot)
}

// Commit makes the value live and returns its handle. If Options.OnInsert panics or exits, the slot
// goes back instead.
func (r *Reservation[T]) Commit() Handle[T] { return Handle[T](r.commit()) }

func (r *cell) commit() uint64 {
	c, slot := r.settle()
	if debugging {
		r.open.mark.closed(c.records.reservations, "committed")
	}
	if c.arena.OnInsert != nil {
		c.announce(slot, r.h)
	}
	slot.Publish(r.h)
	if debugging {
		c.records.lives.Began(r.h, "committed")
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
	c.arena.Abandon(slot, r.h, shard.Caller)
}

// settle ends the Reservation and returns its pool and its slot, which the caller owns then. It
// panics if the Reservation was settled before.
func (r *cell) settle() (*core, *slots.Hook) {
	if r.open == nil || r.open.h.Swap(0) == 0 {
		panic(settledReservation)
	}
	c, slot := r.core, r.slot
	r.core, r.slot = nil, nil
	c.reserved.Add(-1)
	return c, slot
}

// Reservations are made in blocks of 63. The garbage collector tells by a life (collected.go)
// that a Reservation was dropped. One for each would be most of a Reserve; a block needs one.
//
// A Reservation refers to its pool, and so to all that Reset and the values refer to. That may
// be the Reservation itself. So the life is apart from the block: it refers to the supply, which says
// what is open and refers to the pool weakly.

// blockCells is the number of Reservations of a block. 63 of them, with the allocator's
// header, fill 2 KiB, a size class.
const blockCells = 63

// block has the Reservations. A reference to a cell keeps all of them, and the life.
type block struct {
	cells [blockCells]cell
	life  *life
}

// supply is what a block's life needs. Its Reservations and the life keep it.
type supply struct {
	// block refers to it weakly. If the pool kept its current block, Reservations that were
	// dropped would stay reserved as long as no call reserves, or Reserve returns ErrFull. It
	// returns nil once the collector has found the block unreachable, which is before
	// dropped runs. A caller that gets the block keeps it reachable.
	block weak.Pointer[block]
	pool  weak.Pointer[core]

	// taken counts the cells that are in use. An Add gives its caller the cell whose number
	// it found, alone. If no cell is left, each caller counts once more.
	taken atom.Uint32

	open [blockCells]reservation
}

// reservation is the part of a Reservation that outlives it.
type reservation struct {
	mark mark // noCopy

	// h is the Reservation's handle while it is open, and else 0.
	//
	//	writers  reserve, by a store, in a cell that is its own; settle and dropped, for Commit,
	//	         Cancel and both ends of the life, by a swap with 0: the one that gets the handle owns
	//	         the slot
	h atom.Uint64
}

// cell returns a Reservation for the caller alone. Settled ones are not used again, because
// their holders may still call them, and must get a panic.
func (c *core) cell() *cell {
	s := c.supply.Load()
	if s != nil {
		if b := s.block.Value(); b != nil {
			if i := s.taken.Add(1) - 1; i < blockCells {
				b.cells[i].open = &s.open[i]
				return &b.cells[i]
			}
		}
	}
	return c.cellSlow(s)
}

// cellSlow returns the first cell of a new block. That becomes current instead of used, which has no
// cell left. If several goroutines call it at once, one of them makes the block current, and the others
// take cells of that.
//
// The wrong version stores its block. A goroutine that is preempted before that then replaces
// one that others have made meanwhile, which may have 62 cells left.
func (c *core) cellSlow(used *supply) *cell {
	b := new(block)
	s := &supply{block: weak.Make(b), pool: weak.Make(c)}
	b.cells[0].open = &s.open[0]
	s.taken.Store(1)
	if !c.supply.CompareAndSwap(used, s) {
		return c.cell()
	}
	if !slots.Exploring {
		b.life = newLife(s.dropped)
	}
	return &b.cells[0]
}

// dropped gives back what is open when a block is unreachable. No Commit or Cancel runs meanwhile, since it
// would refer to its cell. A second call may: each swaps the handles, and one of them gets a handle.
func (s *supply) dropped() {
	if p := s.pool.Value(); p != nil {
		for i := range s.open {
			p.dropped(&s.open[i])
		}
	}
}

// dropped gives back the slot of a dropped Reservation, if that is still open. Like a removal it calls
// no Reset, whose panic on the collector's goroutine would end the program. Trim keeps the page of a reserved slot, so that its index leads to it.
func (c *core) dropped(r *reservation) {
	h := r.h.Swap(0)
	if h == 0 {
		return
	}
	c.collected.Add(1)
	if debugging {
		c.records.lives.Dropped(h, collected)
		r.mark.dropped(c.records.reservations, collected)
	}
	c.arena.Abandon(c.pages().At(uint32(h)), h, shard.Collector)
	c.reserved.Add(-1) // last: if no Reservation is open, all slots are back
}
