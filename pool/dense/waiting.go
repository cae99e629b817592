package dense

// The slots that came free wait for the next values on a stack of their indexes:
//
//	waiting   0 ………………… waits ………………… len
//	          next to be    spare
//	          reused last ◀── first
//
// During a phase nothing is popped. The first value created takes the slot at the top, the second
// the one below it, and so on: a position is claimed, and with it a slot. When all have been taken,
// new slots follow, by their indexes. Refresh then lowers the top, and pushes the slots
// that it frees, so that the one of the first dead value comes first.
//
// A slot on the stack keeps its last generation, which is even. The handle that it will issue has
// the next one.
//
// The naive Store has a pool of positions inside. Here slots come free in Refresh alone, so a
// position claimed is a slot claimed: no freelist, no ABA, no guard, no limbo. With a pool of
// positions, Refresh took 2.5 to 8 times a plain pass of compaction. Values and slots have arrays
// of their own, since an exhausted slot stays, and there may be more slots than values after a
// peak.

// next returns the index of the slot for position n, which was claimed in this phase.
func (s *Store[T]) next(n uint64) uint32 {
	before := int(n) - s.base // claimed before it
	i := s.waits - 1 - before
	if i < 0 {
		return uint32(s.used - 1 - i)
	}
	w := *s.waiting.Load()
	if i >= len(w) {
		overlapped("Create") // what was read above is of two phases
	}
	return w[i]
}

// claimed returns how many slots the positions from base on have: those that waited, and those that
// were new.
func (s *Store[T]) claimed() (waited, fresh int) {
	n := max(s.taken()-s.base, 0) // less than 0 only after a call overlapped a Refresh
	waited = min(n, s.waits)
	return waited, n - waited
}

// fold takes the slots of all claimed positions off the waiting ones, so that the next position gets
// the slot at the top. The caller has the Store to itself.
func (s *Store[T]) fold() {
	waited, fresh := s.claimed()
	s.waits -= waited
	s.used += fresh
	s.base = s.taken()
	s.placed = min(s.placed, s.waits)
}

// taken returns how many positions are claimed. The tail is above the limit only while a
// Create is about to fail.
func (s *Store[T]) taken() int { return int(min(s.tail.Load(), s.limit)) }

// wait makes w the waiting slots.
func (s *Store[T]) wait(w []uint32) {
	s.waits = len(w)
	if cap(w) > len(*s.waiting.Load()) {
		all := w[:cap(w)]
		s.waiting.Store(&all)
	}
}
