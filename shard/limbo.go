package shard

import (
	"math/bits"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Limbo is where removed slots wait for their grace period: a stack that is only pushed to and
// taken whole, so its head needs no tag. The head counts the slots, at no cost, since each
// push writes it. So a remover knows when enough slots wait for a seal.

// limbo is how many slots there are, and the index of the last.
//
//	writers  push and pushOne, by compare-and-swap; takeAll, by a swap; the goroutine that restores
//	         an arena
//	readers  unlink, for the link that it writes
//	moves    nothing is popped, so there is no ABA: a push that succeeds found the top that it
//	         linked to
//	orders   the push publishes the unlinking to seal (P6)
type limbo struct{ head atom.Uint64 }

// size returns how many slots there are.
func (l *limbo) size() uint32 { return Generation(l.head.Load()) }

// unlink ends the life of slot k, which h names. What it writes already links to the top, so
// that retiring mostly needs no second store.
//
// It loads the slot's word before limbo. In the other order limbo's top might be this slot,
// one incarnation earlier, and a handle that was guessed would make the slot link to itself
// (I4). A slot that was live with h before limbo was read, and still is at the
// compare-and-swap, was not in limbo between the two.
func (l *limbo) unlink(k *Hook, h uint64) (seen uint64, ok bool) {
	if k.Word.Load() == h {
		seen = l.head.Load()
		ok = k.Word.CompareAndSwap(h, Vacated(h, Low(seen)))
	}
	return seen, ok
}

// push pushes n slots, whose first is i and whose last links to the top that was seen.
func (l *limbo) push(seen uint64, i, n uint32) bool {
	return l.head.CompareAndSwap(seen, (seen>>32+uint64(n))<<32|uint64(i)) // publishes (P6)
}

// pushOne is push for one slot, if that does not complete a batch; otherwise it does nothing, and
// reports false.
func (l *limbo) pushOne(seen uint64, i uint32) bool {
	now := (seen | None) + (1 + uint64(i))
	return now&((Batch-1)<<32) != 0 && l.head.CompareAndSwap(seen, now) // publishes (P6)
}

// takeAll takes all that waits, and returns the head.
func (l *limbo) takeAll() uint64 {
	if Low(l.head.Load()) == None {
		return emptyList
	}
	return l.head.Swap(emptyList) // observes (P6)
}

// Remove ends the life of the slot that h names, and retires it to the shard to which a frame's
// hint leads. It returns true for exactly one caller per handle. It costs two locked
// instructions.
//
//go:nosplit
func (a *Arena) Remove(frame uintptr, h uint64) bool {
	if s, t := a.Local(hint.Of(frame)), a.Table.Current.Load(); Low(h) < t.Limit {
		k := t.At(Low(h))
		if seen, ok := s.limbo.unlink(k, h); ok {
			if h >= a.fastBelow {
				s.retire(k, h, seen)
			} else if !s.limbo.pushOne(seen, Low(h)) {
				s.push(k, h, seen)
			}
			return true
		}
	}
	return false
}

// remove is Remove, for a shard that the caller knows.
func (s *shard) remove(h uint64) bool {
	k, seen := s.Unlink(h)
	if k != nil {
		s.retire(k, h, seen)
	}
	return k != nil
}

// Unlink is Remove in two steps, for a caller that moves the value out: Retire of the shard that it
// returns follows. Until then the slot cannot be reclaimed, so no pin is needed. k is nil if h is
// not live.
//
//go:nosplit
func (a *Arena) Unlink(frame uintptr, h uint64) (s *shard, k *Hook, seen uint64) {
	if s, t := a.Local(hint.Of(frame)), a.Table.Current.Load(); Low(h) < t.Limit {
		k := t.At(Low(h))
		if seen, ok := s.limbo.unlink(k, h); ok {
			return s, k, seen
		}
	}
	return nil, nil, 0
}

// Unlink is Arena.Unlink, for a shard that the caller knows.
func (s *shard) Unlink(h uint64) (k *Hook, seen uint64) {
	t := s.arena.Table.Current.Load()
	if Low(h) >= t.Limit {
		return nil, 0
	}
	k = t.At(Low(h))
	seen, ok := s.limbo.unlink(k, h)
	if !ok {
		return nil, 0
	}
	return k, seen
}

// Retire retires a slot whose value was moved out.
//
//go:nosplit
func (s *shard) Retire(k *Hook, h, seen uint64) {
	if h >= s.arena.plainBelow || !s.limbo.pushOne(seen, Low(h)) {
		s.retireMoved(k, h, seen)
	}
}

func (s *shard) retireMoved(k *Hook, h, seen uint64) {
	if s.arena.Reset != nil {
		s.arena.Table.markMoved(Low(h))
	}
	s.retire(k, h, seen)
}

// retire pushes the caller's slot onto limbo; its word links to the top that was seen. It
// reclaims once a batch, so that removed slots come free without insertions.
//
//go:nosplit
func (s *shard) retire(slot *Hook, h, seen uint64) {
	a := s.arena
	if h >= a.fastBelow {
		if a.stampPerSlot { // stamp, which is too long to be inlined
			a.Table.setStamp(Low(h), a.Domain.Stamp())
		}
		a.countLast(h)
	}
	if !s.limbo.pushOne(seen, Low(h)) {
		s.push(slot, h, seen)
		return
	}
	if h >= a.fastBelow {
		a.waiters.wake()
	}
}

// push is retire for a slot that note has noted. Success of a push gives the slot away, to the
// goroutine that seals it. Failure means that another removal has pushed, or that a seal has taken
// all that waited.
func (s *shard) push(slot *Hook, h, seen uint64) {
	for !s.limbo.push(seen, Low(h), 1) {
		s.contend()
		seen = s.limbo.head.Load()
		slot.set(Vacated(h, Low(seen)))
	}
	if h >= s.arena.fastBelow {
		s.arena.waiters.wake()
	}
	if n := Generation(seen) + 1; n%Batch == 0 {
		s.reclaimPast(n-1, n)
	}
}

// ReclaimMode says who reclaims after slots were retired. The garbage collector's goroutines must
// run no Reset, so they leave that to others.
type ReclaimMode uint8

const (
	Now      ReclaimMode = iota // the caller, if a batch is complete
	Deferred                    // others
)

// retireChain pushes all of c, whose slots have stamps, onto limbo.
func (s *shard) retireChain(c *chain, mode ReclaimMode) {
	oldSize, newSize := s.pushLimbo(c, mode)
	if mode == Now {
		s.reclaimPast(oldSize, newSize)
	}
}

// pushLimbo pushes c, as retire does. It returns how many slots waited before and after.
func (s *shard) pushLimbo(c *chain, mode ReclaimMode) (oldSize, newSize uint32) {
	if c.n == 0 {
		return 0, 0
	}
	for {
		seen := s.limbo.head.Load()
		c.link(Low(seen)) // at each try
		if s.limbo.push(seen, Low(c.first), c.n) {
			s.arena.waiters.wakeAfter(mode)
			return Generation(seen), Generation(seen) + c.n
		}
	}
}

// Abandon gives back a slot that was claimed as h and did not go live. Its generation counts as
// lived. Otherwise the slot could enter a freelist twice with one generation (I5), and a handle
// that a constructor has seen could be issued again. The slot goes through limbo, although no
// other goroutine can have seen it, because one way back is simpler to prove.
func (a *Arena) Abandon(slot *Hook, h uint64, mode ReclaimMode) {
	var c chain
	word := Vacated(h, None)
	slot.set(word)
	a.note(h)
	c.append(slot, Low(h), word)
	a.Local(hint.Goroutine()).retireChain(&c, mode)
}

// stamp gives slot i, which the caller has unlinked, its epoch stamp. Without stampPerSlot it does
// nothing: seal takes a stamp for all that it finds in limbo.
//
// With one stamp for all, a guard delays what was removed before it was pinned, if that is
// sealed later. That is harmless if memory can grow. If not (Arena.stampPerSlot), a slot must not
// wait for a guard that was pinned after its removal (L10). So each has a stamp of its own.
func (a *Arena) stamp(i uint32) {
	if a.stampPerSlot {
		a.Table.setStamp(i, a.Domain.Stamp())
	}
}

// reclaimPast reclaims if a push filled limbo to a multiple of fill: before it and after it, so many
// slots waited. The slots pay: all that were pushed, and as many again of those for which a push
// did not get the lock.
func (s *shard) reclaimPast(oldSize, newSize uint32) {
	if n := s.fill(); oldSize^newSize >= n && s.tryLock() { // n is a power of two
		s.reclaimAndUnlock(nil, s.pay(max(n, newSize-oldSize)))
	}
}

// fill returns how many removals pay for a round: a batch, or more where a scan visits many cells,
// for many guards. With many processors and no guards it must not be put off for long: a shard
// whose slots come home in batches larger than what it took ahead takes others' meanwhile.
func (s *shard) fill() uint32 {
	cells := max(s.arena.scanned(), 1) // a Domain whose pins are traced may have none to visit
	return max(Batch, uint32(1)<<bits.Len(uint(cells-1)/cellsPaid))
}

// scanned returns about how many cells a scan visits; in an arena that replays 0. There each round
// has a scan, since cells are left of guards that have gone, which a copy of the arena does not have.
// How many first cells there are depends on the processors, too.
func (a *Arena) scanned() int {
	if a.Replays {
		return 0
	}
	return a.Domain.Scanned()
}

// Removals gathers removals in chains of up to a batch, so that it pushes to limbo once a chain.
// The slots are the caller's until End. So no user code may run before End, and End must run on
// every path.
type Removals struct {
	N     int // how many removals there were
	shard *shard
	chain chain
}

// Removals begins to gather.
func (a *Arena) Removals() Removals { return Removals{shard: a.Local(hint.Goroutine())} }

// Remove is like Arena.Remove, but gathers the slot. It costs one locked instruction.
func (r *Removals) Remove(h uint64) bool {
	a := r.shard.arena
	slot := a.Find(h)
	if slot == nil {
		return false
	}
	// The slot is not in the chain, and cannot come there meanwhile: only this goroutine adds
	// to it. So it does not link to itself (I4).
	top := r.chain.top()
	if !slot.Word.CompareAndSwap(h, Vacated(h, top)) {
		return false
	}
	if h >= a.fastBelow {
		a.note(h)
	}
	r.chain.noteFirst(slot, Low(h), Vacated(h, top))
	r.N++
	if r.chain.n >= a.mostOwned {
		r.End()
	}
	return true
}

// End retires what was gathered.
func (r *Removals) End() {
	c := r.chain
	r.chain = chain{}
	r.shard.retireChain(&c, Now)
}
