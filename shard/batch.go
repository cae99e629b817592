package shard

import "coatcheck/internal/atom"

// batch is a part of limbo that was sealed. Its slots wait for one grace period.
//
//	empty ──seal──▶ claimed ──▶ sealed ──passed──▶ claimed ──▶ sealed, empty
//
// Its word is its lock: the goroutine that changes it to claimed owns the slots and all
// fields until it stores another. A goroutine that is preempted with a batch keeps that
// batch from the others and nothing else; under FIFO it holds the queue as well, hence all
// of the shard's. No user code runs meanwhile, so an insertion that would be refused
// otherwise may wait for it.
//
// All else is looked at under the claim, the tag above all. The wrong version looks at the
// tag first and claims then: meanwhile the batch may be emptied and sealed anew with the
// same slot on top, and one tag stands for another.
type batch[T any] struct {
	// word tells a sealed batch's number, whether its grace period is known to be over, and
	// its first slot (see leave); or it is emptyList, or claimed.
	//
	//	writers  oldest, emptyBatch and passedSlots, by compare-and-swap to claimed; leave
	//	readers  the same; batches, finished
	//	orders   leaving publishes slots and fields to the next owner (P9)
	word atom.Uint64

	tag     uint64 // what the grace period goes by
	number  uint32 // the shard's seals are numbered from 1
	over    bool   // the grace period is known to be over
	upright bool   // FIFO: all slots were turned round
	turned  uint32 // FIFO: those that were so far
	last    uint32 // FIFO: the one that was turned first, and is the last then
	top, n  uint32 // the others: the first, and how many there are in both
}

// claimed is the word of a batch that a goroutine owns.
const claimed = 1<<32 | emptyList

// leave ends the caller's claim. What is left of b waits on.
func (b *batch[T]) leave() {
	if b.n == 0 {
		b.word.Store(emptyList)
		return
	}
	state := b.number << 1
	if b.over {
		state |= 1
	}
	b.word.Store(Pack(state, b.top)) // publishes (P9)
}

// isSealed reports whether the word of a batch shows slots that nobody has claimed.
func isSealed(word uint64) bool { return Low(word) != None }

// isOver reports whether the word of a sealed batch says that its grace period is over.
func isOver(word uint64) bool { return Generation(word)&1 != 0 }

// precedes reports whether the word of a sealed batch has a lower number than the given
// one. Of a number 31 bits are compared, and go round. That is enough, because batches
// that are sealed much later do not come free while an old one waits.
func precedes(word uint64, number uint32) bool {
	return int32(Generation(word)&^1-number<<1) < 0
}

// sealNow is seal for callers who do not hold the list, and will not scan. It waits for
// whoever holds it: a removal whose slot must wait for a guard would otherwise have those
// before it wait, too (L10).
func (s *shard[T]) sealNow() bool {
	if Low(s.limbo.Load()) == None {
		return true
	}
	s.list.hold(true)
	defer s.list.release()
	return s.seal(effortKnown)
}

// seal makes all of limbo a batch, for a caller who holds the list. It reports whether it
// left nothing in limbo of what was there when it was called: false means that all batches
// are in use.
//
// The chain comes first: a tag that was loaded before could be older than the
// unlinking of what came into limbo meanwhile, and end that slot's grace period
// under a guard that saw it. Where removals have tags, the greatest of them will
// do: each was raised before its slot was pushed.
//
// The number comes before the chain: when limbo is found empty after a removal, the
// slot's batch has a number already (goal).
func (s *shard[T]) seal(e effort) bool {
	if Low(s.limbo.Load()) == None {
		return true
	}
	b := s.emptyBatch()
	if b == nil {
		return false
	}
	b.number = s.seals.Add(1)
	s.left.Add(1)                   // for an insertion that looks now: it must see that something waits
	head := s.limbo.Swap(emptyList) // observes (P7)
	b.top, b.n, b.over, b.turned, b.upright = Low(head), Generation(head), false, None, false
	switch {
	case b.n == 0:
	case s.arena.exact:
		b.tag = s.latest.Load()
	case e == effortKnown || s.guarded():
		b.tag = s.arena.Domain.Retire()
	default:
		// No batch waits for a guard, and the scan that follows advances the epoch if one
		// is in the way of this. If none is, the word that all pins read stays as it is.
		b.tag = s.arena.Domain.Epoch()
	}
	if b.n != 1 {
		s.left.Add(b.n - 1)
	}
	b.leave()
	return true
}

