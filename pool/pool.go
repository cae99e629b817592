package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Pool keeps values of type T in slots that never move, and names each by a
// [Handle].
//
// It is safe for concurrent use by any number of goroutines. Make one with [New]
// or [Must]; the zero Pool panics. It must not be copied. A pool that is no
// longer referred to is collected whole, with everything in it.
type Pool[T any] struct {
	arena  shard.Arena[T] // the slots, and all that is done with them
	domain tracedDomain   // an epoch.Domain: the arena's clock

	loops   loops
	dropped func(*Reservation[T]) // made once, so that Reserve allocates one object
	records records

	_ [128]byte
	// workers counts open Workers, reserved open Reservations, and collected those of
	// both that were dropped.
	workers   atom.Int64
	reserved  atom.Int64
	collected atom.Int64
}

// pages returns the current table of pages. A zero Pool has none, which is how
// every operation notices it.
func (p *Pool[T]) pages() *shard.Pages {
	t := p.arena.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	return t
}

// Cap returns the capacity, or MaxCapacity if there is none.
func (p *Pool[T]) Cap() int {
	p.pages()
	if p.arena.Capacity == 0 {
		return MaxCapacity
	}
	return int(p.arena.Capacity)
}
