package dense

import (
	"iter"

	"coatcheck/pool"
)

// Values returns the values that were alive at the last Refresh, contiguous and in
// order (unless Unordered): those that were killed since then are among them, those
// that were created are not. It costs nothing; the slice is the store's own memory, good
// until the next Refresh, Clear, Reserve or Trim. Its elements may be written; appending
// copies it.
//
// To share a loop out among goroutines, give each a part of the slice.
func (s *Store[T]) Values() []T {
	w := s.phase.enter("Values")
	d, n := s.room.Load(), s.alive
	s.phase.leave("Values", w)
	return d.values[:n:n]
}

// Handles returns the handles of Values, in the same order: Handles()[i] names
// Values()[i]. It is to be read only, and good as long as Values.
func (s *Store[T]) Handles() []pool.Handle[T] {
	w := s.phase.enter("Handles")
	d, n := s.room.Load(), s.alive
	s.phase.leave("Handles", w)
	return d.handles[:n:n]
}

// All ranges over Values with their handles. The body may create and kill, which changes
// nothing in the loop; it panics if the body calls Refresh.
func (s *Store[T]) All() iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		w := s.phase.enter("All")
		d, n := s.room.Load(), s.alive
		s.phase.leave("All", w)
		values, handles := d.values[:n], d.handles[:n]
		for i := range values {
			more := yield(handles[i], &values[i])
			s.phase.leave("All", w)
			if !more {
				return
			}
		}
	}
}

// Len returns how many values there are in Values.
func (s *Store[T]) Len() int {
	w := s.phase.enter("Len")
	n := s.alive
	s.phase.leave("Len", w)
	return n
}

// Pending returns how many values were created and how many were killed since the last
// Refresh: what that would return now. While others create and kill, the numbers are those of
// some moments during the call. It costs a look at the marks of the dead.
func (s *Store[T]) Pending() (created, killed int) {
	w := s.phase.enter("Pending")
	n := s.taken()
	created = n - s.alive
	for _, c := range s.room.Load().parts(n) {
		killed += c.dead.count()
	}
	s.phase.leave("Pending", w)
	return created, killed
}

// Cap returns the greatest number of values: Options.Capacity, or pool.MaxCapacity if
// there is none. [Store.Allocated] tells for how many there is memory.
func (s *Store[T]) Cap() int {
	w := s.phase.enter("Cap")
	n := s.room.Load().most
	s.phase.leave("Cap", w)
	return n
}

// Allocated returns how many values the array has memory for, those in Values included:
// the difference to Len is how many can be created before the next Refresh without an
// allocation of the store's.
func (s *Store[T]) Allocated() int {
	w := s.phase.enter("Allocated")
	n := len(s.room.Load().values) - s.exhausted
	s.phase.leave("Allocated", w)
	return n
}
