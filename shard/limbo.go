package shard

import "math/bits"

// Limbo is where removed slots wait for their grace period: a stack that is
// only pushed to and taken whole, so that no tag is needed.
//
// Its head counts what it holds. That costs nothing, since the head is written
// anyway, and tells the remover when enough has gathered to be worth a seal.

// Remove unlinks the live slot that h names and retires it. It answers true for
// exactly one caller per handle. It costs two locked instructions.
func (s *Shard[T]) Remove(slot *Slot[T], h uint64) bool {
	seen, ok := s.unlink(slot, h)
	if !ok {
		return false
	}
	// The common half of retire, in line.
	head := pushed(seen, Low(h), 1)
	if h >= lastLife || s.space.Exact || Generation(head)%Batch == 0 || !s.limbo.CompareAndSwap(seen, head) { // publishes (P7)
		s.retire(slot, h, seen)
	}
	return true
}

// Take is Remove that moves the value out. It copies before it retires: until
// then the slot cannot be reclaimed, so no pin is needed.
func (s *Shard[T]) Take(slot *Slot[T], h uint64) (v T, ok bool) {
	seen, ok := s.unlink(slot, h)
	if ok {
		v = slot.Value
		s.space.MarkTaken(Low(h))
		s.retire(slot, h, seen)
	}
	return v, ok
}

// unlink ends the life of the slot that h names. The word that it writes links
// to the top of limbo already, so that retiring mostly needs no second store.
//
// The word is looked at before limbo is. In the other order limbo's top might
// be this very slot, one incarnation earlier, and a handle guessed ahead of its
// time would make a slot link to itself (I4). A slot that was live with h
// before limbo was read, and still is when the compare-and-swap succeeds, was
// not in limbo between.
func (s *Shard[T]) unlink(slot *Slot[T], h uint64) (seen uint64, ok bool) {
	if slot.Word.Load() != h {
		return 0, false
	}
	seen = s.limbo.Load()
	// Success proves that this caller ended the incarnation, and makes it the
	// slot's owner (I1). Failure means that another remover did.
	return seen, slot.Word.CompareAndSwap(h, Vacated(h, Low(seen)))
}

// Burn ends a life that never began: of a slot that was handed out and did not
// go live. Its generation counts as lived, or the slot could come to the
// freelist's top a second time with one generation (I5), and a handle that was
// shown to a constructor could be issued again. The chain of this one slot is
// for RetireChain: back through limbo like any other, although nobody can have
// seen it, because one way back is easier to trust than two.
func (s *Shard[T]) Burn(slot *Slot[T], h uint64) Chain {
	slot.Word.Store(Vacated(h, None))
	if h >= lastLife {
		s.space.Spent.Add(1)
	}
	return ChainOf(h, h, 1)
}

// retire pushes the caller's slot onto limbo; its word links to the top that was
// seen. At each batch it reclaims, so that what is removed is also freed if
// nobody inserts any more.
func (s *Shard[T]) retire(slot *Slot[T], h, seen uint64) {
	if h >= lastLife {
		s.space.Spent.Add(1)
	}
	s.stamp(s.space.tag())
	for !s.limbo.CompareAndSwap(seen, pushed(seen, Low(h), 1)) { // publishes (P7)
		s.contend()
		seen = s.limbo.Load()
		slot.Word.Store(Vacated(h, Low(seen)))
	}
	if n := Generation(seen) + 1; n%Batch == 0 {
		s.reclaimDue(n)
	}
}

// tag returns the tag of what was unlinked before the call, where it is wanted.
func (sp *Space[T]) tag() uint64 {
	if !sp.Exact {
		return 0
	}
	return sp.Domain.Stamp()
}

// stamp notes the tag of something that was unlinked and is about to be pushed.
//
// A batch has one tag for all its slots, the greatest, so that a guard which one of
// them must wait for delays the others too. That does not matter where memory can
// grow. Where it cannot (Space.Exact), what was removed before a guard was pinned
// must not wait for that guard: it is sealed before anything is added that must.
// If mu is held, or there is no room for a batch more, it waits all the same.
func (s *Shard[T]) stamp(tag uint64) {
	old := s.latest.Load()
	if old >= tag {
		return // always, without Exact
	}
	if Low(s.limbo.Load()) != None && s.space.Domain.Separates(old, tag) {
		s.part()
	}
	for old < tag && !s.latest.CompareAndSwap(old, tag) {
		old = s.latest.Load() // another remover has raised it
	}
}

