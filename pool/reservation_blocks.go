package pool

import (
	"runtime"
	"weak"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Reservations are made in blocks of 63. The garbage collector tells by the finalizer of an object
// that a Reservation was dropped. An object for each would be two thirds of a Reserve; a block
// needs one.
//
// A Reservation refers to its pool, and so to all that Reset and the values refer to. That may
// be the Reservation itself. A finalizer keeps what its object refers to. So the object with
// the finalizer is apart from the block: it refers to the supply, which says what is open and
// refers to the pool weakly. A cleanup would need no such object. But Go 1.26 leaves cleanups
// undone that lie with a processor which GOMAXPROCS has taken away.

// blockCells is the number of Reservations of a block. 63 of them, with the allocator's
// header, fill 2 KiB, a size class.
const blockCells = 63

// block has the Reservations. A reference to a cell keeps all of them, and end.
type block struct {
	cells [blockCells]cell
	end   *blockEnd
}

// blockEnd has a finalizer, which runs when the block is unreachable.
type blockEnd struct{ supply *supply }

// supply is what a block's finalizer needs. Its Reservations and the finalizer keep it.
type supply struct {
	// block refers to it weakly. If the pool kept its current block, Reservations that were
	// dropped would stay reserved as long as no call reserves, or Reserve returns ErrFull. It
	// returns nil once the collector has found the block unreachable, which is before the
	// finalizer runs. A caller that gets the block keeps it reachable.
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
	//	         Cancel and the finalizer, by a swap with 0: the one that gets the handle owns
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
	if !shard.Exploring {
		b.end = &blockEnd{s}
		runtime.SetFinalizer(b.end, func(e *blockEnd) { e.supply.dropped() })
	}
	return &b.cells[0]
}

// dropped is what a block's finalizer does. No Commit or Cancel runs meanwhile, since it would refer
// to its cell.
func (s *supply) dropped() {
	if p := s.pool.Value(); p != nil {
		for i := range s.open {
			p.dropped(&s.open[i])
		}
	}
}

// dropped gives back the slot of a dropped Reservation, if that is still open. It does not
// reclaim, because that may call Reset: a panic on the collector's goroutine would end the
// program. Trim keeps the page of a reserved slot, so that its index leads to it.
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
	c.arena.Abandon(c.pages().At(uint32(h)), h, shard.Deferred)
	c.reserved.Add(-1) // last: if no Reservation is open, all slots are back
}
