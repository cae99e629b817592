package pool

import (
	"reflect"

	"coatcheck/internal/atom"
	"coatcheck/internal/pointers"
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

var (
	// ErrFull says that there was a moment during the call at which no slot was free:
	// each was live, exhausted, or in the hands of a call under way, a Worker or a
	// Reservation. A slot may have come free since.
	ErrFull = shard.ErrFull

	// ErrStalled wraps ErrFull: at least one removed slot waits for a guard to
	// be unpinned, or a Ref to be released. See [Stats] for how old the oldest
	// guard is, and how many Refs there are.
	ErrStalled = shard.ErrStalled

	// ErrExhausted wraps ErrFull: every slot has used up its generations. It
	// stays that way.
	ErrExhausted = shard.ErrExhausted
)

// Texts of panics. They say what was done and what to do; they are constants so
// that the fast paths that panic can be put into their callers.
const (
	zeroPool     = shard.Zero
	unpinned     = "pool: use of a Guard that is not pinned (a zero Guard, or after Unpin); get one from Pin"
	unpinAgain   = "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)"
	closedWorker = shard.Closed
	releasedRef  = "pool: use of a Ref after Release, or not from Pool.Hold"
	unsettled    = "pool: use of a Reservation after Commit or Cancel, or not from Pool.Reserve"
	zeroReserver = "pool: use of a zero Reserver; get one from Pool.Reserver"
)

// New returns an empty pool. Nil options are the defaults. Bad options are
// answered with an error that says which one and why.
//
// A pool needs no closing, and starts no goroutine. Its first page is allocated
// by the first insertion: 64 KiB or a little more, less if a Capacity is
// smaller.
func New[T any](opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	return pl.build(), nil
}

// build makes the pool. Tests change a plan before, for pages of two slots.
func (pl plan[T]) build() *Pool[T] {
	p := pl.frame()
	p.arena.Init(pl.config(p))
	pl.complete(p)
	return p
}

// frame makes a pool whose arena is yet to be made.
func (pl plan[T]) frame() *Pool[T] {
	p := &Pool[T]{dropped: dropReservation[T]}
	if copiesWithoutPin {
		p.domain.InitFull(pl.guards) // nothing else makes brief pins
	} else {
		p.domain.Init(pl.guards)
	}
	p.record()
	return p
}

// config says what the arena is to be.
func (pl plan[T]) config(p *Pool[T]) shard.Config[T] {
	return shard.Config[T]{
		Domain:   clock(&p.domain),
		Slots:    pl.slots,
		Shift:    pl.shift,
		Shards:   pl.Shards,
		Capacity: uint64(pl.Capacity),
		MaxLimbo: int64(pl.MaxLimbo),
		First:    pl.Origin,
		FIFO:     pl.Reuse == FIFO,
		MinFree:  pl.MinFree,
		AutoTrim: pl.AutoTrim,
		Fixed:    pl.Preallocate,
		Reset:    pl.Reset,
		Pointers: pointers.In(reflect.TypeFor[T]()),
	}
}

// complete is the last step, when the arena is made.
func (pl plan[T]) complete(p *Pool[T]) {
	if pl.Preallocate {
		p.loops.fill()
	}
	p.watch() // last: the sentinel uses the pool from another goroutine
}

// Must is New that panics with the error.
func Must[T any](opts *Options[T]) *Pool[T] {
	p, err := New(opts)
	if err != nil {
		panic(err)
	}
	return p
}
