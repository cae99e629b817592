package pool

import (
	"runtime"
	"weak"

	"coatcheck/internal/atom"
)

// Reserver makes Reservations cheaply: for whoever makes many of them, such as a
// list of changes that are to be made later.
//
// What [Pool.Reserve] costs is mostly the finalizer by which the collector finds
// a Reservation that was dropped. A Reserver makes Reservations in blocks of 63,
// and a block has one finalizer. They are settled as others are, each by itself
// and in any order. Only those that are dropped differ: the collector gives
// their slots back when no Reservation of the block can be reached any more,
// settled ones included. One that is kept keeps the others' memory, 2 KiB, and
// what was dropped beside it stays reserved, so let go of those that are
// settled. It keeps no value of theirs. The Reserver itself keeps none of them:
// it may be idle for as long as it likes.
//
// It is safe for concurrent use. Goroutines that have one each do not get into
// each other's way. There is nothing to be closed. The zero Reserver panics. It
// must not be copied.
type Reserver[T any] struct {
	_       noCopy
	pool    *Pool[T]
	dropped func(*block[T]) // made once, as Pool.dropped is

	// current leads to the block that Reservations are taken from; nil before
	// the first.
	//
	//	writers  cellSlow, by a store, which publishes the block
	//	readers  cell
	current atom.Pointer[supply[T]]
}

// blockCells is how many Reservations a block has. One of 63 fills, with the
// allocator's header, the 2 KiB that it is given.
const blockCells = 63

// block is what the collector watches: as long as one cell is referred to, so
// are all.
type block[T any] struct {
	cells [blockCells]Reservation[T]
}

// supply is how a Reserver refers to its block, which it must not keep: what was
// dropped would stay reserved for as long as the Reserver is idle, or is told
// that the pool is full.
type supply[T any] struct {
	// block is nil once the collector has found that nobody refers to it, which
	// is before its finalizer runs. Whoever gets it from here keeps it from
	// being found so.
	block weak.Pointer[block[T]]

	// taken counts the cells that were given away. An Add gives its caller the
	// cell of the number that it found, to have alone. Those who come when there
	// is none left count past blockCells, once each.
	taken atom.Uint32
}

// Reserver returns a new Reserver.
func (p *Pool[T]) Reserver() *Reserver[T] {
	p.pages()
	return &Reserver[T]{pool: p, dropped: dropBlock[T]}
}

// Reserve is [Pool.Reserve] by the cheap path. The error is ErrFull, or one that
// wraps it. It allocates three objects for each block of 63.
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

// cell returns a Reservation that nobody has used, nor will. Those that were
// settled are never used again: their holders may still call them, and must
// then hear of it.
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

// cellSlow returns the first cell of a new block, which becomes current. Of
// goroutines that come at once each makes one, and the last one's stays current;
// the first cells of the others are as good, and their rest is not used.
func (v *Reserver[T]) cellSlow() *Reservation[T] {
	b := new(block[T])
	runtime.SetFinalizer(b, v.dropped)
	s := &supply[T]{block: weak.Make(b)}
	s.taken.Store(1)
	v.current.Store(s)
	return &b.cells[0]
}

// dropBlock is the finalizer of blocks. No Commit or Cancel runs meanwhile: it
// would refer to its cell. So slot may be read plainly, the collector having
// stopped the world since it was written: a cell that was never opened has none,
// nor has one that was settled.
func dropBlock[T any](b *block[T]) {
	for i := range b.cells {
		if r := &b.cells[i]; r.slot != nil {
			dropReservation(r)
		}
	}
}
