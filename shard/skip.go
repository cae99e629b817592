package shard

import "coatcheck/internal/atom"

// A restored pool begins a new line of generations, so that handles which the original issued
// after the snapshot name nothing in it. Slots that are vacant then skip some lives at once.
// A live slot must keep its handle, so it skips them when it is reclaimed.

// LeastSkip is how many lives the slots of a restored pool skip at least, if a SkipShare-th of all
// their lives is more. So often a slot may have been used after the snapshot, and none of its handles
// is accepted. A greater number would leave fewer lives: a slot loses at most a SkipShare-th of them.
const (
	LeastSkip = 1 << 16
	SkipShare = 500
)

// skips are the lives that slots skip when they are reclaimed next. An arena has none unless it
// was restored, and again none once all such slots have been reclaimed.
type skips struct {
	// lives has a number for each slot that was restored, mostly 0.
	//
	//	writers  add, before another goroutine sees the arena; take, for the slot's owner
	//	readers  skip; Skips
	lives []atom.Uint32

	// left counts the slots whose number is not 0.
	//
	//	writers  add and take
	left atom.Int64
}

// skip lets slot i, whose word is word, skip the lives that it must. It returns the slot's word:
// that of an exhausted slot if no life is left. The caller owns the slot, whose grace period is
// over, and which is not held.
func (a *Arena) skip(slot *Hook, i uint32, word uint64) uint64 {
	s := a.skips.Load()
	if s == nil || uint64(i) >= uint64(len(s.lives)) {
		return word
	}
	n := s.lives[i].Load()
	if n == 0 {
		return word
	}
	if previous := Generation(word); previous != Spent {
		word = Pack(later(previous, n), Low(word))
		if Generation(word) == Spent {
			a.spent.Add(1)
		}
		slot.set(word) // before the number is taken: a snapshot reads the number, and then the word
	}
	if s.take(i); s.left.Load() == 0 {
		a.skips.Store(nil)
	}
	return word
}

// skipAll is skip for slots that a magazine owns. It takes those out that are exhausted then.
func (a *Arena) skipAll(entries []cached) []cached {
	left := entries[:0]
	for _, k := range entries {
		slot := k.slot()
		word := a.skip(slot, Low(k.h), slot.Word.Load())
		if Generation(word) == Spent {
			a.discard(slot)
			continue
		}
		k.h = Pack(Generation(word)+1, Low(k.h))
		left = append(left, k)
	}
	if len(left) < len(entries) {
		a.waiters.wake() // new slots may take the places of those that are exhausted
	}
	return left
}

// later returns the generation to which a vacant slot comes by so many lives. If it has no life
// after them, that is Spent.
func later(generation, lives uint32) uint32 {
	return uint32(min(uint64(generation)+2*uint64(lives), Spent))
}

// add adds lives, at least one, to what slot i skips.
func (s *skips) add(i, lives uint32) {
	previous := s.lives[i].Load()
	if previous == 0 {
		s.left.Add(1)
	}
	s.lives[i].Store(min(previous+lives, Spent/2)) // neither is more
}

// take returns how many lives slot i skips, and makes it skip none. s may be nil.
func (s *skips) take(i uint32) (lives uint32) {
	if s == nil || uint64(i) >= uint64(len(s.lives)) {
		return 0
	}
	if lives = s.lives[i].Load(); lives > 0 {
		s.lives[i].Store(0)
		s.left.Add(-1)
	}
	return lives
}

// Skips stores in dst how many lives the slots from index first on skip when they are next
// reclaimed. It reports whether any of them skips some.
func (a *Arena) Skips(first uint32, dst []uint32) (found bool) {
	clear(dst)
	s := a.skips.Load()
	if s == nil || uint64(first) >= uint64(len(s.lives)) {
		return false
	}
	lives := s.lives[first:]
	for j := range min(len(dst), len(lives)) {
		dst[j] = lives[j].Load()
		found = found || dst[j] > 0
	}
	return found
}

// RestoreSkip makes slot i, which was handed out, skip so many lives when it is next reclaimed.
func (a *Arena) RestoreSkip(i, lives uint32) { a.makeSkips().add(i, min(lives, Spent/2)) }

// makeSkips returns what slots skip, with room for all that were handed out.
func (a *Arena) makeSkips() *skips {
	s, n := a.skips.Load(), int(a.Table.Allocated())
	if s == nil {
		s = new(skips)
		a.skips.Store(s)
	}
	if missing := n - len(s.lives); missing > 0 {
		s.lives = append(s.lives, make([]atom.Uint32, missing)...)
	}
	return s
}

// bytes returns the memory of s, which may be nil.
func (s *skips) bytes() int64 {
	if s == nil {
		return 0
	}
	return 4 * int64(len(s.lives))
}
