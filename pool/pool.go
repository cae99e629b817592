package pool

import "coatcheck/shard"

// Pool keeps values of type T in slots that never move, and names each by a [Handle].
//
// Any number of goroutines may use a Pool at once. [New] and [Must] return one; a zero Pool
// panics. It must not be copied. It need not be closed: the garbage collector frees an
// unreachable pool with all of its values.
type Pool[T any] struct {
	_ [0]*T // so that pools of different types cannot be converted into each other
	core
}

// New returns an empty pool. If opts is nil, it uses the defaults. If an option is invalid, it
// returns an error that says which one and why.
//
// An empty pool takes 2 KB. The first insertion allocates one page of up to 4.5 KiB: 128 values of
// 16 bytes, 64 of 64, or one larger value. Each later page has as many slots as the pool then has,
// up to pages of 256 KiB to 2 MiB. docs/guarantees.md has the limits of memory, and [Pool.Trim]
// gives it back.
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
	// ErrFull means that at some moment during the call no slot was free, and no removed slot was
	// waiting for a guard or a Ref. Each slot was live, exhausted, or in use by another call, a
	// Reset, a Worker or a Reservation. [Pool.InsertWait] waits for a slot.
	//
	// Every error of an insertion wraps ErrFull, except those of a context or a constructor. Test
	// it with errors.Is. Its text has figures.
	ErrFull = shard.ErrFull

	// ErrStalled means that at some moment during the call no slot was free, and removed slots
	// were still waiting. Each waited for a guard that was pinned before its removal returned, for a
	// loop, which pins one, for a Ref, or for a call of Hold under way, even one that will fail: that
	// counts as a Ref meanwhile. So fewer than Capacity values may be live.
	//
	// ErrStalled wraps ErrFull. Test it with errors.Is. Its text shows the figures of the moment
	// at which Error is called. The error keeps the pool reachable.
	ErrStalled = shard.ErrStalled

	// ErrExhausted means that the pool has had MaxCapacity slots, and that each has used up its
	// generations. All later insertions fail too. ErrExhausted wraps ErrFull.
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
