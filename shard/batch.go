package shard

import "coatcheck/internal/atom"

// batch is a sealed part of limbo. Its slots wait for one grace period.
//
//	empty ──seal──▶ claimed ──▶ sealed ──passed──▶ claimed ──▶ sealed, empty
//
// Its word is its lock. The goroutine that changes it to claimed owns the slots and all fields
// until it stores another word. If that goroutine is preempted, the others lack this batch and
// nothing else; under FIFO it holds the queue too, hence all of the shard's batches. No user
// code runs under a claim, so an insertion may wait for it before it is refused.
//
// All fields are read under the claim, the stamp above all. The wrong version reads the stamp
// first and then claims: meanwhile the batch may be emptied and sealed anew with the same slot
// on top, and the stamp is another batch's.
type batch[T any] struct {
	// word has a sealed batch's number, whether its grace period is known to be over, and its
	// first slot (see leave); or it is emptyList, or claimed.
	//
	//	writers  oldest, emptyBatch and passedSlots, by compare-and-swap to claimed; leave
	//	readers  the same; batches, finished
	//	orders   leaving publishes slots and fields to the next owner (P9)
	word atom.Uint64

	stamp    uint64 // the epoch stamp of its slots
	number   uint32 // of the shard's seals, from 1
	over     bool   // the grace period is known to be over
	inOrder  bool   // FIFO: all slots were reversed
	reversed uint32 // FIFO: the first of the slots that were reversed so far
	last     uint32 // FIFO: the slot that was reversed first, and so will be the last
	top, n   uint32 // the other slots: the first, and how many there are in both lists
}

// claimed is the word of a batch that a goroutine owns.
const claimed = 1<<32 | emptyList

// leave ends the caller's claim.
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

// isSealed reports whether the word of a batch shows slots that no goroutine has claimed.
func isSealed(word uint64) bool { return Low(word) != None }

// isOver reports whether the word of a sealed batch says that its grace period is over.
func isOver(word uint64) bool { return Generation(word)&1 != 0 }

// precedes reports whether the word of a sealed batch has a lower number than the given one.
// It compares 31 bits, modulo 2^31. That is enough, because batches that are sealed much later
// do not come free while an old one waits.
func precedes(word uint64, number uint32) bool {
	return int32(Generation(word)&^1-number<<1) < 0
}

// sealNow is seal for callers who do not hold the list, without a scan. It waits for the
// list's holder: a removal whose slot must wait for a guard would otherwise make earlier ones
// wait too (L10).
func (s *shard[T]) sealNow() bool {
	if Low(s.limbo.Load()) == None {
		return true
	}
	s.list.hold(true)
	defer s.list.release()
	return s.seal(effortKnown)
}

// seal makes all of limbo a batch. The caller holds the list. It reports false if slots are
// left that were in limbo at the call, because all batches are in use.
//
// The chain is taken before the stamp. A stamp from before could be older than the unlinking
// of slots that came meanwhile, and end their grace period under a guard. If removals have
// stamps, the greatest suffices: each was noted before its slot was pushed.
//
// The number is taken before the chain. So when limbo is found empty after a removal, the
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
	s.left.Add(1)                   // so that an insertion that looks now sees that slots wait
	head := s.limbo.Swap(emptyList) // observes (P7)
	b.top, b.n, b.over, b.reversed, b.inOrder = Low(head), Generation(head), false, None, false
	switch {
	case b.n == 0:
	case s.arena.exact:
		b.stamp = s.latest.Load()
	case e == effortKnown || s.guarded():
		b.stamp = s.arena.Domain.Retire()
	default:
		// No batch waits for a guard. The scan that follows advances the epoch if a guard
		// delays this batch. If none does, the epoch, which all pins load, stays unchanged.
		b.stamp = s.arena.Domain.Epoch()
	}
	if b.n != 1 {
		s.left.Add(b.n - 1)
	}
	b.leave()
	return true
}

// emptyBatch claims a batch without slots, or returns nil. Failure of the compare-and-swap
// means that another goroutine has claimed the batch; the next may be free.
func (s *shard[T]) emptyBatch() *batch[T] {
	for k := range s.sealed {
		b := &s.sealed[k]
		if b.word.Load() == emptyList && b.word.CompareAndSwap(emptyList, claimed) { // observes (P9)
			return b
		}
	}
	return nil
}

// passed claims the batch that was sealed first, if its grace period is over, or returns nil.
// With effortWait, nil means that no other goroutine owns a batch.
func (s *shard[T]) passed(e effort) *batch[T] {
	for round := 0; ; round++ {
		b, busy := s.oldest()
		if b != nil {
			d := s.arena.Domain
			if b.over = b.over || b.stamp < d.Safe() || e != effortKnown && d.Over(b.stamp); b.over {
				return b
			}
			b.leave() // those sealed later have greater stamps
		}
		if !busy || e < effortWait {
			return nil
		}
		atom.Pause(round)
	}
}

// oldest claims the batch that was sealed first, of those without an owner, or returns nil. It
// also reports whether another batch has an owner.
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
		// Success makes the caller the owner. Failure means that another goroutine was faster.
		if first == nil || first.word.CompareAndSwap(word, claimed) { // observes (P9)
			return first, busy
		}
	}
}

// batches returns how many batches have slots or an owner, and of how many the grace period is
// known to be over.
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

// guarded reports whether batches wait besides the one being sealed, and none of their grace
// periods is known to be over.
func (s *shard[T]) guarded() bool {
	all, over := s.batches()
	return all > 1 && over == 0
}

// finished reports whether all batches up to the given number have been reclaimed, and no
// batch has an owner.
func (s *shard[T]) finished(number uint32) bool {
	for k := range s.sealed {
		word := s.sealed[k].word.Load()
		if word == claimed || isSealed(word) && precedes(word, number+1) {
			return false
		}
	}
	return true
}

// passedSlots returns how many slots are in batches whose grace period is known to be over.
// They wait only for an insertion. Batches with an owner do not count, nor does one for which
// the compare-and-swap fails: a reclaimer was faster.
func (s *shard[T]) passedSlots() (n int) {
	if !s.list.hold(false) { // or a queue's reclaimer would pass over a batch that is claimed here
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
