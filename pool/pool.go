package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// Pool keeps values of type T in slots that never move, and names each by a
// [Handle].
//
// It is safe for concurrent use by any number of goroutines. Make one with [New]
// or [Must]; the zero Pool panics. It must not be copied. A pool that is no
// longer referred to is collected whole, with everything in it.
type Pool[T any] struct {
	// Read by everybody, written by New alone (space.Table aside, which changes
	// once a page).
	shards   []shard.Shard[T]
	space    shard.Space[T]
	domain   tracedDomain // an epoch.Domain
	capacity uint64       // Options.Capacity
	maxLimbo int64        // Options.MaxLimbo
	fixed    bool         // Options.Preallocate: Trim leaves it alone

	loops   loops
	dropped func(*Reservation[T]) // made once, so that Reserve allocates one object
	records records

	_ [128]byte
	// workers counts open Workers and deals shards out to new ones; reserved
	// counts open Reservations, collected those of both that were dropped; freed
	// counts what came free since AutoTrim last looked.
	workers   atom.Int64
	dealt     atom.Uint64
	reserved  atom.Int64
	collected atom.Int64
	freed     atom.Int64
}

// local returns the shard that the calling goroutine uses. It is always a right
// one, and mostly one that no other running goroutine uses.
func (p *Pool[T]) local() *shard.Shard[T] {
	return &p.shards[hint.Index(hint.Goroutine()*p.space.Deal.Load(), len(p.shards))]
}

// pages returns the current table of pages. A zero Pool has none, which is how
// every operation notices it.
func (p *Pool[T]) pages() *shard.Pages {
	t := p.space.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	return t
}

// Cap returns the capacity, or MaxCapacity if there is none.
func (p *Pool[T]) Cap() int {
	p.pages()
	if p.capacity == 0 {
		return MaxCapacity
	}
	return int(p.capacity)
}
