package shard

import "coatcheck/internal/atom"

// With a Reset, reclaiming calls user code. It may use the pool in any way, take long, panic
// or exit. So it runs under no lock, on slots that were taken out of their batch before. Slots
// that it leaves undone go back to limbo.

// resetsMost is how many slots may be in Resets before no more are taken. A Reset that inserts
// may reclaim, and would otherwise call itself for as many slots as wait.
const resetsMost = 8 * resetRun

// resets counts the slots that are in Resets, by phase. So Synchronize can wait for the Resets
// that are under way, and need not wait for a moment without any.
type resets struct {
	// under has the counts; under[flips%2] is that of the Resets that begin now.
	//
	//	writers  begin (+); resetSome (−)
	//	readers  underReset, flip
	under [2]atom.Uint32

	// flips numbers the phases.
	//
	//	writers  flip, by compare-and-swap, when the other count is 0
	//	readers  begin, wait
	flips atom.Uint64

	// failed counts the runs that a Reset left undone. Their slots are in limbo again.
	//
	//	writers  resetSome, before it takes them from under
	//	readers  wait
	failed atom.Uint64
}

// begin counts n slots in the current phase, and returns the phase. A flip may come between
// load and addition. Every other flip checks each count, so the slots delay the next flip or
// the one after it.
func (r *resets) begin(n uint32) (phase uint64) {
	phase = r.flips.Load()
	r.under[phase%2].Add(n)
	return phase
}

// flip begins another phase if no slot is left of the one before.
func (r *resets) flip() {
	f := r.flips.Load()
	if r.under[(f+1)%2].Load() == 0 {
		// Failure means that another goroutine began it.
		r.flips.CompareAndSwap(f, f+1)
	}
}

// underReset returns how many slots are in Resets.
func (s *shard[T]) underReset() int { return int(s.resets.under[0].Load() + s.resets.under[1].Load()) }

// resetting reports whether so many Resets are under way that no more begin. Nothing more can
// be reclaimed then, and no insertion may wait for user code.
func (s *shard[T]) resetting() bool { return s.arena.Reset != nil && s.underReset() >= resetsMost }

// resetSome takes the first of r's slots out of b, ends the claim, releases the list, and
// calls Reset for them. In a bounded pool it takes few, so that an insertion finds one of the
// others. It holds the list again when it returns. If a Reset does not return, the remaining
// slots go back to limbo, for the next reclaimer.
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
		s.list.hold(true) // wait, because the slots are in no batch
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
