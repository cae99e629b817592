package dense

import (
	"errors"

	"coatcheck/pool"
)

// Ptr is a handle with its Store, for code that does not know the Store. It has two words, and
// can be copied and compared. A zero Ptr is not alive. Any number of goroutines may use a Ptr at
// once, whenever they may call its Store.
type Ptr[T any] struct {
	Store  *Store[T]
	Handle pool.Handle[T]
}

// Ptr returns h with its Store, whether or not h names anything.
func (s *Store[T]) Ptr(h pool.Handle[T]) Ptr[T] {
	s.phase.leave("Ptr", s.phase.enter("Ptr"))
	return Ptr[T]{s, h}
}

// MarshalText returns an error, because a store has no text. So encoding/json refuses a Ptr.
// Write the Handle instead, and call [Store.Ptr] where it is read.
func (q Ptr[T]) MarshalText() ([]byte, error) { return nil, errPtrText }

// UnmarshalText returns an error, as MarshalText does.
func (q *Ptr[T]) UnmarshalText([]byte) error { return errPtrText }

var errPtrText = errors.New("dense: a Ptr has no text: write its Handle")

// Get returns a copy of the value; see [Store.Get].
func (q Ptr[T]) Get() (v T, ok bool) {
	if q.Store != nil {
		v, ok = q.Store.Get(q.Handle)
	}
	return
}

// Pointer returns a pointer to the value; see [Store.Pointer].
func (q Ptr[T]) Pointer() (v *T, ok bool) {
	if q.Store != nil {
		v, ok = q.Store.Pointer(q.Handle)
	}
	return
}

// Alive reports whether Pointer finds the value; see [Store.Alive].
func (q Ptr[T]) Alive() bool { return q.Store != nil && q.Store.Alive(q.Handle) }

// State returns the state of the value; see [Store.State].
func (q Ptr[T]) State() State {
	if q.Store == nil {
		return Unused
	}
	return q.Store.State(q.Handle)
}

// Kill marks the value as dead, and reports whether this call did; see [Store.Kill].
func (q Ptr[T]) Kill() bool { return q.Store != nil && q.Store.Kill(q.Handle) }
