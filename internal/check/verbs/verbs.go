// Package verbs is the table of a pool's operations. The model test of package pool, the
// storms, the histories that are judged for linearizability and the programs whose
// schedules are explored draw their operations from it. To add an operation, add an entry.
// It is for tests alone.
//
// An entry states what the operation needs, calls it, and translates its results into reports on
// one handle after the other: this one was removed, with that value. What a report may say, and
// after which others, is specified once (life.go). A [Judge] gets the reports. The model of the
// calls of one goroutine knows the only right one (model.go), a storm knows what each goroutine
// owns, an explored program what may be under way, and a history is judged when it is complete.
// None of them asks which verb it was, and none excuses anything in general, such as any refusal under a guard.
package verbs

import (
	"context"
	"errors"
	"iter"

	"coatcheck/pool"
)

// Shared is what a Pool and a Worker have in common.
type Shared[T any] interface {
	Insert(v T) (pool.Handle[T], error)
	InsertFunc(init func(h pool.Handle[T], v *T)) (pool.Handle[T], error)
	TryInsertFunc(init func(h pool.Handle[T], v *T) error) (pool.Handle[T], error)
	InsertWait(ctx context.Context, v T) (pool.Handle[T], error)
	Remove(h pool.Handle[T]) bool
	Take(h pool.Handle[T]) (T, bool)
}

// Subject is a Pool, or a wrapper around one.
type Subject[T any] interface {
	Shared[T]
	InsertFuncWait(ctx context.Context, init func(h pool.Handle[T], v *T)) (pool.Handle[T], error)
	Reserve() (*pool.Reservation[T], error)
	ReserveWait(ctx context.Context) (*pool.Reservation[T], error)
	Get(h pool.Handle[T]) (T, bool)
	MustGet(h pool.Handle[T]) T
	View(h pool.Handle[T], f func(*T)) bool
	Contains(h pool.Handle[T]) bool
	At(index uint32) (pool.Handle[T], bool)
	Pointer(h pool.Handle[T]) (*T, bool)
	Pin() pool.Guard[T]
	RemoveBatch(hs []pool.Handle[T]) int
	Hold(h pool.Handle[T]) (*pool.Ref[T], bool)
	Ptr(h pool.Handle[T]) pool.Ptr[T]
	Worker() *pool.Worker[T]
	All() iter.Seq2[pool.Handle[T], *T]
	Each(ctx context.Context, workers int, f func(pool.Handle[T], *T) error) error
	Drain() iter.Seq2[pool.Handle[T], T]
	DeleteFunc(del func(pool.Handle[T], *T) bool) int
	Clear() int
	Len() int
	Cap() int
	Grow(n int)
	Trim() int64
	Synchronize(ctx context.Context) error
	Stats() pool.Stats
}

// Kind tells how values of a type are distinguished. A value's number is not zero. The
// number of a value that is not whole is that of no other value.
type Kind[T any] struct {
	Make   func(number uint64) T
	Number func(v *T) uint64
	Blank  func(v *T) bool // whether a constructor may find it so; nil: if its number is zero
}

// Needs is a set of what a verb needs and does.
type Needs uint32

// The first ones are fields that a Call must have set; Number may be zero.
const (
	Handle      Needs = 1 << iota // Handles[0]
	Handles                       // any number of them
	Number                        // N
	Guard                         // Hold, with a guard that is pinned
	Either                        // Hold, with a guard or a Ref
	Reservation                   // Open
	Pins                          // it opens a Hold: a Ref of Handles[0], or a guard if there is no Handle
	Worker                        // a Worker instead of the Pool, whose slots it gives back
	Any                           // a Worker instead of the Pool, or the Pool
	Context                       // Context: until it ends, the verb waits for what was removed to be reclaimed
	Loops                         // it visits all slots
	Sweeps                        // it removes what it visits
	Removes                       // it removes the values of Handles
	Inserts                       // it may be refused
	Calls                         // it has a callback; loops have a body instead
	Under                         // its callback or body runs under a pin
	Cancels                       // it gives up Open
	Spreads                       // N goroutines run its body
	Counts                        // it sets N to the number of values that are live
	Frees                         // it sets N to the number of bytes that it gave back
)

// Verb is an entry of the table.
type Verb[T any] struct {
	Name   string
	Weight int // how often it is drawn
	Needs  Needs
	do     func(c *Call[T])
}

