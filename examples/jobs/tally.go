package main

import "go.uber.org/atomic"

// tally counts what one worker does to the pool.
type tally struct {
	inserted  int
	removed   int
	elsewhere int // of those removed: inserted by another worker
	reuses    int // of those inserted: into a slot that had held a node before
}

// add adds o to t.
func (t *tally) add(o tally) {
	t.inserted += o.inserted
	t.removed += o.removed
	t.elsewhere += o.elsewhere
	t.reuses += o.reuses
}

// slots counts the slots that were used at least once: every insertion takes a
// new one or reuses one.
func (t *tally) slots() int { return t.inserted - t.reuses }

// highWater is a number that goes up and down, and the most it was.
type highWater struct {
	// now is the number.
	//
	//	writers  any goroutine
	//	readers  the same
	//	moves    up and down
	//	orders   nothing
	now atomic.Int32

	// peak is the most that any add saw.
	//
	//	writers  any goroutine, by compare-and-swap
	//	readers  any goroutine
	//	moves    up only
	//	orders   nothing
	peak atomic.Int32
}

// add changes the number by delta.
func (w *highWater) add(delta int32) {
	now := w.now.Add(delta)
	for peak := w.peak.Load(); now > peak; peak = w.peak.Load() {
		// Success proves that the peak was below now until here. A failure means
		// that another goroutine raised it: look again, it may stand above now.
		if w.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// most gives the most that the number was.
func (w *highWater) most() int { return int(w.peak.Load()) }
