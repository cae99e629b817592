package shard

import "slices"

// Bounds of one step, and Ahead: how many slots of 16 bytes a shard takes although others have
// some.
const (
	ReclaimMost = reclaimMost
	ChunksMost  = chunksMost
	SpliceLeast = spliceLeast
	ReadyMost   = readyMost
	ResetRun    = resetRun
	RunsMost    = runsMost
	Patience    = patience
	Ahead       = aheadBytes / 16
)

// Shard is the type of shards. Its methods here are for tests of one shard's lists.
type Shard[T any] = shard[T]

func (s *shard[T]) Fresh() (*Slot[T], uint64)          { return s.takeFresh() }
func (s *shard[T]) Refill(n uint32) (*Slot[T], uint64) { return s.refill(n) }
func (s *shard[T]) SetHome(lo, hi uint32)              { s.setHome(lo, hi) }
func (s *shard[T]) Claim() (*Slot[T], uint64, error)   { return s.arena.claim(s) }
func (s *shard[T]) Contend()                           { s.contend() }
func (s *shard[T]) Reclaim(to *shard[T]) (more bool)   { more, _ = s.reclaim(to); return more }
func (s *shard[T]) Goal() uint64                       { return s.sealNow() }
func (s *shard[T]) Lock()                              { s.mu.Lock() }
func (s *shard[T]) Unlock()                            { s.unlock() }
func (s *shard[T]) Remove(h uint64) bool               { return s.remove(h) }
func (s *shard[T]) Removals() Removals[T]              { return Removals[T]{shard: s} }
func (s *shard[T]) Head() uint64                       { return s.free.Load() }
func (a *Arena[T]) Decide(s *shard[T], began uint64) (uint64, error) {
	d := a.decide(s, began)
	return d.h, d.err
}

// Free returns how many slots the shard has for insertions, Ready how many of them wait for an
// empty freelist, and Pending how many slots wait or are in Resets.
func (s *shard[T]) Free() int    { free, _ := s.count(); return free }
func (s *shard[T]) Ready() int   { _, ready := s.pending(); return ready }
func (s *shard[T]) Pending() int { _, limbo := s.count(); return limbo }

// Seals is seals, and Least the last chunk's least.
func (s *shard[T]) Seals() uint64 { return s.seals }
func (s *shard[T]) Least() uint64 { return s.waiting[len(s.waiting)-1].least }

// Done is done.
func (s *shard[T]) Done() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done()
}

// Len returns how many slots wait for End. Leave is End that leaves reclaiming to others.
func (r *Removals[T]) Len() int { return int(r.chain.n) }
func (r *Removals[T]) Leave() {
	r.shard.pushLimbo(&r.chain)
	r.chain = chain[T]{}
}

// Return gives back a slot that was popped as h, as magazines do.
func (s *shard[T]) Return(slot *Slot[T], h uint64) {
	m := Magazine[T]{arena: s.arena, shard: s, ready: []kept[T]{{slot, h}}}
	m.giveBack()
}

// Order returns the slots of the freelist, and then those that are ready, in the order in
// which they will be handed out. listed is how many are in the freelist.
func (s *shard[T]) Order() (slots []uint32, listed int) {
	add := func(i uint32) {
		for ; i != None; i = Low(s.arena.slot(i).Word.Load()) {
			slots = append(slots, i)
		}
	}
	add(Low(s.free.Load()))
	listed = len(slots)
	for _, c := range slices.Backward(s.ready) {
		add(Low(c.first))
	}
	return slots, listed
}

// PopRun takes up to n slots and returns the handles that they will have.
func (s *shard[T]) PopRun(n int) (hs []uint64) {
	dst := make([]kept[T], n)
	for _, k := range slices.Backward(dst[:s.popRun(dst)]) {
		hs = append(hs, k.h)
	}
	return hs
}

// Slot returns slot i, Shard shard k, and the others the arena's counts.
func (a *Arena[T]) Slot(i uint32) *Slot[T] { return a.slot(i) }
func (a *Arena[T]) Shard(k int) *shard[T]  { return &a.shards[k] }
func (a *Arena[T]) Exhausted() int64       { return a.exhausted.Load() }
func (a *Arena[T]) Decisions() uint64      { return a.decisions.Load() }

// SetHolders makes a hold one of n, and MostHolders is how many there may be.
func (k *Held[T]) SetHolders(n uint32) { k.count.Store(n) }

const MostHolders = mostHolders

// Stamp is stamp, and StampOf stampOf.
func (a *Arena[T]) Stamp(i uint32)                      { a.stamp(i) }
func (a *Arena[T]) StampOf(i uint32, now uint64) uint64 { return a.stampOf(i, now) }

// TrimAll is Trim that does not reclaim before.
func (a *Arena[T]) TrimAll() int64 { return a.trim() }

// Missing is missing. Lock and Unlock are those of the table's mutex.
func (t *Table[T]) Missing() int { return int(t.missing.Load()) }
func (t *Table[T]) Lock()        { t.mu.Lock() }
func (t *Table[T]) Unlock()      { t.mu.Unlock() }

// Kept returns how many slots the magazine keeps.
func (m *Magazine[T]) Kept() int { return len(m.ready) + m.used - m.from }

// Ordered reports whether the parts of the bag follow each other, up to the open part.
func (m *Magazine[T]) Ordered() bool {
	at := m.from
	for _, s := range m.seals {
		if s.end <= at {
			return false
		}
		at = s.end
	}
	return m.open == at && at <= m.used || m.open == 0 && len(m.seals) == 0
}