// Call is one operation.
type Call[T any] struct {
	*Verb[T]
	Judge[T]
	Kind[T]
	Pool    Subject[T]
	Via     Shared[T] // nil: the Pool
	Handles []pool.Handle[T]
	// N is a number of values, the most that a loop yields unless it is zero, the goroutines
	// of Each, or the result of Trim or Len.
	N       int
	Context context.Context
	Fails   bool // its constructor fails

	// What it uses, or has opened.
	Hold   *Hold[T]
	Open   *pool.Reservation[T]
	Opened *pool.Worker[T]

	State any // for the judge

	known bool // the handle was shown before the value was inserted
}

// Judge makes the values, and judges the results of calls. Its methods are called after
// Returned, except for what a callback or the body of a loop sees.
type Judge[T any] interface {
	NewNumber() uint64

	Begin(c *Call[T])    // the call begins
	Returned(c *Call[T]) // it has returned

	// Inside is called in a callback, or in the body of a loop.
	Inside(c *Call[T], h pool.Handle[T])

	// Reported is what the call says about h.
	Reported(c *Call[T], h pool.Handle[T], r Report)

	// Others is what it says about every handle that is not in met, at some moment of the call:
	// Look without OK, after a loop that ran to its end, or Sweep.
	Others(c *Call[T], met map[pool.Handle[T]]bool, r Report)

	// Counted is how many values it removed of those of which it said Sweep.
	Counted(c *Call[T], n int)

	// Owned reports whether no other goroutine can have removed h, or can before the call has been
	// reported. Only then a pointer that no guard protects may be followed.
	Owned(c *Call[T], h pool.Handle[T]) bool

	// Condemned is whether DeleteFunc must remove h, which has the value of this number.
	Condemned(c *Call[T], h pool.Handle[T], number uint64) bool

	Refused(c *Call[T], err error) // no slot was found
	Acted(c *Call[T], err error)   // a call that concerns no handle returned

	// Meant reports whether the judge caused a panic on purpose.
	Meant(c *Call[T], panicked any) bool

	// Unseen calls f, whose accesses no other thread can observe, so that they need not be
	// explored.
	Unseen(f func())

	Failf(format string, args ...any)
}

// Idle has methods for a Judge that does not use them. Only ErrMeant is a panic on purpose.
type Idle[T any] struct{}

func (Idle[T]) Returned(*Call[T])                                {}
func (Idle[T]) Inside(*Call[T], pool.Handle[T])                  {}
func (Idle[T]) Others(*Call[T], map[pool.Handle[T]]bool, Report) {}
func (Idle[T]) Acted(*Call[T], error)                            {}
func (Idle[T]) Meant(_ *Call[T], panicked any) bool              { return panicked == ErrMeant }
func (Idle[T]) Unseen(f func())                                  { f() }

// ErrMeant is the error of constructors that fail on purpose.
var ErrMeant = errors.New("meant")

// Hold is a guard or a Ref with the values that it gave.
type Hold[T any] struct {
	Guard pool.Guard[T]
	Ref   *pool.Ref[T] // instead of Guard
	Seen  []Sight[T]
}

// Sight is a value that a guard or Ref gave.
type Sight[T any] struct {
	H      pool.Handle[T]
	V      *T
	Number uint64
}

// Check fails if a value in Seen has changed.
func (k *Hold[T]) Check(j Judge[T], of Kind[T]) {
	for _, s := range k.Seen {
		if n := of.Number(s.V); n != s.Number {
			j.Failf("under one guard or Ref, the value of %v was %d and is %d", s.H, s.Number, n)
		}
	}
}

// Do runs the call.
func (c *Call[T]) Do() {
	if c.Via == nil {
		c.Via = c.Pool
	}
	c.do(c)
}

// List is a list of verbs.
type List[T any] []Verb[T]

// Named returns the verb with this name.
func (l List[T]) Named(name string) *Verb[T] {
	for i := range l {
		if l[i].Name == name {
			return &l[i]
		}
	}
	panic("there is no verb " + name)
}

// Draw returns one of the verbs that need all of these and none of those.
func (l List[T]) Draw(intN func(int) int, these, those Needs) (v *Verb[T]) {
	sum := 0
	for i := range l {
		if o := &l[i]; o.Needs&these == these && o.Needs&those == 0 {
			if sum += o.Weight; intN(sum) < o.Weight {
				v = o
			}
		}
	}
	return v
}

// String returns the verb's name, after "Worker." if a Worker is called.
func (c *Call[T]) String() string {
	if _, ok := c.Via.(*pool.Worker[T]); ok && c.Needs&Any != 0 {
		return "Worker." + c.Name
	}
	return c.Name
}
