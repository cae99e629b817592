package pool

import "coatcheck/shard"

// Pool keeps values of type T in slots that never move, and names each by a [Handle].
//
// Any number of goroutines may call its methods at once. [New] and [Must] return a Pool; a zero Pool
// panics. It must not be copied. It need not be closed: the garbage collector frees an unreachable
// pool with all of its values.
type Pool[T any] struct {
	_ [0]*T // so that pools of different types cannot be converted into each other
	core
}

// New returns an empty pool, which takes 2 KB. If opts is nil, it uses the defaults. If an option
// is invalid, it returns an error that says which one and why. docs/guarantees.md has the limits of
// memory.
func New[T any](opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	p := new(Pool[T])
	p.build(pl)
	return p, nil
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
func (p *Pool[T]) Cap() int { return p.capacity() }

var (
	// ErrFull means that at some moment during the call each slot was live, exhausted, or in use by
	// another call, a Reset, a Worker or a Reservation. [Pool.InsertWait] waits for a slot. Every
	// error of an insertion wraps ErrFull, except those of a context or a constructor. Test it with
	// errors.Is.
	ErrFull = shard.ErrFull

	// ErrStalled means that every slot that could be reused is still protected by a guard, a loop,
	// a Ref or a running Hold. It wraps ErrFull, and keeps the pool reachable for its text.
	ErrStalled = shard.ErrStalled

	// ErrExhausted means that all MaxCapacity slots have used up their generations. All later
	// insertions fail too. It wraps ErrFull.
	ErrExhausted = shard.ErrExhausted
)

// The texts of panics are constants, so that the functions that panic can be inlined.
const (
	zeroPool           = shard.Zero
	unpinned           = "pool: use of a Guard that is not pinned (a zero Guard, or after Unpin); get one from Pin"
	unpinAgain         = "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)"
	releasedRef        = "pool: use of a Ref after Release, or not from Pool.Hold"
	settledReservation = "pool: use of a Reservation after Commit or Cancel, or not from Pool.Reserve"
)
