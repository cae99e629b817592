package shard

import (
	"coatcheck/epoch"
	"coatcheck/internal/atom"
)

// shard holds a share of its arena's vacant slots.
//
// The words that insertions write (free, fresh) lie apart from those that removals write
// (limbo). So a producer and a consumer on one shard contend only when slots change hands.
type shard struct {
	free  stack // what is vacant (stack.go)
	fresh run   // what was never used; filled by allocRange, under mu (run.go)

	// ahead is how many slots the shard took from new memory while others had some.
	//
	//	writers  claimUnlocked
	//	readers  mayGoAhead
	ahead atom.Uint32

	// searches is how many insertions searched when there was no new memory to be had.
	//
	//	writers  claimUnlocked, which alone reads it; restore, in a new arena
	searches atom.Uint32

	// savings is what searches have paid for a scan, where there are many pin cells. Only scans uses
	// it.
	savings epoch.Savings

	// unworn is 1 under FIFO until no slot is left that was never used and that the arena may have.
	// Until then nothing is put into free. What is in it when unworn becomes 1 goes first.
	//
	//	writers  takeNeverUsed and refuseRound, as no such slot was found; alloc; restore, in a new arena
	//	readers  pop, refill
	unworn atom.Uint32

	fifo   bool   // a copy of Config.FIFO
	number uint32 // the shard's number
	arena  *Arena
	_      [128 - 6*8]byte

	limbo limbo // what was removed (limbo.go)
	_     [120]byte

	// mu is held by code that fills free or fresh, and by code that seals limbo (I9). No user code
	// runs under it. clearing is locked after it, and by ClearExpired alone (expired.go). The backlog is
	// read and written under both, and by ClearExpired.
	mu         atom.Mutex
	clearing   atom.Mutex
	clearCalls atom.Uint32 // how many there were; written by ClearExpired
	known      known       // of limbo; ClearExpired's, under clearing

	// misses counts how often a goroutine whose hint leads here met another here.
	//
	//	writers  contend, which alone reads it
	misses atom.Uint32

	backlog // what waits, and what is ready (backlog.go)

	// kept is how many slots only the holder of mu can make free: those that wait, and those
	// that are ready. Other goroutines go by it to ask for mu, and never conclude from it that
	// there is no slot.
	//
	//	writers  unlock
	//	readers  pending
	kept atom.Uint64
	_    [64]byte
}

// newShard makes an empty shard of a, with number at.
func (a *Arena) newShard(number int) *shard {
	s := &shard{arena: a, fifo: a.FIFO, number: uint32(number)}
	s.free.head.Store(emptyList)
	s.limbo.head.Store(emptyList)
	s.fences = s.fenceRoom[:0]
	s.frontier.Init(a.Domain, a.Replays)
	if s.fifo {
		s.unworn.Store(1)
	}
	if a.Fixed {
		s.waiting = timeline[batch]{list: make([]stamped[batch], 0, min(fixedBatches, a.Capacity+2)), fixed: true}
		s.apart = make([]uint64, 0, (fixedBatches+63)/64)
		s.runs = make([]uint64, 0, runsMost)
		s.ready = make([]chain, 0, readyMost)
	}
	return s
}

// pending returns about how many slots wait for their grace period, and about how many have
// passed and are not in the freelist.
func (s *shard) pending() (waiting, ready int) {
	kept := s.kept.Load()
	return int(s.limbo.size()) + int(Generation(kept)), int(Low(kept))
}

// next returns the k-th shard after s, in a round that begins at s.
func (s *shard) next(k int) *shard {
	list := s.arena.shards()
	return list[(int(s.number)+k)%len(list)]
}

// Slots that were never used are handed out from a range, so that filling a pool visits each
// slot once. So are those of a page that came back after a Trim; their words have the
// generation from which they go on (I11).

// takeFresh takes a slot from the shard's range, and returns it with the handle that it will
// have, or nil. It costs one locked instruction.
func (s *shard) takeFresh() (*Hook, uint64) {
	i, n, contended := s.fresh.take(1)
	if contended {
		s.contend()
	}
	if n == 0 {
		return nil, 0
	}
	return s.arena.Table.firstLife(i)
}

// allocRange takes a slot that no shard was given yet. If the shard's range is empty, the n-1 slots
// after it become the new range, or fewer in a small pool. It returns nil if every slot that has
// memory was given to a shard; it does not grow the pool.
//
// If another goroutine has the lock, allocRange takes one slot directly from the table, so it
// never waits.
func (s *shard) allocRange(n uint32) (*Hook, uint64) {
	if !s.mu.TryLock() {
		s.contend()
		return s.alloc(1)
	}
	defer s.mu.Unlock()
	if s.fresh.left() > 0 {
		return s.alloc(1) // checked under the lock: only its holder makes a range
	}
	return s.alloc(min(n, max(s.arena.Table.Pages().Limit/4, rangeLeast)))
}

// alloc is allocRange for exactly n slots, unless fewer have memory. If n is more than 1, the
// caller holds the lock, and the range is empty.
func (s *shard) alloc(n uint32) (*Hook, uint64) {
	t := &s.arena.Table
	lo, hi := t.Allot(n)
	if lo == hi {
		return nil, 0
	}
	s.setHome(lo, hi)
	if next := lo + 1; next < hi {
		s.fresh.set(next, hi)
		if s.fifo {
			s.unworn.Store(1)
		}
	}
	return t.firstLife(lo)
}

// shards are those of an arena.
type shards []*shard

// lock locks all shards, and unlock unlocks them. The caller holds verdicts.mu.
func (list shards) lock() {
	for _, s := range list {
		s.lock()
	}
}

func (list shards) unlock() {
	for _, s := range list {
		s.unlock()
	}
}

// pending returns about how many slots wait for their grace period.
func (list shards) pending() (n int) {
	for _, s := range list {
		waiting, _ := s.pending()
		n += waiting
	}
	return n
}

// removed reports whether a slot has come into limbo since the last seal.
func (list shards) removed() bool {
	for _, s := range list {
		if s.limbo.size() > 0 {
			return true
		}
	}
	return false
}
