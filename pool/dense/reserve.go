package dense

// Reserve makes room for n values in all, or for Cap if that is less. It never shrinks the store.
// It panics if n is negative. While there are at most n values, created and killed ones included,
// the store allocates little: 4 bytes for each slot that waits, and slots that replace exhausted
// ones.
//
// Reserve moves the values. So like Refresh it must have the Store to itself, and what Values and
// Get have returned becomes invalid. Handles stay valid; created and killed values stay so.
func (s *Store[T]) Reserve(n int) {
	if n < 0 {
		panic("dense: Reserve of a negative number")
	}
	s.phase.begin("Reserve")
	defer s.phase.end() // also when the allocation panics
	n = min(n, int(s.limit))
	s.resize(n, n+s.exhausted)
}
