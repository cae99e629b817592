package dense

import (
	"fmt"
	"iter"

	"coatcheck/pool"
)

// Values returns the values that were alive at the last Refresh, contiguous and in order (unless
// Unordered). It includes values killed since then, but none created since then. It costs
// nothing: the slice is the store's own memory, valid until the next Refresh, Clear, Grow,
// SortFunc or Trim. You may write its elements; append copies it.
//
// Do not sort the slice or move its elements: each handle names a place, and would silently name
// another value. [Store.SortFunc] sorts.
//
// To divide a loop among goroutines, give each a part of the slice.
func (s *Store[T]) Values() []T {
	w := s.phase.enter("Values")
	d, n := s.room.Load(), s.alive
	s.phase.leave("Values", w)
	return d.values[:n:n]
}

// Handles returns the handles of Values, in the same order: Handles()[i] names Values()[i]. The
// slice is read-only, and valid as long as that of Values.
func (s *Store[T]) Handles() []pool.Handle[T] {
	w := s.phase.enter("Handles")
	d, n := s.room.Load(), s.alive
	s.phase.leave("Handles", w)
	return d.handles[:n:n]
}

// All returns an iterator over Values with their handles. The body may create and kill, which
// does not change the loop. If the body calls Refresh, the loop panics.
func (s *Store[T]) All() iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		w := s.phase.enter("All")
		d, n := s.room.Load(), s.alive
		s.phase.leave("All", w)
		values, handles := d.values[:n], d.handles[:n]
		for i := range values {
			ok := yield(handles[i], &values[i])
			s.phase.leave("All", w)
			if !ok {
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

// Cap returns the greatest number of values: Options.Capacity, or pool.MaxCapacity if it is 0.
// [Store.Allocated] returns how many values there is memory for.
func (s *Store[T]) Cap() int {
	w := s.phase.enter("Cap")
	n := s.capacity
	s.phase.leave("Cap", w)
	return n
}

// String returns the type of s, how many values there are, those included that Refresh will destroy,
// and how many there is memory for, in a text for people. It may be called at any time, also beside
// a Refresh.
func (s *Store[T]) String() string {
	d := s.room.Load()
	if d == nil {
		return fmt.Sprintf("%T: a zero Store", s)
	}
	return fmt.Sprintf("%T: %d values, memory for %d", s, s.count(), len(d.values))
}

// count returns how many values there are, for calls that come at any time: it reads no limit below the Capacity.
func (s *Store[T]) count() int { return int(min(s.tail.Load(), uint64(s.capacity))) }

// Stats returns the store's figures in the form of a pool's, for package poolhttp. Live is how many
// values there are, those included that Refresh will destroy, and Allocated is how many there is
// memory for. The others are 0, except for Free, Capacity and Bytes. Like String, it may be called at
// any time.
func (s *Store[T]) Stats() pool.Stats {
	d := s.room.Load()
	if d == nil {
		s.phase.refuse("Stats")
	}
	n := s.count()
	allocated := max(n, len(d.values))
	return pool.Stats{
		Live: n, Free: allocated - n, Allocated: allocated, Capacity: s.capacity,
		Bytes: d.bytes(n, len(d.slots)) + 4*int64(len(*s.waiting.Load())),
	}
}

// Allocated returns how many values the array has memory for, those in Values included. So right
// after a Refresh, the next Allocated minus Len values that are created allocate nothing. Values that
// were created since the Refresh take their part of these, also if they were killed.
func (s *Store[T]) Allocated() int {
	w := s.phase.enter("Allocated")
	d := s.room.Load()
	n := min(len(d.values), len(d.slots)-s.exhausted)
	s.phase.leave("Allocated", w)
	return n
}
