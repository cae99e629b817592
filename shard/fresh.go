package shard

// Slots that were never used are handed out from a range, not linked into a list
// first: filling a pool then touches each slot once. So are those of a page that
// Trim gave up and that came back; their words tell from which generation they go
// on (I11).

// takeFresh takes a slot that was never used from the shard's range, and returns it
// with the handle that it will have, or nil. It costs one locked instruction.
func (s *shard[T]) takeFresh() (*Slot[T], uint64) {
	i, _ := s.freshRun(1)
	if i == None {
		return nil, 0
	}
	slot := s.arena.slot(i)
	return slot, s.arena.firstLife(slot, i)
}

// firstLife returns the handle that slot i, of a range, will have.
func (a *Arena[T]) firstLife(slot *Slot[T], i uint32) uint64 { return Pack(a.vacant(slot)+1, i) }

// vacant returns the generation of a slot that the caller owns. A word that was
// never written stands for the one before the first.
func (a *Arena[T]) vacant(slot *Slot[T]) uint32 {
	if g := Generation(slot.Word.Load()); g != 0 {
		return g
	}
	return a.First - 1
}

// freshRun takes up to n such slots: count of them from index first.
func (s *shard[T]) freshRun(n int) (first uint32, count int) {
	for {
		f := s.fresh.Load()
		next, end := Generation(f), Low(f)
		if next >= end {
			return None, 0
		}
		count = int(min(uint32(n), end-next))
		// Success gives the first slots of a range that looks like the one that
		// was read: it, or a later one of the same page, which is as good.
		// Failure means that somebody was given slots.
		if s.fresh.CompareAndSwap(f, f+uint64(count)<<32) {
			return next, count
		}
	}
}

// unclaimed returns how many slots are left in the range.
func (s *shard[T]) unclaimed() int { return int(rangeLen(s.fresh.Load())) }

// refill takes a slot that no shard was given yet, and if the shard's range is
// empty, makes the n-1 slots after it the new range. It returns nil when every
// slot that has memory was given to a shard; it does not grow the pool.
//
// If another is doing so, it takes a single slot directly from the table and does not
// wait. So does everybody when the last slots are near, for a range that is between
// the table and the shard is out of all others' sight, who might find the pool
// full meanwhile.
func (s *shard[T]) refill(n uint32) (*Slot[T], uint64) {
	a := s.arena
	if a.Table.Left() < lastRanges*uint64(n) || !s.filling.TryLock() {
		n = 1
	} else {
		defer s.filling.Unlock()
		if s.unclaimed() > 0 {
			n = 1 // looked at under the lock: only its holder makes a range
		}
	}
	lo, hi := a.Table.Allot(n)
	if lo == hi {
		return nil, 0
	}
	s.settle(lo, hi)
	if rest := lo + 1; rest < hi {
		s.fresh.Store(Pack(rest, hi))
	}
	slot := a.slot(lo)
	return slot, a.firstLife(slot, lo)
}

// lastRanges is how many ranges of slots there must be for one to be given away
// whole.
const lastRanges = 16
