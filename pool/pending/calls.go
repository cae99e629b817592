package pending

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// ErrClosed stands for an error that is nil in Fail, FailAll and Close.
var ErrClosed = errors.New("pending: the calls are closed")

// Options are the options of [New].
type Options struct {
	Capacity int // the greatest number of calls that have not ended; 0 means pool.MaxCapacity
}

// Calls are the calls of one connection, whose answers have the type T.
//
// Any number of goroutines may use a Calls at once. [New] returns one; a zero Calls panics.
// It must not be copied, and need not be closed.
type Calls[T any] struct {
	live    *pool.Pool[chan answer[T]] // where the outstanding calls wait
	waiters sync.Pool                  // of *waiter[T], to be used again
	closed  atom.Pointer[error]        // refers to the first Close's error; nil before
}

// waiter is where one call after the other waits.
type waiter[T any] struct {
	calls  *Calls[T]
	answer chan answer[T] // with room for one
	timer  *time.Timer    // of WaitTimeout; nil before the first
	id     atom.Uint64    // the call's, stored by Start; 0 once a goroutine claims to wait
}

type answer[T any] struct {
	value T
	err   error
}

// New returns an empty Calls. If opts is nil, it uses the defaults. It panics if the
// Capacity is negative or too large.
func New[T any](opts *Options) *Calls[T] {
	var o pool.Options[chan answer[T]]
	if opts != nil {
		o.Capacity = opts.Capacity
	}
	c := &Calls[T]{live: pool.Must(&o)}
	c.waiters.New = func() any { return &waiter[T]{calls: c, answer: make(chan answer[T], 1)} }
	return c
}

// Start starts a call. After Close it returns Close's error. With Capacity calls
// outstanding the error is pool.ErrFull. It is pool.ErrExhausted when the ids have been used
// up, after at least 2^30 calls for each of the Capacity.
func (c *Calls[T]) Start() (Call[T], error) {
	if c.live == nil {
		panic("pending: use of a zero Calls; get one from New")
	}
	w := c.waiters.Get().(*waiter[T])
	h, err := c.live.Insert(w.answer)
	// Either Close finds the call, or Start finds closed. So the insertion must be visible
	// before closed is loaded: this store is the locked instruction between them. If the
	// insertion was refused, h is zero and names nothing.
	w.id.Store(uint64(h))
	if closed := c.closed.Load(); closed != nil {
		c.live.Remove(h) // or another takes it, and its answer is not received
		return Call[T]{}, *closed
	}
	if err != nil {
		c.waiters.Put(w)
		return Call[T]{}, err
	}
	return Call[T]{w, uint64(h)}, nil
}

// Deliver ends the call with that id, whose Wait returns v. It returns false if the call has
// ended, or if there was none. It never blocks.
func (c *Calls[T]) Deliver(id uint64, v T) bool { return c.end(id, answer[T]{value: v}) }

// Fail is like Deliver, but Wait returns err.
func (c *Calls[T]) Fail(id uint64, err error) bool { return c.end(id, failure[T](err)) }

// end takes the handle, and then sends. The channel is empty, so the send does not block.
func (c *Calls[T]) end(id uint64, a answer[T]) bool {
	waits, ok := c.live.Take(pool.Handle[chan answer[T]](id))
	if ok {
		waits <- a
	}
	return ok
}

// FailAll fails all outstanding calls, and returns how many. One that starts meanwhile may
// stay. It reads every slot that has memory, as Len does.
func (c *Calls[T]) FailAll(err error) (n int) {
	for _, waits := range c.live.Drain() {
		waits <- failure[T](err)
		n++
	}
	return n
}

// Close fails all outstanding calls with err, which Start returns from then on. A second
// Close changes nothing.
func (c *Calls[T]) Close(err error) {
	err = cmp.Or(err, ErrClosed)
	c.closed.CompareAndSwap(nil, &err)
	c.FailAll(*c.closed.Load())
}

// Len returns the number of outstanding calls.
func (c *Calls[T]) Len() int { return c.live.Len() }

// failure returns the answer that is an error.
func failure[T any](err error) answer[T] { return answer[T]{err: cmp.Or(err, ErrClosed)} }
