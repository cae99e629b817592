package pool

import (
	"runtime"
	"weak"

	"coatcheck/internal/atom"
)

// Reserver makes many Reservations at less cost than [Pool.Reserve], such as for changes that
// are recorded now and applied later.
//
// Most of the cost of a Reservation is its finalizer. A Reserver makes Reservations in blocks
// of 63, and a block has one finalizer. Each Reservation is settled by itself, in any order.
//
// If some are dropped, the garbage collector returns their slots only when no Reservation of
// the block is reachable, including those that are settled. So drop a Reservation when it is
// settled: it keeps the 2 KiB of its block, but no value. The Reserver keeps none of them.
//
// Any number of goroutines may use a Reserver at once; it is faster if each has its own. It
// needs no Close. [Pool.Reserver] returns one; a zero Reserver panics. It must not be copied.
type Reserver[T any] struct {
	_       noCopy
	pool    *Pool[T]
	dropped func(*block[T]) // made once, as Pool.dropped is

	// current refers to the block that Reservations are taken from. It is nil at first.
	//
	//	writers  cellSlow, by a store, which publishes the block
	//	readers  cell
	current atom.Pointer[supply[T]]
}

// Reserver returns a new Reserver.
func (p *Pool[T]) Reserver() *Reserver[T] {
	p.pages()
	return &Reserver[T]{pool: p, dropped: dropBlock[T]}
}

// Reserve is like [Pool.Reserve], but allocates three objects for each 63 Reservations.
func (v *Reserver[T]) Reserve() (*Reservation[T], error) {
	p := v.pool
	if p == nil {
		panic(zeroReserver)
	}
	slot, h, err := p.arena.Claim()
	if err != nil {
		return nil, err
	}
	r := v.cell()
	r.block = true
	r.begin(p, slot, h)
	return r, nil
}

// blockCells is the number of Reservations of a block. 63 of them, with the allocator's
// header, fill 2 KiB, a size class.
const blockCells = 63

// block is the object that has the finalizer. A reference to a cell keeps all of them.
type block[T any] struct {
	cells [blockCells]Reservation[T]
}

// supply refers to a block weakly. If a Reserver kept its block, Reservations that were
// dropped would stay reserved while the Reserver is idle, or gets ErrFull.
type supply[T any] struct {
	// block returns nil once the collector has found the block unreachable, which is before
	// its finalizer runs. A caller that gets the block keeps it reachable.
	block weak.Pointer[block[T]]

	// taken counts the cells that are in use. An Add gives its caller the cell whose number
	// it found, alone. If no cell is left, each caller counts once more.
	taken atom.Uint32
}

// cell returns a Reservation for the caller alone. Settled ones are not used again, because
// their holders may still call them, and must get a panic.
func (v *Reserver[T]) cell() *Reservation[T] {
	if s := v.current.Load(); s != nil {
		if b := s.block.Value(); b != nil {
			if i := s.taken.Add(1) - 1; i < blockCells {
				return &b.cells[i]
			}
		}
	}
	return v.cellSlow()
}

// cellSlow returns the first cell of a new block, which becomes current. If several
// goroutines call it at once, each makes a block, the last one stays current, and the other
// blocks have one cell in use.
func (v *Reserver[T]) cellSlow() *Reservation[T] {
	b := new(block[T])
	runtime.SetFinalizer(b, v.dropped)
	s := &supply[T]{block: weak.Make(b)}
	s.taken.Store(1)
	v.current.Store(s)
	return &b.cells[0]
}

// dropBlock is the finalizer of blocks. No Commit or Cancel runs meanwhile, since it would
// refer to its cell. The collector has stopped the world since slot was written, so a plain
// load sees it. It is nil in a cell that was never opened, or was settled.
func dropBlock[T any](b *block[T]) {
	for i := range b.cells {
		if r := &b.cells[i]; r.slot != nil {
			dropReservation(r)
		}
	}
}
