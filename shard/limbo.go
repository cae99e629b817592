package shard

import (
	"math/bits"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Limbo is where removed slots wait for their grace period: a stack that is only pushed to and
// taken whole, so its head needs no tag. The head counts the slots, at no cost, since each
// push writes it. So a remover knows when enough slots wait for a seal.

// Remove ends the life of the slot that h names, and retires it to the shard to which a frame's
// hint leads. It reports true for exactly one caller per handle. It costs two locked
// instructions. Its frame is small whatever T is, and so needs no check of the stack.
//
//go:nosplit
func (a *Arena[T]) Remove(frame uintptr, h uint64) bool {
	if s, t := a.Local(hint.Of(frame)), a.Table.Current.Load(); Low(h) < t.Limit {
		slot := At[T](t, Low(h))
		if seen, ok := unlink(&slot.Word, &s.limbo, h); ok {
			// The common half of retire, inline.
			if h >= a.quick || Generation(seen)%Batch == Batch-1 ||
				!s.limbo.CompareAndSwap(seen, pushed(seen, Low(h), 1)) { // publishes (P6)
				s.retire(slot, h, seen)
			}
			return true
		}
	}
	return false
}

// remove is Remove, for a shard that the caller knows.
func (s *shard[T]) remove(h uint64) bool {
	slot := s.arena.Find(h)
	if slot == nil {
		return false
	}
	seen, ok := unlink(&slot.Word, &s.limbo, h)
	if ok {
		s.retire(slot, h, seen)
	}
	return ok
}

// Take is remove that moves the value out. It copies before it retires the slot. Until then
// the slot cannot be reclaimed, so no pin is needed.
func (s *shard[T]) Take(h uint64) (v T, ok bool) {
	slot := s.arena.Find(h)
	if slot == nil {
		return v, false
	}
	seen, ok := unlink(&slot.Word, &s.limbo, h)
	if ok {
		v = slot.Value
		if s.arena.Reset != nil {
			s.arena.markMoved(Low(h))
		}
		s.retire(slot, h, seen)
	}
	return v, ok
}

// unlink ends the life of the slot with the given word, which h names. What it writes already
// links to the top of limbo, so that retiring mostly needs no second store.
//
// It loads the slot's word before limbo. In the other order limbo's top might be this slot,
// one incarnation earlier, and a handle that was guessed would make the slot link to itself
// (I4). A slot that was live with h before limbo was read, and still is at the
// compare-and-swap, was not in limbo between the two.
//
// It is not generic, because methods of generic types that are inlined into each other load
// their dictionaries.
func unlink(word, limbo *atom.Uint64, h uint64) (seen uint64, ok bool) {
	if word.Load() != h {
		return 0, false
	}
	seen = limbo.Load()
	return seen, word.CompareAndSwap(h, Vacated(h, Low(seen)))
}

// InlineUnlink inlines unlink, as InlineWord does the helpers of word.go.
func InlineUnlink(w *atom.Uint64) bool {
	_, ok := unlink(w, w, 0)
	return ok
}

// note notes what a removal leaves behind besides the slot: its stamp, and that it was the last.
func (a *Arena[T]) note(h uint64) {
	if h >= lastLife {
		a.spent.Add(1)
	}
	a.stamp(Low(h))
}

// retire pushes the caller's slot onto limbo; its word links to the top that was seen. It
// reclaims once a batch, so that removed slots come free without insertions.
//
// Success of a push gives the slot away, to the goroutine that seals it. Failure means that
// another removal has pushed, or that a seal has taken all that waited.
func (s *shard[T]) retire(slot *Slot[T], h, seen uint64) {
	if h >= s.arena.quick {
		s.arena.note(h)
	}
	for !s.limbo.CompareAndSwap(seen, pushed(seen, Low(h), 1)) { // publishes (P6)
		s.contend()
		seen = s.limbo.Load()
		slot.set(Vacated(h, Low(seen)))
	}
	if h >= s.arena.quick {
		s.arena.wake()
	}
	if n := Generation(seen) + 1; n%Batch == 0 {
		s.reclaimPast(n-1, n)
	}
}

// Then is what comes after the retiring of slots. The garbage collector's goroutines, on which
// no Reset should run, leave reclaiming to others.
type Then uint8

const (
	Reclaim Then = iota // reclaim, if a batch is complete
	Leave               // leave it to others
)

// retireChain pushes all of c, whose slots have stamps, onto limbo.
func (s *shard[T]) retireChain(c *chain[T], then Then) {
	before, after := s.pushLimbo(c)
	if then == Reclaim {
		s.reclaimPast(before, after)
	}
}

// pushLimbo pushes c, as retire does. It returns how many slots waited before and after.
func (s *shard[T]) pushLimbo(c *chain[T]) (before, after uint32) {
	if c.n == 0 {
		return 0, 0
	}
	for {
		seen := s.limbo.Load()
		c.link(Low(seen))                                                  // at each try
		if s.limbo.CompareAndSwap(seen, pushed(seen, Low(c.first), c.n)) { // publishes (P6)
			s.arena.wake()
			return Generation(seen), Generation(seen) + c.n
		}
	}
}

// Abandon gives back a slot that was claimed as h and did not go live. Its generation counts
// as lived. Otherwise the slot could enter a freelist twice with one generation (I5), and a
// handle that a constructor has seen could be issued again. The slot goes through limbo,
// although no other goroutine can have seen it: one way back is simpler to prove.
func (a *Arena[T]) Abandon(slot *Slot[T], h uint64, then Then) {
	var c chain[T]
	word := Vacated(h, None)
	slot.set(word)
	a.note(h)
	c.append(slot, Low(h), word)
	a.Local(hint.Goroutine()).retireChain(&c, then)
}

// stamp gives slot i, which the caller has unlinked, its epoch stamp. Without exact it does
// nothing: seal takes a stamp for all that it finds in limbo.
//
// With one stamp for all, a guard delays what was removed before it was pinned, if that is
// sealed later. That is harmless if memory can grow. If not (Arena.exact), a slot must not
// wait for a guard that was pinned after its removal (L10). So each has a stamp of its own.
func (a *Arena[T]) stamp(i uint32) {
	if a.exact {
		a.setStamp(i, a.Domain.Retire())
	}
}

func (a *Arena[T]) setStamp(i uint32, stamp uint64) {
	m, j := a.Table.Pages().meta(i)
	m.stamps[j] = uint32(stamp)
}

// stampOf returns the stamp of slot i, which the caller owns, or more. now is a value of E
// after the removal. A stamp has 32 bits, to save memory. If the epoch has advanced 2^32 times
// since, the slot seems to be removed later than it was, and may wait for longer.
func (a *Arena[T]) stampOf(i uint32, now uint64) uint64 {
	m, j := a.Table.Pages().meta(i)
	return now - uint64(uint32(now)-m.stamps[j])
}

// pushed returns limbo's head after n slots, the last of them i, were pushed on it.
func pushed(head uint64, i uint32, n uint32) uint64 {
	return (head>>32+uint64(n))<<32 | uint64(i)
}

// reclaimPast reclaims if a push completed a batch: before it and after it, so many slots
// waited. Where a scan visits many cells, for many guards, only a larger batch pays for it. With
// many processors and no guards it must not be put off for long: a shard whose slots come home in
// batches larger than what it took ahead takes others' meanwhile.
func (s *shard[T]) reclaimPast(before, after uint32) {
	batch := max(Batch, uint32(1)<<bits.Len(uint(s.arena.Domain.Scanned()-1)/cellsPaid))
	if before/batch != after/batch {
		s.tryReclaim(nil)
	}
}

// Removals gathers removals in chains of up to a batch, so that limbo is pushed to once a
// chain. The slots are the caller's until End, so no user code may run before, and End must
// run on every path.
type Removals[T any] struct {
	N     int // how many removals there were
	shard *shard[T]
	chain chain[T]
}

// Removals begins to gather.
func (a *Arena[T]) Removals() Removals[T] { return Removals[T]{shard: a.Local(hint.Goroutine())} }

// Remove is Arena.Remove that gathers the slot. It costs one locked instruction.
func (r *Removals[T]) Remove(h uint64) bool {
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
	if h >= a.quick {
		a.note(h)
	}
	r.chain.noteFirst(slot, Low(h), Vacated(h, top))
	r.N++
	if r.chain.n >= a.reach {
		r.End()
	}
	return true
}

// End retires what was gathered.
func (r *Removals[T]) End() {
	c := r.chain
	r.chain = chain[T]{}
	r.shard.retireChain(&c, Reclaim)
}
