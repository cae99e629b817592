package shard

// Slots that were never used are handed out from a range, not linked into a list
// first: filling a pool then touches each slot once.

// Fresh takes a slot that was never used from the shard's range, and returns it
// with the handle that it will have, or nil. It costs one locked instruction.
func (s *Shard[T]) Fresh() (*Slot[T], uint64) {
	i, _ := s.FreshRun(1)
	if i == None {
		return nil, 0
	}
	return s.space.Slot(i), Pack(s.space.First, i)
}

// FreshRun takes up to n such slots: count of them from index first.
func (s *Shard[T]) FreshRun(n int) (first uint32, count int) {
	for {
		f := s.fresh.Load()
		next, end := Generation(f), Low(f)
		if next >= end {
			return None, 0
		}
		count = int(min(uint32(n), end-next))
		// Success proves that the range is the one that was read: ranges are
		// disjoint, so no two of them hold the same next and end. Failure means
		// that somebody was given slots.
		if s.fresh.CompareAndSwap(f, f+uint64(count)<<32) {
			return next, count
		}
	}
}

// unclaimed returns how many slots are left in the range.
func (s *Shard[T]) unclaimed() int {
	f := s.fresh.Load()
	return int(max(0, int64(Low(f))-int64(Generation(f))))
}

// Refill takes a slot that no shard was given yet, and if the shard's range is
// empty, makes the n-1 slots after it the new range. It returns nil when every
// slot that has memory was given to a shard; it does not grow the pool. Under
// FIFO the slot comes with the right to it.
//
// Who finds the token taken takes a single slot past the shard: nobody waits.
// So does everybody when the last slots are near, for a range that is between
// the table and the shard is out of all others' sight, who might find the pool
// full meanwhile.
func (s *Shard[T]) Refill(n uint32) (*Slot[T], uint64) {
	if s.space.Table.left() < lastRanges*uint64(n) || !s.token.CompareAndSwap(0, 1) {
		n = 1
	} else {
		defer s.token.Store(0)
		if s.unclaimed() > 0 {
			n = 1 // looked at under the token: only its holder makes a range
		}
	}
	lo, hi := s.space.Table.Allot(n)
	if lo == hi {
		return nil, 0
	}
	if rest := lo + 1; rest < hi {
		s.fresh.Store(Pack(rest, hi))
		if s.fifo {
			s.GiveCredit(int64(hi - rest))
		}
	}
	return s.space.Slot(lo), Pack(s.space.First, lo)
}

// lastRanges is how many ranges of slots there must be for one to be given away
// whole.
const lastRanges = 16
