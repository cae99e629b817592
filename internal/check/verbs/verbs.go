// Package verbs is the table of what can be done to a pool. The model test of package
// pool, the storms, the histories that are judged for linearizability and the programs
// whose schedules are explored draw their operations from it: to add an operation, add an
// entry. It is for tests alone.
//
// An entry says what it needs, does it, and tells a [Judge] what the pool answered,
// one handle after the other. What is right is the judge's affair: the model knows
// the only answer there is, a storm what each goroutine owns, and a history is
// judged when it is whole.
package verbs

import (
	"context"
	"errors"
	"iter"
	"slices"

	"coatcheck/pool"
)

// Shared is what a Pool and a Worker have in common.
type Shared[T any] interface {
	Insert(v T) (pool.Handle[T], error)
	InsertFunc(init func(h pool.Handle[T], v *T)) (pool.Handle[T], error)
	TryInsertFunc(init func(h pool.Handle[T], v *T) error) (pool.Handle[T], error)
	Get(h pool.Handle[T]) (T, bool)
	Remove(h pool.Handle[T]) bool
	Take(h pool.Handle[T]) (T, bool)
	Pin() pool.Guard[T]
}

// Subject is a Pool, or what is put in its place.
type Subject[T any] interface {
	Shared[T]
	Reserve() (*pool.Reservation[T], error)
	Reserver() *pool.Reserver[T]
	MustGet(h pool.Handle[T]) T
	View(h pool.Handle[T], f func(*T)) bool
	Contains(h pool.Handle[T]) bool
	InsertBatch(vs []T, dst []pool.Handle[T]) ([]pool.Handle[T], error)
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
	Trim() int64
	Grow(n int) error
	Synchronize(ctx context.Context) error
	Stats() pool.Stats
}

// Kind says how values of a type are told apart. A value's number is not zero; that
// of one that is not whole is no other value's.
type Kind[T any] struct {
	Make   func(number uint64) T
	Number func(v *T) uint64
}

// Needs is what a verb asks for, and how it goes about it.
type Needs uint16

// What a Call must have, but for Number, which may be zero.
const (
	Handle      Needs = 1 << iota // Handles[0]
	Handles                       // any number of them
	Number                        // N
	Guard                         // Hold, with a guard that is pinned
	Either                        // Hold, with a guard or a Ref
	Reservation                   // Open
	Pins                          // it opens a Hold
	Worker                        // a Worker in place of the Pool
	Any                           // a Worker in place of the Pool, or the Pool
	Context                       // Context, which ends the wait
	Loops                         // it goes over all slots
	Sweeps                        // it removes what it meets
	Removes                       // it removes Handles
	Inserts                       // it may be refused
	Calls                         // it calls back, as loops do
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
	N       int // how many values, or at most how many a loop yields if it is not zero; how many goroutines Each has; what Trim returned, or Len
	Context context.Context
	Fails   bool // its constructor gives up

	// What it works on, or has opened.
	Hold     *Hold[T]
	Open     *pool.Reservation[T]
	Opened   *pool.Worker[T]
	Reserver *pool.Reserver[T] // nil: a new one

	Known bool // the handle that is inserted was shown before
	State any  // the judge's
}

// Judge makes the values, and is told of all that a call did. It is told after
// Returned, but for what is seen in a callback or the body of a loop.
type Judge[T any] interface {
	NewNumber() uint64

	Begin(c *Call[T])    // the call begins
	Returned(c *Call[T]) // it has returned

	// Inside is what is done in a callback, or in the body of a loop.
	Inside(c *Call[T], h pool.Handle[T])

	Refused(c *Call[T], err error)                       // there was no slot
	Shown(c *Call[T], h pool.Handle[T], v *T)            // a slot that is not live, as a constructor finds it
	Inserted(c *Call[T], h pool.Handle[T], n uint64)     // h is live with this value
	GivenUp(c *Call[T], h pool.Handle[T])                // h was shown and will never be
	Asked(c *Call[T], h pool.Handle[T], ok bool)         // whether h is live
	Looked(c *Call[T], h pool.Handle[T], v *T)           // the same, and the value; nil: it is not
	Removed(c *Call[T], h pool.Handle[T], v *T, ok bool) // whether the call ended h, and the value if it says
	Condemned(c *Call[T], h pool.Handle[T], v *T) bool   // whether DeleteFunc is to remove it
	Counted(c *Call[T], n int)                           // so many were removed: of Handles, condemned, or of all
	Ranged(c *Call[T], met map[pool.Handle[T]]bool)      // a loop has yielded all that it yields
	Acted(c *Call[T], err error)                         // what concerns no handle

	// Meant reports whether a panic is one that was meant to reach the call.
	Meant(c *Call[T], panicked any) bool

	// Unseen calls f, which looks at what nobody else has: no exploration of schedules
	// need see it.
	Unseen(f func())

	Failf(format string, args ...any)
}

// Idle has the methods of a Judge that has no use for them. It takes ErrMeant alone for
// a panic that was meant.
type Idle[T any] struct{}

func (Idle[T]) Returned(*Call[T])                        {}
func (Idle[T]) Ranged(*Call[T], map[pool.Handle[T]]bool) {}
func (Idle[T]) Acted(*Call[T], error)                    {}
func (Idle[T]) Meant(_ *Call[T], panicked any) bool      { return panicked == ErrMeant }
func (Idle[T]) Unseen(f func())                          { f() }

// ErrMeant is what a constructor fails with that is meant to.
var ErrMeant = errors.New("meant")

// Hold is a guard or a Ref, and what it has shown.
type Hold[T any] struct {
	Guard pool.Guard[T]
	Ref   *pool.Ref[T] // in place of Guard
	Seen  []Sight[T]
}

// Sight is a value that was seen.
type Sight[T any] struct {
	H      pool.Handle[T]
	V      *T
	Number uint64
}

// Check fails if a value that was shown has changed.
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

// List is verbs.
type List[T any] []Verb[T]

// Named returns the verb with this name.
func (l List[T]) Named(name string) *Verb[T] {
	return &l[slices.IndexFunc(l, func(v Verb[T]) bool { return v.Name == name })]
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

// String returns the verb's name, with that of a Worker before it.
func (c *Call[T]) String() string {
	if _, ok := c.Via.(*pool.Worker[T]); ok && c.Needs&Any != 0 {
		return "Worker." + c.Name
	}
	return c.Name
}
