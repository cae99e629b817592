package dense

// Reserve makes room for n values in all, or for Cap if that is less. While there are no
// more than n, created and killed ones included, the store allocates only scratch for
// Refresh, 8 bytes for each value that dies in a phase. It never shrinks the store. It
// panics if n is negative.
//
// It moves the values, so like Refresh it must have the Store to itself, and what Values
// and Get have returned becomes invalid. Handles stay valid; created and killed values
// stay so.
func (s *Store[T]) Reserve(n int) {
	if n < 0 {
		panic("dense: Reserve of a negative number")
	}
	s.phase.begin("Reserve")
	defer s.phase.end() // also when the allocation panics
	d := s.room.Load()
	used := s.used()
	// An exhausted slot takes a place in the array that no value can have.
	if n = min(n, d.most-s.exhausted) + s.exhausted; n > len(d.values) {
		s.room.Store(d.resized(max(n, used), used))
	}
}

// used returns the number of positions and slots that were ever used; every index is
// less.
func (s *Store[T]) used() int { return max(s.taken(), s.fresh) + s.exhausted }

// taken returns how many positions are claimed. The tail is above the limit only while a
// Create is about to fail.
func (s *Store[T]) taken() int { return int(min(s.tail.Load(), s.limit)) }
