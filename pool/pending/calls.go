package pending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// ErrClosed replaces a nil error in Fail, FailAll and Close.
var ErrClosed = errors.New("pending: the calls are closed")

// Options are the options of [New].
type Options struct {
	Capacity int // the greatest number of calls that have not ended; 0 means pool.MaxCapacity

	Shards int // pool.Options.Shards of the table

	// Ages lets All tell how long calls have been open. Each Start then reads the clock, which takes a
	// fifth to a third of the time of a Start, a Deliver and a Wait that does not sleep.
	Ages bool
}

// Calls are the calls of one connection, whose answers have the type T.
//
// Any number of goroutines may use a Calls at once. [New] and [Must] return one; a zero Calls panics. It
// must not be copied, and need not be closed.
type Calls[T any] struct {
	outstanding *pool.Pool[*waiter[T]] // the table of outstanding calls
	waiters     sync.Pool              // of *waiter[T], to be used again
	closed      atom.Pointer[error]    // the error of the first Close; nil before
	created     time.Time              // when New made it; zero without Options.Ages

	mu       atom.Mutex
	sleepers map[*sleeper[T]]context.CancelFunc // under mu: what wakes each StartWait that sleeps
}

// sleeper is the context with which a StartWait waits for a slot. It ends with the user's context, and when
// Close is called. Without it, StartWait could sleep long after a Close: that ends all calls, but an open
// loop of All keeps their slots. Most calls never sleep, so the sleeper makes what wakes it when the table
// asks for Done.
type sleeper[T any] struct {
	context.Context
	calls *Calls[T]
	woken context.Context // nil before Done
}

func (s *sleeper[T]) Done() <-chan struct{} {
	if s.woken == nil {
		woken, wake := context.WithCancel(s.Context)
		s.woken = woken
		s.calls.wakes(s, wake)
	}
	return s.woken.Done()
}

func (s *sleeper[T]) Err() error {
	if s.calls.closed.Load() != nil {
		return context.Canceled
	}
	return s.Context.Err()
}

// wakes notes what wakes a sleeper. Close finds the note, or wakes finds that Close was called.
func (c *Calls[T]) wakes(s *sleeper[T], wake context.CancelFunc) {
	c.mu.Lock()
	if c.sleepers == nil {
		c.sleepers = make(map[*sleeper[T]]context.CancelFunc)
	}
	c.sleepers[s] = wake
	c.mu.Unlock()
	if c.closed.Load() != nil {
		wake()
	}
}

// awake forgets a sleeper whose wait has ended.
func (c *Calls[T]) awake(s *sleeper[T]) {
	if s.woken == nil {
		return
	}
	c.mu.Lock()
	wake := c.sleepers[s]
	delete(c.sleepers, s)
	c.mu.Unlock()
	wake()
}

// waiter has room for the answer of one call, and then serves another.
//
// The goroutine that takes a call's handle out of the table answers, once. Only the waiting side recycles
// the waiter. The naive way has the waiter in the pool's slot, and a Reset that clears it. But Deliver's
// Take frees the slot before the waiting goroutine has its answer, and the next call in that slot would get
// it.
//
// A waiter keeps no channel and no timer. In a test by testing/synctest these belong to one bubble, and the
// next call may be in another. So a Wait that has to sleep makes its own.
type waiter[T any] struct {
	calls   *Calls[T]
	id      atom.Uint64          // the call's, stored by Start; 0 once a goroutine has claimed to wait
	signal  atom.Pointer[signal] // of the call whose Done was called last, or nil
	started atom.Uint64          // nanoseconds from Calls.created to the call's Start, stored by Start if Options.Ages is set

	// state says who writes next.
	//
	//	writers  listen, by compare-and-swap from idle to asleep; put, by a swap to answered; recycle
	//	readers  the same, and giveUp
	//	orders   asleep publishes bell; answered publishes answer
	state  atom.Uint32
	bell   chan struct{} // with room for one; of the Wait that sleeps
	answer answer[T]
}

const (
	idle     uint32 = iota // there is no answer, and nobody sleeps
	asleep                 // whoever answers rings bell, and touches the waiter no more
	answered               // the waiter is the waiting side's alone
)

// put answers the call. The caller has taken its handle.
func (w *waiter[T]) put(a answer[T]) {
	w.answer = a
	if w.state.Swap(answered) == asleep {
		w.bell <- struct{}{}
	}
}

// listen returns the bell that rings when the call is answered, or nil if it is answered already.
func (w *waiter[T]) listen() chan struct{} {
	if w.state.Load() == answered {
		return nil
	}
	bell := make(chan struct{}, 1)
	w.bell = bell
	if !w.state.CompareAndSwap(idle, asleep) { // it was answered meanwhile
		return nil
	}
	return bell
}

// answer is what Wait returns.
type answer[T any] struct {
	value T
	err   error
}

// New returns an empty Calls. If opts is nil, it uses the defaults. If Capacity or Shards is
// negative or too large, it returns an error that says which.
func New[T any](opts *Options) (*Calls[T], error) {
	if opts == nil {
		opts = new(Options)
	}
	outstanding, err := pool.New(&pool.Options[*waiter[T]]{Capacity: opts.Capacity, Shards: opts.Shards})
	if err != nil {
		return nil, errors.New("pending: " + strings.TrimPrefix(err.Error(), "pool: "))
	}
	c := &Calls[T]{outstanding: outstanding}
	if opts.Ages {
		c.created = time.Now()
	}
	c.waiters.New = func() any { return &waiter[T]{calls: c} }
	return c, nil
}

