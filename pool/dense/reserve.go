package dense

// Reserve makes room for n values in all, or for Cap if that is less. While there are no
// more than n, created and killed ones included, the store allocates only for slots that
// wait to be reused, 4 bytes each, and for those that replace exhausted ones. It never
// shrinks the store. It panics if n is negative.
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
	n = min(n, int(s.limit))
	s.resize(n, n+s.exhausted)
}
