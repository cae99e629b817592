package shard

import "coatcheck/internal/atom"

// Where there is a Reset, reclaiming calls user code. It may use the pool in any
// way, take as long as it likes, panic or exit. So it runs under no lock, on slots
// that were taken out of their batch before, and what it leaves undone is put back.

// resetsMost is how many slots may be in the hands of goroutines that call Reset
// before no more are taken: a Reset that inserts may reclaim, and would otherwise
// call itself for as many slots as wait.
const resetsMost = 8 * resetRun

// resets counts the slots for which somebody calls Reset, by phase, so that
// Synchronize can wait for those that were under way and need not wait for a moment
// at which none is.
type resets struct {
	// under has the counts, under[flips%2] that of the Resets that begin now.
	//
	//	writers  takeForReset (+), under mu; resetAll (−)
	//	readers  underReset, flip
	under [2]atom.Uint32

	// flips numbers the phases.
	//
	//	writers  flip, under mu, when the other count is 0: so when it has grown by
	//	         two, all that was counted before is over
	//	readers  takeForReset, resetsGoal, resetsDone
	flips atom.Uint64
}

// underReset returns how many slots are in the hands of goroutines that call Reset.
func (s *shard[T]) underReset() int { return int(s.resets.under[0].Load() + s.resets.under[1].Load()) }

// resetting reports whether so many Resets are under way that no more begin. Nothing
// more can be reclaimed then, and nobody may wait for user code.
func (s *shard[T]) resetting() bool { return s.arena.Reset != nil && s.underReset() >= resetsMost }

// flip begins another phase if nothing is left of the one before. The caller holds
// mu.
func (s *shard[T]) flip() {
	if s.arena.Reset == nil {
		return
	}
	if f := s.resets.flips.Load(); s.resets.under[(f+1)%2].Load() == 0 {
		s.resets.flips.Store(f + 1)
	}
}

// toReset is a part of a batch that one goroutine has to itself.
type toReset[T any] struct {
	slots chain[T]
	phase uint64
}

// takeForReset takes the first slots of b: in a bounded pool a small part of it, so that
// an insertion finds one of the others. The caller holds mu.
func (s *shard[T]) takeForReset(b *batch[T]) (mine toReset[T]) {
	a := s.arena
	n := min(b.n, a.reach, resetRun)
	if s.fifo {
		mine.slots = b.turned.cut(a, n)
	} else {
		for range n {
			slot := a.slot(b.top)
			word := slot.Word.Load()
			mine.slots.append(slot, b.top, word)
			b.top = Low(word)
		}
	}
	b.n -= n
	mine.phase = s.resets.flips.Load() % 2
	s.resets.under[mine.phase].Add(n) // first: each slot is counted all the while
	s.left.Add(-n)
	return mine
}

// resetAll cleans what was taken, sends it to the freelist of to, and returns how
// many slots came free.
//
// Everything is in its place before a Reset runs: clean has the slot, and mine the
// rest. If Reset does not return, the rest goes back to limbo, for whoever
// reclaims next.
func (s *shard[T]) resetAll(mine *toReset[T], to *shard[T]) (freed int) {
	a, n := s.arena, mine.slots.n
	var clean chain[T]
	defer func() {
		s.pushLimbo(&mine.slots, a.tag())
		freed = s.putClean(&clean, to)
		s.resets.under[mine.phase].Add(-n)
	}()
	held := a.held()
	for mine.slots.n > 0 {
		one := mine.slots.cut(a, 1)
		slot, i := one.last, Low(one.tail)
		word := Pack(Generation(one.tail), one.next)
		if held && a.park(i) {
			continue
		}
		if s.reusable(slot, word) {
			clean.append(slot, i, word)
			a.clean(slot, i)
		} else {
			a.clean(slot, i)
			clear1(&slot.Value) // what Reset keeps for a next life is of no use now
		}
	}
	return freed
}

// putClean sends clean slots to the freelist. A queue has one appender at a time,
// which is not waited for here: the slots go round once more then, and are zeroed
// at the end and not Reset again.
func (s *shard[T]) putClean(c *chain[T], to *shard[T]) int {
	if !s.fifo {
		return s.release(c, to)
	}
	if s.mu.TryLock() {
		n := s.release(c, to)
		s.settle()
		s.mu.Unlock()
		return n
	}
	i := Low(c.first)
	for range c.n {
		s.arena.markTaken(i)
		i = Low(s.arena.slot(i).Word.Load())
	}
	s.pushLimbo(c, s.arena.tag())
	return 0
}
