package shard

import "slices"

// ReclaimMost is how many slots one reclaim moves.
const ReclaimMost = reclaimMost

// Shard is the type of shards. Its methods here are for tests of one shard's lists.
type Shard[T any] = shard[T]

func (s *shard[T]) Fresh() (*Slot[T], uint64)          { return s.takeFresh() }
func (s *shard[T]) FreshRun(n int) (uint32, int)       { return s.freshRun(n) }
func (s *shard[T]) Refill(n uint32) (*Slot[T], uint64) { return s.refill(n) }
func (s *shard[T]) Pending() int                       { return s.pending() }
func (s *shard[T]) Free() int                          { return s.freeSlots() }
func (s *shard[T]) Goal() (number uint32, known bool)  { return s.goal() }
func (s *shard[T]) Finished(number uint32) bool        { return s.finished(number) }
func (s *shard[T]) Bare() bool                         { return s.bare() }
func (s *shard[T]) Settle(lo, hi uint32)               { s.settle(lo, hi) }
func (s *shard[T]) Claim() (*Slot[T], uint64, error)   { return s.arena.claim(s) }

// Ahead is how many slots of 16 bytes a shard takes although others have some.
const Ahead = aheadBytes / 16

func (s *shard[T]) Contend() { s.contend() }

// Patience is after how many failures a goroutine moves.
const Patience = patience

// Reclaim is reclaim that scans, and moves all that has passed.
func (s *shard[T]) Reclaim(to *shard[T]) (freed int, more bool) { return s.reclaim(to, effortAll) }

// Remove and Take are the arena's, to s.
func (s *shard[T]) Remove(h uint64) bool    { return s.arena.Remove(s, h) }
func (s *shard[T]) Take(h uint64) (T, bool) { return s.arena.Take(s, h) }

// Removals begins to gather removals in s.
func (s *shard[T]) Removals() Removals[T] { return Removals[T]{shard: s} }

// Len returns how many slots wait for End.
func (r *Removals[T]) Len() int { return int(r.chain.n) }

// Abandon is Arena.Abandon in s.
func (s *shard[T]) Abandon(slot *Slot[T], h uint64) {
	c := s.arena.abandoned(slot, h)
	s.retireChain(&c, s.arena.stamp())
}

// Return gives back a slot that was popped as h, as magazines do.
func (s *shard[T]) Return(slot *Slot[T], h uint64) {
	m := Magazine[T]{arena: s.arena, shard: s, ready: []kept[T]{{slot, h}}}
	m.giveBack(1)
}

// ReturnFresh gives back slot i, of a range, as magazines do.
func (s *shard[T]) ReturnFresh(i uint32) {
	m := Magazine[T]{arena: s.arena, shard: s, next: i, end: i + 1}
	m.empty()
}

// Order returns the slots of the shard's list in the order in which they will be handed out,
// those that are kept back last.
func (s *shard[T]) Order() (slots []uint32) {
	lists := []uint32{Low(s.free.Load())}
	if q, ok := s.list.(*queue[T]); ok {
		lists = append(lists, q.rest.top())
	}
	for _, i := range lists {
		for ; i != None; i = Low(s.arena.slot(i).Word.Load()) {
			slots = append(slots, i)
		}
	}
	return slots
}

// EnterList and LeaveList take and release a list, as Trim does.
func (s *shard[T]) EnterList() bool { return s.list.enter() }
func (s *shard[T]) LeaveList()      { s.list.release() }

// Slot returns slot i.
func (a *Arena[T]) Slot(i uint32) *Slot[T] { return a.slot(i) }

// Shard returns shard k.
func (a *Arena[T]) Shard(k int) *shard[T] { return &a.shards[k] }

// Exhausted, Spent and Reserve are the arena's counts.
func (a *Arena[T]) Exhausted() int64 { return a.exhausted.Load() }
func (a *Arena[T]) Spent() int64     { return a.spent.Load() }
func (a *Arena[T]) Reserve() int64   { return a.reserve.Load() }

// TrimAll is Trim that does not reclaim before.
func (a *Arena[T]) TrimAll() int64 {
	a.trim.Lock()
	defer a.trim.Unlock()
	return a.trimLocked()
}

// SetReach changes how many slots an operation may own.
func (a *Arena[T]) SetReach(n uint32) { a.reach = n }

// Abandon is End that leaves reclaiming to others.
func (r *Removals[T]) Abandon() {
	r.shard.pushLimbo(&r.chain, r.shard.arena.stamp())
	r.chain = chain[T]{}
}

// ReclaimWaiting is reclaim that waits for other reclaimers.
func (s *shard[T]) ReclaimWaiting(to *shard[T]) (freed int, more bool) {
	return s.reclaim(to, effortWait)
}

// ReclaimKnown is reclaim that goes by the frontier as known.
func (s *shard[T]) ReclaimKnown(to *shard[T]) (freed int, more bool) {
	return s.reclaim(to, effortKnown)
}

// Waits is waiting.
func (s *shard[T]) Waits() int { return s.waiting() }

// Grow is grow.
func (t *Table[T]) Grow() bool { return t.grow() }

// Lock and Unlock are those of the table's mutex.
func (t *Table[T]) Lock()   { t.mu.Lock() }
func (t *Table[T]) Unlock() { t.mu.Unlock() }

// PopRun takes up to n slots and returns the handles that they will have.
func (s *shard[T]) PopRun(n int) (hs []uint64) {
	dst := make([]kept[T], n)
	dst = dst[:s.popRun(dst)]
	slices.Reverse(dst)
	for _, k := range dst {
		hs = append(hs, k.h)
	}
	return hs
}

// Share is share.
func Share(n, i, parts int) int { return share(n, i, parts) }

// Kept returns how many slots the magazine keeps.
func (m *Magazine[T]) Kept() int { return len(m.ready) + len(m.bag) - m.from + int(m.end-m.next) }

// Ordered reports whether the parts of the bag follow each other, up to the open part.
func (m *Magazine[T]) Ordered() bool {
	at := m.from
	for _, s := range m.seals {
		if s.end <= at {
			return false
		}
		at = s.end
	}
	return m.open == at && at <= len(m.bag) || m.open == 0 && len(m.seals) == 0
}