// Must is like [New] but panics if an option is invalid.
func Must[T any](opts *Options) *Calls[T] {
	c, err := New[T](opts)
	if err != nil {
		panic(err)
	}
	return c
}

// table returns the table. It panics for a zero Calls.
func (c *Calls[T]) table() *pool.Pool[*waiter[T]] {
	if c.outstanding == nil {
		panic("pending: use of a zero Calls; get one from New or Must")
	}
	return c.outstanding
}

// Start starts a call. While Capacity calls are outstanding, its error wraps pool.ErrFull. After
// Close it returns Close's error.
func (c *Calls[T]) Start() (Call[T], error) {
	return c.start(context.Background(), c.outstanding.Insert)
}

// StartWait is like Start, but while Capacity calls are outstanding, it waits until one ends.
// Calls that wait are served in the order in which they came. When ctx is done, the error wraps
// ctx's cause and pool.ErrFull. After Close, StartWait returns Close's error.
func (c *Calls[T]) StartWait(ctx context.Context) (Call[T], error) {
	return c.start(ctx, func(w *waiter[T]) (pool.Handle[*waiter[T]], error) {
		s := &sleeper[T]{Context: ctx, calls: c}
		defer c.awake(s)
		return c.outstanding.InsertWait(s, w)
	})
}

// start starts a call. insert inserts its waiter into the table, and may wait until ctx is done.
func (c *Calls[T]) start(ctx context.Context, insert func(*waiter[T]) (pool.Handle[*waiter[T]], error)) (Call[T], error) {
	c.table()
	w := c.waiters.Get().(*waiter[T])
	if !c.created.IsZero() {
		w.started.Store(uint64(time.Since(c.created)))
	}
	h, err := insert(w)
	// Either Close finds the call, or Start finds closed. So the insertion must be visible
	// before closed is loaded: this store is the locked instruction between them. If the
	// insertion was refused, h is zero and names nothing.
	w.id.Store(uint64(h))
	if closed := c.closed.Load(); closed != nil {
		c.outstanding.Remove(h) // or another takes it, and nobody gets its answer
		return Call[T]{}, *closed
	}
	if err != nil {
		c.waiters.Put(w)
		return Call[T]{}, &refusal{err, context.Cause(ctx), c.outstanding.Cap()}
	}
	return Call[T]{w, uint64(h)}, nil
}

// refusal is the error of a Start while Capacity calls are outstanding. The table's own error sends the
// reader to a Pool, which a caller of Start does not have.
type refusal struct {
	err      error // the table's, which wraps pool.ErrFull
	cause    error // of the context that ended the wait, or nil
	capacity int
}

func (r *refusal) Unwrap() error { return r.err }

func (r *refusal) Error() string {
	text := fmt.Sprintf("pending: full; outstanding calls: %d, as many as Capacity", r.capacity)
	if errors.Is(r.err, pool.ErrStalled) {
		text = fmt.Sprintf("pending: full until a loop of All ends, which keeps the places of calls that have ended; Capacity: %d", r.capacity)
	}
	if r.cause != nil {
		text += ": " + r.cause.Error()
	}
	return text
}

// Deliver ends the call with that id, and its Wait returns v. Deliver returns false if the call
// has ended, or if there was none. It never blocks.
func (c *Calls[T]) Deliver(id uint64, v T) bool { return c.end(id, answer[T]{value: v}) }

// Fail is like Deliver, but Wait returns err.
func (c *Calls[T]) Fail(id uint64, err error) bool { return c.end(id, failure[T](err)) }

// end takes the handle of a call, and then answers the call. It reports whether there was one.
func (c *Calls[T]) end(id uint64, a answer[T]) bool {
	w, ok := c.table().Take(pool.Handle[*waiter[T]](id))
	if ok {
		w.ended(id)
		w.put(a)
	}
	return ok
}

// ended closes the channel of the call's Done, if there is one. The caller has taken the handle, and answers
// afterwards: from then on the waiter may serve another call.
func (w *waiter[T]) ended(id uint64) {
	if d := w.signal.Load(); d != nil && d.id == id {
		d.end()
	}
}

// FailAll fails all outstanding calls, and returns how many. A call that starts meanwhile may
// stay outstanding. FailAll reads every slot that has memory.
func (c *Calls[T]) FailAll(err error) (n int) {
	for h, w := range c.table().Drain() {
		w.ended(uint64(h))
		w.put(failure[T](err))
		n++
	}
	return n
}

// Close fails all outstanding calls with err. From then on Start returns err. A second Close
// changes nothing.
func (c *Calls[T]) Close(err error) {
	c.table()
	err = cmp.Or(err, ErrClosed)
	c.closed.CompareAndSwap(nil, &err)
	c.FailAll(*c.closed.Load())
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, wake := range c.sleepers {
		wake()
	}
}

// Len returns the number of outstanding calls. It reads every slot that has memory, which takes 1
// ns for each call of the greatest number that was ever outstanding.
func (c *Calls[T]) Len() int { return c.table().Len() }

// String returns the type of c and how many calls are outstanding, in a text for people.
func (c *Calls[T]) String() string {
	if c.outstanding == nil {
		return fmt.Sprintf("%T: a zero Calls", c)
	}
	return fmt.Sprintf("%T: %d calls", c, c.Len())
}

// failure returns an answer that has an error: err, or ErrClosed if it is nil.
func failure[T any](err error) answer[T] { return answer[T]{err: cmp.Or(err, ErrClosed)} }
