package dense

import (
	"iter"

	"coatcheck/pool"
)

// Values returns the values that were alive at the last Refresh, contiguous and in order
// (unless Unordered). It includes those killed since then, and not those created since
// then. It costs nothing: the slice is the store's own memory, valid until the next
// Refresh, Clear, Reserve, SortFunc or Trim. Its elements may be written; appending copies it.
//
// Do not sort it, or change the order of its elements in another way: each handle names a
// place, and would name another value, which nothing can detect. [Store.SortFunc] sorts.
//
// To divide a loop among goroutines, give each a part of the slice.
func (s *Store[T]) Values() []T {
	w := s.phase.enter("Values")
	d, n := s.room.Load(), s.alive
	s.phase.leave("Values", w)
	return d.values[:n:n]
}

// Handles returns the handles of Values, in the same order: Handles()[i] names
// Values()[i]. It is read-only, and valid as long as Values.
func (s *Store[T]) Handles() []pool.Handle[T] {
	w := s.phase.enter("Handles")
	d, n := s.room.Load(), s.alive
	s.phase.leave("Handles", w)
	return d.handles[:n:n]
}

// All ranges over Values with their handles. The body may create and kill, which changes
// nothing in the loop; the loop panics if the body calls Refresh.
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

// Len returns the length of Values.
func (s *Store[T]) Len() int {
	w := s.phase.enter("Len")
	n := s.alive
	s.phase.leave("Len", w)
	return n
}

// Cap returns the greatest number of values: Options.Capacity, or pool.MaxCapacity if
// there is none. [Store.Allocated] returns how many there is memory for.
func (s *Store[T]) Cap() int {
	w := s.phase.enter("Cap")
	n := s.capacity
	s.phase.leave("Cap", w)
	return n
}

// Allocated returns how many values the array has memory for, those in Values included.
// So the store allocates nothing for the next Allocated minus Len values, if created
// before a Refresh.
func (s *Store[T]) Allocated() int {
	w := s.phase.enter("Allocated")
	d := s.room.Load()
	n := min(len(d.values), len(d.slots)-s.exhausted)
	s.phase.leave("Allocated", w)
	return n
}
