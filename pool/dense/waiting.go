package dense

// A slot that came free waits for a new value. The indexes of all that wait are a stack:
//
//	waiting   0 ………………… waits ………………… len
//	          next to be    spare
//	          reused last ◀── first
//
// During a phase nothing is popped. Create claims a position by one addition. The first position of
// the phase gets the slot at the top, the second the one below it, and so on. When all that wait have
// been taken, new slots follow, in the order of their indexes. Refresh lowers the top by what was
// taken, and pushes the slots that it frees. It pushes that of the first dead value last, so this slot
// is the next to be used.
//
// A slot on the stack keeps its last generation, which is even. Its next handle has the generation
// after that.
//
// The naive Store takes positions from a pool. A pool's slots come free at any moment, so it needs
// freelists, guards and limbo. Here slots come free in Refresh alone, and whoever claims a position has
// a slot. There is no freelist, no ABA, no guard and no limbo. With a pool of positions, Refresh took
// 2.5 to 8 times as long as a plain pass of compaction: removals went through lists, where each step
// waits for the cache miss of the one before.

// next returns the index of the slot that belongs to position n, which was claimed in this phase.
func (s *Store[T]) next(n uint64) uint32 {
	earlier := int(n) - s.base // claimed before it
	i := s.waits - 1 - earlier
	if i < 0 {
		return uint32(s.used - 1 - i)
	}
	w := *s.waiting.Load()
	if i >= len(w) {
		overlapped("Create") // what was read above is of two phases
	}
	return w[i]
}

// claimed returns how many slots the positions from base on have taken: how many of them waited, and
// how many were new.
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
	s.ranked = min(s.ranked, s.waits)
}

// taken returns how many positions are claimed. The tail exceeds the limit only while a Create is
// about to fail.
func (s *Store[T]) taken() int { return int(min(s.tail.Load(), s.limit)) }

// wait makes w the waiting slots.
func (s *Store[T]) wait(w []uint32) {
	s.waits = len(w)
	if cap(w) > len(*s.waiting.Load()) {
		whole := w[:cap(w)]
		s.waiting.Store(&whole)
	}
}