// pushed is limbo's head after n slots, the last of them i, were pushed on it.
func pushed(head uint64, i uint32, n uint32) uint64 {
	return head&^uint64(None) + uint64(n)<<32 | uint64(i)
}

// reclaimDue reclaims after the n-th removal that waits, if a scan for the
// frontier is paid for by then: with many guards it visits many cells, and is
// put off until there are as many slots.
func (s *Shard[T]) reclaimDue(n uint32) {
	if cells := s.space.Domain.Scanned(); cells > Batch {
		if n&(1<<bits.Len(uint(cells-1))-1) != 0 {
			return
		}
	}
	freed, more := s.Reclaim(s.heir(), Scan)
	if more && Low(s.limbo.Load()) != None {
		again, _ := s.Reclaim(s, Known) // catching up after a stall
		freed += again
	}
	if s.space.Reclaimed != nil && freed > 0 {
		s.space.Reclaimed(freed)
	}
}

// heir returns the shard that gets what s reclaims: s itself, unless it has
// slots enough and another is in need.
func (s *Shard[T]) heir() *Shard[T] {
	if s.free.Load() != emptyList {
		if to := s.space.needy.Load(); to != nil && s.space.needy.CompareAndSwap(to, nil) {
			return to
		}
	}
	return s
}

// Need asks removers elsewhere to reclaim for s. LIFO only.
func (s *Shard[T]) Need() {
	if s.space.needy.Load() != s {
		s.space.needy.Store(s)
	}
}

// Chain gathers slots that one goroutine has unlinked, to retire them with one
// compare-and-swap. Its zero value is empty. It is not safe for concurrent use.
type Chain struct {
	notTop uint32 // the last slot added, complemented: in an empty chain, None
	n      uint32
	tail   uint64 // generation and index of the first

	// Tag is that of the removals if Stamped says so. Otherwise it is taken when the
	// chain is retired.
	Tag     uint64
	Stamped bool
}

// Len returns how many slots the chain holds.
func (c *Chain) Len() int { return int(c.n) }

// Unlink ends the life of the slot that h names and adds it to c. It costs one
// locked instruction. A slot whose generations are used up goes to limbo at
// once, so that a chain's slots all have another life.
func (s *Shard[T]) Unlink(slot *Slot[T], h uint64, c *Chain) bool {
	if h >= lastLife {
		return s.Remove(slot, h)
	}
	// See unlink for what success proves. The slot is not in c already, nor can
	// it come there meanwhile: whoever has the chain is here.
	if !slot.Word.CompareAndSwap(h, Vacated(h, ^c.notTop)) {
		return false
	}
	if c.n == 0 {
		c.tail = Pack(Generation(h)+1, Low(h))
	}
	c.notTop = ^Low(h)
	c.n++
	return true
}

// ChainOf makes a chain of n slots that were unlinked one after the other, each
// linked to the one before: first and last are the handles that they had.
func ChainOf(first, last uint64, n int) Chain {
	return Chain{notTop: ^Low(last), n: uint32(n), tail: Pack(Generation(first)+1, Low(first))}
}

// RetireChain pushes all of c onto limbo and leaves c empty. It reclaims if that
// completes a batch.
func (s *Shard[T]) RetireChain(c *Chain) {
	if before, after := s.pushChain(c); before/Batch != after/Batch {
		s.reclaimDue(after &^ (Batch - 1))
	}
}

// AbandonChain is RetireChain that leaves reclaiming to others: for the garbage
// collector's goroutines, on which no Reset should run.
func (s *Shard[T]) AbandonChain(c *Chain) { s.pushChain(c) }

// pushChain pushes c and returns how many slots waited before and after.
func (s *Shard[T]) pushChain(c *Chain) (before, after uint32) {
	if c.n == 0 {
		return 0, 0
	}
	if !c.Stamped {
		c.Tag = s.space.tag()
	}
	s.stamp(c.Tag)
	last := s.space.Slot(Low(c.tail))
	for {
		seen := s.limbo.Load()
		last.Word.Store(Pack(Generation(c.tail), Low(seen)))            // anew at each try
		if s.limbo.CompareAndSwap(seen, pushed(seen, ^c.notTop, c.n)) { // publishes (P7)
			before, after = Generation(seen), Generation(seen)+c.n
			*c = Chain{}
			return before, after
		}
	}
}
