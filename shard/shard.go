package shard

import (
	"coatcheck/internal/atom"
)

// shard has some of an arena's vacant slots.
//
// The words that insertions write (free, fresh) lie apart from those that removals write
// (limbo). So a producer and a consumer on one shard contend only when slots change hands.
type shard[T any] struct {
	// free is the freelist: the generation and index of its top slot (LIFO) or of the queue's
	// first (FIFO), or None.
	//
	//	writers  Pop, popRun and takeList, by compare-and-swap; push and splice, for any
	//	         shard; put, under the lock of a queue that has no slot
	//	readers  the same
	//	moves    see stack.go and queue.go
	//	orders   a push publishes that the slot was cleaned (P3)
	free atom.Uint64

	// fresh is a range of slots that were never used: next | end.
	//
	//	writers  freshRun, by compare-and-swap; refill, under filling, when it is empty
	//	readers  the same
	//	moves    next grows to end; then another range, disjoint from all before
	fresh atom.Uint64

	// ahead is how many slots the shard took from new memory while others had some.
	//
	//	writers  search
	//	readers  mayGoAhead
	ahead atom.Uint32

	fifo  bool   // a copy of Config.FIFO
	at    uint32 // the shard's number
	arena *Arena[T]
	list  freelist[T]
	_     [128 - 7*8]byte

	// limbo is the stack of removed slots: how many, and the index of the last.
	//
	//	writers  Remove, retire and pushLimbo push by compare-and-swap; seal takes all
	//	         with a swap
	//	readers  unlink, for the link that it writes; waiting
	//	moves    nothing is popped, so there is no ABA: a push that succeeds found
	//	         the top that it linked to
	//	orders   the push publishes the unlinking to seal (P7)
	limbo atom.Uint64

	// latest is the greatest stamp of a slot in limbo, if Arena.exact asks for stamps of
	// removals.
	//
	//	writers  noteStamp, raising it before the push
	//	readers  seal, after it has taken limbo
	latest atom.Uint64

	// left is how many slots of the sealed batches are not reclaimed yet.
	//
	//	writers  seal (+); move and resetSome (−), when the slots are elsewhere
	//	readers  pending, waiting, due, blocked
	left atom.Uint32

	// filling is held by the one goroutine that gives the shard a new range. No goroutine
	// waits for it.
	filling atom.Mutex

	// seals numbers the batches.
	//
	//	writers  seal; append; pushBack
	//	readers  goal, bare
	seals atom.Uint32

	sealed [sealedMost]batch[T]
	resets resets
	_      [64]byte

	// misses counts failed compare-and-swaps, at their own shard, of goroutines whose hints
	// lead here. salt, if not 0, sends these goroutines to another shard. They read it in each
	// operation, so it lies apart from what changes.
	//
	//	writers  contend
	//	readers  Local; contend
	misses atom.Uint32
	salt   atom.Uint32
	_      [120]byte
}

// emptyList is the head of a list without slots.
const emptyList = uint64(None)

// attach makes s an empty shard of a, with number at.
func (s *shard[T]) attach(a *Arena[T], at int) {
	s.arena, s.fifo, s.at = a, a.FIFO, uint32(at)
	s.free.Store(emptyList)
	s.limbo.Store(emptyList)
	for k := range s.sealed {
		s.sealed[k].word.Store(emptyList)
	}
	if s.list = (stack[T]{of: s}); s.fifo {
		s.list = &queue[T]{of: s, tail: None}
	}
}

// pending returns how many slots were removed and not reclaimed yet.
func (s *shard[T]) pending() int {
	return int(Generation(s.limbo.Load())) + int(s.left.Load()) + s.underReset()
}

// waiting is pending without the slots in Resets, and 0 if so many Resets are under way that
// no more begin: no insertion may wait for user code.
func (s *shard[T]) waiting() int {
	if s.resetting() {
		return 0
	}
	return int(Generation(s.limbo.Load())) + int(s.left.Load())
}

// blocked reports whether batches had slots left when the shard was last reclaimed, because
// their grace period was not over.
func (s *shard[T]) blocked() bool { return s.left.Load() > 0 }

// bare reports whether the shard has no slot for an insertion.
func (s *shard[T]) bare() bool {
	return s.unclaimed() == 0 && s.list.bare()
}

// Slots that were never used are handed out from a range, so that filling a pool visits each
// slot once. So are those of a page that came back after a Trim; their words have the
// generation from which they go on (I11).

// takeFresh takes a slot from the shard's range, and returns it with the handle that it will
// have, or nil. It costs one locked instruction.
func (s *shard[T]) takeFresh() (*Slot[T], uint64) {
	i, _ := s.freshRun(1)
	if i == None {
		return nil, 0
	}
	return s.arena.firstLife(i)
}

// firstLife returns slot i, of a range, and the handle that it will have.
func (a *Arena[T]) firstLife(i uint32) (*Slot[T], uint64) {
	slot := a.slot(i)
	return slot, Pack(a.vacant(slot)+1, i)
}

// vacant returns the generation of a slot that the caller owns. A word that was never written
// stands for the generation before the first.
func (a *Arena[T]) vacant(slot *Slot[T]) uint32 {
	if g := Generation(slot.Word.Load()); g != 0 {
		return g
	}
	return a.First - 1
}

// freshRun takes up to n slots from the range: count of them from index first.
func (s *shard[T]) freshRun(n int) (first uint32, count int) {
	for {
		f := s.fresh.Load()
		next, end := Generation(f), Low(f)
		if next >= end {
			return None, 0
		}
		count = int(min(uint32(n), end-next))
		// Success gives the first slots of the range that was read, or of a later range of the
		// same page that looks the same, which is as good. Failure means that another
		// goroutine was given slots.
		if s.fresh.CompareAndSwap(f, f+uint64(count)<<32) {
			return next, count
		}
	}
}

// unclaimed returns how many slots are left in the range.
func (s *shard[T]) unclaimed() int { return int(rangeLen(s.fresh.Load())) }

// refill takes a slot that no shard was given yet. If the shard's range is empty, the n-1
// slots after it become the new range. It returns nil if every slot that has memory was given
// to a shard; it does not grow the pool.
//
// If another goroutine is making a range, refill takes one slot directly from the table, so it
// never waits. So it does when few slots are left: a range on its way from table to shard is
// hidden from other insertions, which might then find the pool full.
func (s *shard[T]) refill(n uint32) (*Slot[T], uint64) {
	a := s.arena
	if a.Table.Left() < lastRanges*uint64(n) || !s.filling.TryLock() {
		n = 1
	} else {
		defer s.filling.Unlock()
		if s.unclaimed() > 0 {
			n = 1 // checked under the lock: only its holder makes a range
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
	return a.firstLife(lo)
}

// lastRanges is how many ranges of slots must be left for one to be given away whole.
const lastRanges = 16
