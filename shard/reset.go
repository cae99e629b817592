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
	//	writers  begin (+); resetSome (−)
	//	readers  underReset, flip
	under [2]atom.Uint32

	// flips numbers the phases.
	//
	//	writers  flip, by compare-and-swap, when the other count is 0
	//	readers  begin, resetsGoal, resetsDone
	flips atom.Uint64

	// failed counts the runs that a Reset left undone: their slots are in limbo again.
	//
	//	writers  resetSome, before it takes them from under
	//	readers  wait
	failed atom.Uint64
}

// begin counts n slots in the phase of now, and returns its number. Another may have begun
// when they are counted: each of the two counts is looked at in every other flip, so that
// they delay the next one or the one after it.
func (r *resets) begin(n uint32) (phase uint64) {
	phase = r.flips.Load()
	r.under[phase%2].Add(n)
	return phase
}

// flip begins another phase if nothing is left of the one before.
func (r *resets) flip() {
	f := r.flips.Load()
	if r.under[(f+1)%2].Load() == 0 {
		// Failure means that another began it.
		r.flips.CompareAndSwap(f, f+1)
	}
}

// underReset returns how many slots are in the hands of goroutines that call Reset.
func (s *shard[T]) underReset() int { return int(s.resets.under[0].Load() + s.resets.under[1].Load()) }

// resetting reports whether so many Resets are under way that no more begin. Nothing
// more can be reclaimed then, and nobody may wait for user code.
func (s *shard[T]) resetting() bool { return s.arena.Reset != nil && s.underReset() >= resetsMost }

// resetSome takes the first of r's slots out of b, ends the claim, lets go of the list, and
// calls Reset for them: in a bounded pool for few at a time, so that an insertion finds one
// of the others. The list is held again when it returns. If a Reset does not return, the
// rest goes back to limbo, for the next reclaimer.
func (r *run[T]) resetSome(b *batch[T]) {
	s, a := r.from, r.from.arena
	r.n = min(r.n, a.reach, resetRun)
	for range r.n {
		b.top = Low(a.slot(b.top).Word.Load())
	}
	n := r.n
	b.n -= n
	phase := s.resets.begin(n) // first: each slot is counted all the while
	s.left.Add(-n)
	b.leave()
	s.list.release()
	done := false
	defer func() {
		s.list.hold(true) // these slots are in no batch, where others could wait for them
		if r.n > 0 {
			r.putBack()
			s.resets.failed.Add(1)
		}
		r.deliver()
		s.resets.under[phase%2].Add(-n)
		if !done {
			s.list.release()
		}
	}()
	r.visit()
	done = true
}

// putBack retires what a Reset that did not return has left.
func (r *run[T]) putBack() {
	var rest chain[T]
	for ; r.n > 0; r.n-- {
		slot := r.from.arena.slot(r.top)
		word := slot.Word.Load()
		rest.append(slot, r.top, word)
		r.top = Low(word)
	}
	r.from.pushLimbo(&rest, 0)
}