// emptyBatch claims a batch without slots, or returns nil.
func (s *shard[T]) emptyBatch() *batch[T] {
	for k := range s.sealed {
		b := &s.sealed[k]
		if b.word.Load() == emptyList && b.word.CompareAndSwap(emptyList, claimed) { // observes (P9)
			return b
		}
	}
	return nil
}

// passed claims the batch that was sealed first, if its grace period is over, or
// returns nil. With effortWait that means that no batch is in another goroutine's hands.
func (s *shard[T]) passed(e effort) *batch[T] {
	for round := 0; ; round++ {
		b, busy := s.oldest()
		if b != nil {
			d := s.arena.Domain
			if b.over = b.over || b.tag < d.Safe() || e != effortKnown && d.Over(b.tag); b.over {
				return b
			}
			b.leave() // those sealed later have greater tags
		}
		if !busy || e < effortWait {
			return nil
		}
		atom.Pause(round)
	}
}

// oldest claims the batch that was sealed first of those that nobody owns, and reports
// whether somebody owns another. If there is none, it returns nil.
func (s *shard[T]) oldest() (first *batch[T], busy bool) {
	for {
		var word uint64
		first, busy = nil, false
		for k := range s.sealed {
			b := &s.sealed[k]
			w := b.word.Load()
			busy = busy || w == claimed
			if isSealed(w) && (first == nil || precedes(w, Generation(word)>>1)) {
				first, word = b, w
			}
		}
		// Success makes the caller the owner. Failure means that another was faster.
		if first == nil || first.word.CompareAndSwap(word, claimed) { // observes (P9)
			return first, busy
		}
	}
}

// batches returns how many batches have slots or somebody's claim, and of how many the
// grace period is known to be over.
func (s *shard[T]) batches() (all, over uint32) {
	for k := range s.sealed {
		word := s.sealed[k].word.Load()
		if word != emptyList {
			all++
		}
		if isSealed(word) && isOver(word) {
			over++
		}
	}
	return all, over
}

// emptyBatches reports whether another batch can be sealed.
func (s *shard[T]) emptyBatches() bool {
	all, _ := s.batches()
	return all < sealedMost
}

// guarded reports, to a seal, whether other batches wait, and of none of them the grace
// period is known to be over.
func (s *shard[T]) guarded() bool {
	all, over := s.batches()
	return all > 1 && over == 0
}

// finished reports whether all batches have been reclaimed up to that with the given number,
// and none is in anybody's hands.
func (s *shard[T]) finished(number uint32) bool {
	for k := range s.sealed {
		word := s.sealed[k].word.Load()
		if word == claimed || isSealed(word) && precedes(word, number+1) {
			return false
		}
	}
	return true
}

// passedSlots returns how many slots are in batches whose grace period is known to be over:
// they wait for nothing but an insertion that needs them. Batches in others' hands do not
// count.
func (s *shard[T]) passedSlots() (n int) {
	if !s.list.hold(false) { // or a reclaimer of a queue would pass over a batch that is looked at
		return 0
	}
	defer s.list.release()
	for k := range s.sealed {
		b := &s.sealed[k]
		word := b.word.Load()
		if isSealed(word) && isOver(word) && b.word.CompareAndSwap(word, claimed) { // observes (P9)
			n += int(b.n)
			b.leave()
		}
	}
	return n
}
