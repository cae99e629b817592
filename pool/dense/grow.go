package dense

// Grow makes room for n values more than there are, created and killed ones included, or for Cap
// if that is less. It never shrinks the store. It panics if n is negative. Until the room is used
// up, the store allocates little: 4 bytes for each slot that waits, and slots that replace
// exhausted ones.
//
// Grow moves the values. So like Refresh it must have the Store to itself, and what Values and
// Pointer have returned becomes invalid. Handles stay valid; created and killed values stay so.
func (s *Store[T]) Grow(n int) {
	if n < 0 {
		panic("dense: Grow by a negative number")
	}
	s.phase.begin("Grow")
	defer s.phase.end() // also when the allocation panics
	taken, allocated := s.taken(), len(s.room.Load().values)
	if n = taken + min(n, int(s.limit)-taken); n > allocated {
		n = max(n, min(s.grown(allocated), int(s.limit))) // so that many small steps move the values seldom
	}
	s.resize(n, n+s.exhausted)
}
