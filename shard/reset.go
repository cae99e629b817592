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
	//	writers  take (+), under mu; resetAll (−)
	under [2]atom.Uint32

	// flips numbers the phases.
	//
	//	writers  flip, under mu, when the other count is 0: so when it has grown by
	//	         two, all that was counted before is over
	flips atom.Uint64
}

// Resets returns how many slots are in the hands of goroutines that call Reset.
func (s *Shard[T]) Resets() int { return int(s.resets.under[0].Load() + s.resets.under[1].Load()) }

// resetting reports whether so many Resets are under way that no more begin. Nothing
// more can be reclaimed then, and nobody may wait for user code.
func (s *Shard[T]) resetting() bool { return s.space.Reset != nil && s.Resets() >= resetsMost }

// ResetsGoal returns the number that ResetsDone is to be asked for about the Resets
// that are under way.
func (s *Shard[T]) ResetsGoal() uint64 { return s.resets.flips.Load() + 2 }

// ResetsDone reports whether the Resets are over that were under way when ResetsGoal
// returned goal.
func (s *Shard[T]) ResetsDone(goal uint64) bool {
	return s.resets.flips.Load() >= goal || s.Resets() == 0
}

// flip begins another phase if nothing is left of the one before. The caller holds
// mu.
func (s *Shard[T]) flip() {
	if s.space.Reset == nil {
		return
	}
	if f := s.resets.flips.Load(); s.resets.under[(f+1)%2].Load() == 0 {
		s.resets.flips.Store(f + 1)
	}
}

// toReset is a part of a batch that one goroutine has to itself.
type toReset struct {
	list  uint32 // n slots from here, by their links
	n     uint32
	phase uint64
}

// take takes the first slots of b. The caller holds mu.
func (s *Shard[T]) take(b *batch) toReset {
	list := s.list(b)
	mine := toReset{*list, min(b.n, s.space.handful()), s.resets.flips.Load() % 2}
	rest := *list
	for range mine.n {
		rest = Low(s.space.Slot(rest).Word.Load())
	}
	*list = rest
	b.n -= mine.n
	s.resets.under[mine.phase].Add(mine.n)
	return mine
}

// handful returns how many slots one goroutine takes at a time. In a bounded pool
// that is a small part of it, so that an insertion finds one of the others.
func (sp *Space[T]) handful() uint32 { return min(sp.Reach, resetRun) }

// resetAll cleans what was taken, sends it to the freelist of to, and returns how
// many slots came free.
//
// Everything is in its place before a Reset runs: run has the slot, and mine the
// rest. If Reset does not return, the rest goes back to limbo, for whoever
// reclaims next.
func (s *Shard[T]) resetAll(mine *toReset, to *Shard[T]) int {
	var r run[T]
	n := mine.n
	defer func() {
		s.untake(mine)
		s.putClean(&r, to)
		s.left.Add(-n)
		s.resets.under[mine.phase].Add(-n)
	}()
	held := s.space.held()
	for mine.n > 0 {
		i := mine.list
		slot := s.reclaimOne(&mine.list, &mine.n, &r, held)
		if slot == nil {
			continue
		}
		s.space.clean(slot, i)
		if Generation(slot.Word.Load()) == Spent {
			clear1(&slot.Value) // what Reset keeps for a next life is of no use now
		}
	}
	return r.n
}

// putClean sends clean slots to the freelist. A queue has one appender at a time,
// which is not waited for here: the slots go round once more then, and are zeroed
// at the end and not Reset again.
func (s *Shard[T]) putClean(r *run[T], to *Shard[T]) {
	switch {
	case r.n == 0:
	case !s.fifo:
		to.pushRun(r)
	case s.mu.TryLock():
		s.GiveCredit(int64(s.appendRun(r)))
		s.mu.Unlock()
	default:
		i := Low(r.first)
		for range r.n {
			s.space.MarkTaken(i)
			i = Low(s.space.Slot(i).Word.Load())
		}
		c := Chain{notTop: ^Low(r.first), n: uint32(r.n), tail: Pack(Generation(r.lastWord), r.lastAt)}
		s.pushChain(&c)
	}
}

// untake sends slots that were not cleaned back to limbo.
func (s *Shard[T]) untake(mine *toReset) {
	if mine.n == 0 {
		return
	}
	last := mine.list
	for range mine.n - 1 {
		last = Low(s.space.Slot(last).Word.Load())
	}
	tail := Pack(Generation(s.space.Slot(last).Word.Load()), last)
	c := Chain{notTop: ^mine.list, n: mine.n, tail: tail}
	s.pushChain(&c)
}
