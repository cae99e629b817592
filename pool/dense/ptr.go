package dense

import "coatcheck/pool"

// Ptr is a handle with its Store. It is a type of its own, so the compiler tells the
// names of a Store from those of a pool of the same T. The zero Ptr names nothing. It may
// be copied and compared, and costs two words.
type Ptr[T any] struct {
	Store  *Store[T]
	Handle pool.Handle[T]
}

// Ptr returns h with its Store. It does not check whether h names anything.
func (s *Store[T]) Ptr(h pool.Handle[T]) Ptr[T] { return Ptr[T]{s, h} }

// Get returns the value; see [Store.Get].
func (q Ptr[T]) Get() (v *T, ok bool) {
	if q.Store != nil {
		v, ok = q.Store.Get(q.Handle)
	}
	return
}

// Alive reports whether there is a value; see [Store.Alive].
func (q Ptr[T]) Alive() bool { return q.Store != nil && q.Store.Alive(q.Handle) }

// State returns what the value is; see [Store.State].
func (q Ptr[T]) State() (st State) {
	if q.Store != nil {
		st = q.Store.State(q.Handle)
	}
	return
}

// Kill marks the value as dead; see [Store.Kill].
func (q Ptr[T]) Kill() bool { return q.Store != nil && q.Store.Kill(q.Handle) }
