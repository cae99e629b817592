package shard

import (
	"coatcheck/internal/atom"
)

// shard has some of an arena's vacant slots.
//
// The words that insertions write (free, fresh) lie apart from those that removals write
// (limbo). So a producer and a consumer on one shard contend only when slots change hands.
type shard[T any] struct {
	// misses counts failed compare-and-swaps, at their own shard, of goroutines whose hints
	// lead here. salt, if not 0, sends these goroutines to another shard. They read it in each
	// operation, so it lies apart from what changes.
	//
	//	writers  contend
	//	readers  Local; contend
	salt   atom.Uint32
	misses atom.Uint32
	_      [120]byte

	// free is the freelist: the generation and index of its top slot, or None.
	//
	//	writers  Insert, popRun and takeList, by compare-and-swap; push and splice, under a
	//	         shard's lock
	//	readers  the same
	//	moves    see freelist.go
	//	orders   a push publishes that the slot was cleaned (P3)
	free atom.Uint64

	// fresh is a range of slots that were never used: next | end.
	//
	//	writers  freshRun, by compare-and-swap; refill, under mu, when it is empty
	//	readers  the same
	//	moves    next grows to end; then another range, disjoint from all before
	fresh atom.Uint64

	// ahead is how many slots the shard took from new memory while others had some.
	//
	//	writers  search
	//	readers  mayGoAhead
	ahead atom.Uint32

	// searches is how many insertions searched when there was no new memory to be had.
	//
	//	writers  search, which alone reads it
	searches atom.Uint32

	fifo  bool   // a copy of Config.FIFO
	at    uint32 // the shard's number
	arena *Arena[T]
	_     [128 - 5*8]byte

	// limbo is the stack of removed slots: how many, and the index of the last.
	//
	//	writers  Remove, retire and pushLimbo push by compare-and-swap; seal takes all
	//	         with a swap
	//	readers  unlink, for the link that it writes; due
	//	moves    nothing is popped, so there is no ABA: a push that succeeds found
	//	         the top that it linked to
	//	orders   the push publishes the unlinking to seal (P6)
	limbo atom.Uint64
	_     [120]byte

	// mu is held by whatever fills free or fresh, and by seal (I9). No user code runs under
	// it. The fields below, up to held, are read and written under mu alone.
	mu atom.Mutex

	waiting []chunk[T] // sealed parts of limbo in order, the oldest first
	waits   uint32     // how many slots they have
	ready   []chain[T] // slots that have passed and wait for an empty freelist

	seals    uint64 // numbers the chunks
	inResets uint32 // slots in Resets
	runs     int    // runs of Resets that are under way

	// held is how many slots only the holder of mu can make free: those that wait, and those
	// that are ready. Other goroutines go by it to ask for mu, and never conclude from it that
	// there is no slot.
	//
	//	writers  unlock
	//	readers  due, Waiting
	held atom.Uint64
	_    [64]byte
}

// emptyList is the head of a list without slots.
const emptyList = uint64(None)

// attach makes s an empty shard of a, with number at.
func (s *shard[T]) attach(a *Arena[T], at int) {
	s.arena, s.fifo, s.at = a, a.FIFO, uint32(at)
	s.free.Store(emptyList)
	s.limbo.Store(emptyList)
	if a.Fixed {
		s.waiting = make([]chunk[T], 0, chunksMost)
		s.ready = make([]chain[T], 0, readyMost)
	}
}

// unlock ends a time under mu, and says what the shard keeps.
func (s *shard[T]) unlock() {
	ready := uint32(0)
	for i := range s.ready {
		ready += s.ready[i].n
	}
	if held := Pack(s.waits, ready); held != s.held.Load() {
		s.held.Store(held)
	}
	s.mu.Unlock()
}

// pending returns about how many slots wait for their grace period, and about how many have
// passed and are not in the freelist.
func (s *shard[T]) pending() (waiting, ready int) {
	held := s.held.Load()
	return int(Generation(s.limbo.Load())) + int(Generation(held)), int(Low(held))
}

// due reports whether the shard has slots that are ready, or at least n that wait.
func (s *shard[T]) due(n int) bool {
	waiting, ready := s.pending()
	return ready > 0 || waiting >= n
}

// Slots that were never used are handed out from a range, so that filling a pool visits each
// slot once. So are those of a page that came back after a Trim; their words have the
// generation from which they go on (I11).

// takeFresh takes a slot from the shard's range, and returns it with the handle that it will
// have, or nil. It costs one locked instruction.
func (s *shard[T]) takeFresh() (*Slot[T], uint64) {
	i, n := s.freshRun(1)
	if n == 0 {
		return nil, 0
	}
	return s.arena.firstLife(i)
}

// firstLife returns slot i, of a range, and the handle that it will have.
func (a *Arena[T]) firstLife(i uint32) (*Slot[T], uint64) {
	slot := a.slot(i)
	return slot, Pack(a.vacant(slot.Word.Load())+1, i)
}

// vacant returns the generation of the word of a slot that is not live. A word that was never
// written stands for the generation before the first.
func (a *Arena[T]) vacant(word uint64) uint32 { return max(Generation(word), a.First-1) }

// freshRun takes up to n slots from the range: count of them from index first.
func (s *shard[T]) freshRun(n int) (first uint32, count int) {
	for {
		f := s.fresh.Load()
		count = min(n, int(rangeLen(f)))
		// Success gives the first slots of the range that was read, or of a later range of the
		// same page that looks the same, which is as good. Failure means that another
		// goroutine was given slots.
		if count == 0 || s.fresh.CompareAndSwap(f, f+uint64(count)<<32) {
			return Generation(f), count
		}
	}
}

// unclaimed returns how many slots are left in the range.
func (s *shard[T]) unclaimed() int { return int(rangeLen(s.fresh.Load())) }

// refill takes a slot that no shard was given yet. If the shard's range is empty, the n-1
// slots after it become the new range. It returns nil if every slot that has memory was given
// to a shard; it does not grow the pool.
//
// If another goroutine has the lock, refill takes one slot directly from the table, so it
// never waits.
func (s *shard[T]) refill(n uint32) (*Slot[T], uint64) {
	a := s.arena
	if !s.mu.TryLock() {
		n = 1
	} else {
		defer s.mu.Unlock()
		if s.unclaimed() > 0 {
			n = 1 // checked under the lock: only its holder makes a range
		}
	}
	lo, hi := a.Table.Allot(n)
	if lo == hi {
		return nil, 0
	}
	s.setHome(lo, hi)
	if rest := lo + 1; rest < hi {
		s.fresh.Store(Pack(rest, hi))
	}
	return a.firstLife(lo)
}
