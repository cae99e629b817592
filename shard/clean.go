package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// recycle makes a slot ready for its next life, after its grace period. It returns its word, and
// reports false if the slot has no other life, or is held.
func (a *Arena) recycle(slot *slots.Hook, i uint32, word uint64, held bool) (now uint64, ok bool) {
	now, owned, reusable := a.finishGrace(slot, i, word, held)
	switch {
	case owned && reusable:
		a.renew(slot)
	case owned:
		a.Clear(slot)
	}
	return now, owned && reusable
}

// renew makes the value of a slot that has another life ready for it.
func (a *Arena) renew(slot *slots.Hook) {
	if a.Pointers {
		a.Clear(slot)
	}
	if slots.Poisons {
		a.Fill(slot)
	}
}

// renewAll makes the slots of an array ready for their next life, which each of them has. It returns
// how many there are.
func (a *Arena) renewAll(b *slots.Array) int {
	t := a.Table.Pages()
	cost.Slots(int(b.N))
	for _, i := range b.Slots[:b.N] {
		a.renew(t.At(i))
	}
	return int(b.N)
}

// finishGrace reports whether a slot whose grace period is over is the caller's, or else parked,
// and whether it has another life. If it has none, and is the caller's, it is exhausted from now
// on. It returns the word of a slot that is the caller's.
func (a *Arena) finishGrace(slot *slots.Hook, i uint32, word uint64, held bool) (now uint64, owned, reusable bool) {
	if held && a.park(a.Table.Pages(), i) {
		return word, false, false
	}
	word = a.skip(slot, i, word)
	if slots.Generation(word) == slots.Spent {
		slot.Set(slots.Pack(slots.Spent, slots.None))
		a.Table.CountExhausted()
		return word, true, false
	}
	return word, true, true
}

// clean makes a slot ready for its next life, after its grace period. The caller owns the
// slot, and must expect a Reset that panics or exits.
func (a *Arena) clean(slot *slots.Hook, i uint32) {
	if a.Table.UnmarkMoved(i) {
		a.Clear(slot)
		return
	}
	returned := false
	defer func() {
		if !returned {
			a.Clear(slot)
		}
	}()
	a.Reset(slot)
	returned = true
}

// With a Reset, reclaiming calls user code. It may use the pool in any way, take long, panic
// or exit. So it runs under no lock, on slots that were taken out of their batch before. They
// count as the caller's. What it leaves undone goes back to the backlog, with the stamps that
// it had.

// resets is a run of slots of one batch, for which one goroutine calls Reset.
type resets struct {
	source, target *shard
	n              uint32               // how many slots the run has
	left           slots.Stamped[batch] // those that are left
}

// take takes as many slots out of what has passed as a run may have. In a bounded pool a run is short,
// so that an insertion finds one of the others. It reports false if the shard has as many runs as it
// may have.
func (r *resets) take(m *round) bool {
	s := m.source
	run := s.backlog.stepRun(min(s.arena.mostOwned, resetRun))
	if run.Body.N == 0 {
		return false
	}
	r.source, r.target, r.n, r.left = s, m.target, run.Body.N, run
	s.arena.running.Add(1)
	m.moved = true
	return true
}

// run calls Reset for the slots of r, and delivers them. If a Reset does not return, its slot
// is zeroed and free, and those after it wait again.
func (r *resets) run() {
	s, a := r.source, r.source.arena
	d := delivery{source: s}
	d.send(r.target, slots.Low(r.left.Body.First))
	defer func() {
		s.lock()
		defer s.unlock()
		r.end()
		d.deliver()
		a.waiters.wake()
	}()
	held := a.hasHolds() // observes (P7)
	for r.left.Body.N > 0 {
		slot, i, word := r.left.Body.TakeFirst(&a.Table)
		word, owned, reusable := a.finishGrace(slot, i, word, held)
		if !owned {
			continue
		}
		if reusable {
			d.add(slot, i, word) // before the Reset, which may not return
		}
		if a.clean(slot, i); !reusable {
			a.Clear(slot)
		}
	}
}

// end puts back what is left, and ends the run, under the lock.
func (r *resets) end() {
	r.source.arena.running.Add(-1)
	r.source.backlog.endRun(r.n, r.left)
}

// resetsPaid returns how many Resets so many removals pay for. If Resets are under way, this call may be
// part of one. Then it runs the slots of one run, and leaves the others to later calls.
//
// The wrong version lets a removal in a Reset pay as one outside. A Reset that removes one value and
// inserts another then has a round for 64 of these, within which 256 Resets have four rounds, and so
// on, as deep as there are runs: 600,000 Resets in one Remove from a pool of 170 slots. One Reset a
// removal is too many as well, since the insertions run some.
func (a *Arena) resetsPaid(removals uint32) uint32 {
	if a.running.Load() > 0 {
		return 0
	}
	return max(removals, reclaimMost)
}

// A restored pool begins a new line of generations, so that handles which the original issued
// after the snapshot name nothing in it. Slots that are vacant then skip some lives at once.
// A live slot must keep its handle, so it skips them when it is reclaimed.

// LeastSkip is the least number of lives that a restored slot skips, if a SkipShare-th of all its
// lives is more. If a slot was reused fewer times than that after the snapshot, none of those handles is
// accepted. A greater number would leave fewer lives: a slot loses at most a SkipShare-th of them.
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
func (a *Arena) skip(slot *slots.Hook, i uint32, word uint64) uint64 {
	s := a.skips.Load()
	if s == nil || uint64(i) >= uint64(len(s.lives)) {
		return word
	}
	n := s.lives[i].Load()
	if n == 0 {
		return word
	}
	if previous := slots.Generation(word); previous != slots.Spent {
		word = slots.Pack(later(previous, n), slots.Low(word))
		if slots.Generation(word) == slots.Spent {
			a.spent.Add(1)
		}
		slot.Set(word) // before the number is taken: a snapshot reads the number, and then the word
	}
	if s.take(i); s.left.Load() == 0 {
		a.skips.Store(nil)
	}
	return word
}

// skipAll is skip for slots that a magazine owns. It takes those out that are exhausted then.
func (a *Arena) skipAll(entries []slots.Cached) []slots.Cached {
	left := entries[:0]
	for _, k := range entries {
		slot := k.Slot()
		word := a.skip(slot, slots.Low(k.H), slot.Word.Load())
		if slots.Generation(word) == slots.Spent {
			a.discard(slot)
			continue
		}
		k.H = slots.Pack(slots.Generation(word)+1, slots.Low(k.H))
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
	return uint32(min(uint64(generation)+2*uint64(lives), slots.Spent))
}

// add adds lives, at least one, to what slot i skips.
func (s *skips) add(i, lives uint32) {
	previous := s.lives[i].Load()
	if previous == 0 {
		s.left.Add(1)
	}
	s.lives[i].Store(min(previous+lives, slots.Spent/2)) // neither is more
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
func (a *Arena) RestoreSkip(i, lives uint32) { a.makeSkips().add(i, min(lives, slots.Spent/2)) }

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
