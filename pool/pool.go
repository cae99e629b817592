package pool

import (
	"math/rand/v2"
	"reflect"
	"sync"

	"coatcheck/internal/atom"
	"coatcheck/internal/pointers"
	"coatcheck/shard"
)

// Pool keeps values of type T in slots that never move, and names each by a [Handle].
//
// Any number of goroutines may use a Pool at once. [New] and [Must] return one; a zero
// Pool panics. It must not be copied. The garbage collector frees a pool that is no
// longer reachable, with all of its values.
type Pool[T any] struct {
	arena  shard.Arena[T] // owns the slots
	domain tracedDomain   // an epoch.Domain: the arena's clock

	records records

	_ [128]byte
	// workers counts open Workers, reserved open Reservations, and collected those of
	// both that were dropped.
	workers   atom.Int64
	reserved  atom.Int64
	collected atom.Int64

	magazines sync.Map // of open Workers: *shard.Magazine[T], and nothing

	// supply refers to the block that Reservations are taken from. It is nil at first.
	//
	//	writers  cellSlow, by a store, which publishes the block
	//	readers  cell
	supply atom.Pointer[supply[T]]
}

// New returns an empty pool. If opts is nil, it uses the defaults. If an option is
// invalid, it returns an error that says which one and why.
//
// A pool starts no goroutine and needs no Close. Its first insertion allocates its first page:
// 64 to 128 KiB for small values ([Pool.Trim] has the rest), or less for a small Capacity.
func New[T any](opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	return pl.build(), nil
}

// Must is like [New] but panics if an option is invalid.
func Must[T any](opts *Options[T]) *Pool[T] {
	p, err := New(opts)
	if err != nil {
		panic(err)
	}
	return p
}

// Cap returns Options.Capacity, or MaxCapacity if it was 0.
func (p *Pool[T]) Cap() int {
	p.pages()
	if p.arena.Capacity == 0 {
		return MaxCapacity
	}
	return int(p.arena.Capacity)
}

var (
	// ErrFull means that at one moment during the call no slot was free, and none waited:
	// each was live, exhausted, or in use by another call, a Reset, a Worker or a
	// Reservation. A slot may have become free since. [Pool.InsertWait] waits for one.
	//
	// While 64 runs of Resets are under way in a shard, its slots that wait for nothing but a
	// Reset do not count as waiting.
	ErrFull = shard.ErrFull

	// ErrStalled wraps ErrFull. It means that at one moment during the call no slot was free,
	// and some waited. Each of these is delayed by a guard that was pinned before its removal
	// returned, or by a Ref. Pin says what more a guard delays in a pool with neither a
	// Capacity nor a MaxLimbo. [Stats] shows how many guards are pinned and Refs are held.
	//
	// The error that a call returns wraps ErrStalled. Its text says how many slots wait, which
	// limit they have come to, and how long the oldest pin has lasted at least, all at the
	// moment at which the text is asked for. Until then the error keeps the pool reachable.
	//
	// It may happen although fewer than Capacity values are live, in a program that only calls
	// View: its pin may be preempted. InsertWait waits for it.
	ErrStalled = shard.ErrStalled

	// ErrExhausted wraps ErrFull. It means that every slot has used up its generations,
	// so all later insertions fail too.
	ErrExhausted = shard.ErrExhausted
)

// The texts of panics are constants, so that the functions that panic can be inlined.
const (
	zeroPool    = shard.Zero
	unpinned    = "pool: use of a Guard that is not pinned (a zero Guard, or after Unpin); get one from Pin"
	unpinAgain  = "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)"
	releasedRef = "pool: use of a Ref after Release, or not from Pool.Hold"
	unsettled   = "pool: use of a Reservation after Commit or Cancel, or not from Pool.Reserve"
)

// pages returns the current table of pages. It panics for a zero Pool, which has none.
func (p *Pool[T]) pages() *shard.PageTable {
	t := p.arena.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	return t
}

// build returns a pool after pl. Tests change a plan first, for pages of two slots.
func (pl plan[T]) build() *Pool[T] {
	if pl.Origin == 0 {
		pl.Origin = rand.Uint32N(1<<31) | 1
	}
	p := pl.frame()
	p.arena.Preallocate()
	p.watch()
	return p
}

// frame returns a pool without slots.
func (pl plan[T]) frame() *Pool[T] {
	p := new(Pool[T])
	guards := 0
	if pl.Preallocate {
		guards = preallocatedGuards
	}
	p.domain.Init(guards)
	p.record()
	p.arena.Init(shard.Config[T]{
		Domain:   clock(&p.domain),
		Slots:    pl.slots,
		Shift:    pl.shift,
		Shards:   pl.Shards,
		Capacity: uint64(pl.Capacity),
		MaxLimbo: int64(pl.MaxLimbo),
		First:    pl.Origin,
		FIFO:     pl.Reuse == FIFO,
		Fixed:    pl.Preallocate,
		Reset:    pl.Reset,
		Pointers: pointers.In(reflect.TypeFor[T]()),
	})
	return p
}
