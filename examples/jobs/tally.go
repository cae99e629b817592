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

// slots returns how many slots were used at least once: every insertion takes a new slot
// or reuses one.
func (t *tally) slots() int { return t.inserted - t.reuses }

// highWater is a number and the greatest value that it had.
type highWater struct {
	// now is the number.
	//
	//	writers  any goroutine
	//	readers  the same
	//	moves    up and down
	//	orders   nothing
	now atomic.Int32

	// peak is the greatest value that any add saw.
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
		// Success proves that the peak was below now until here. Failure means that
		// another goroutine raised it, perhaps above now: load it again.
		if w.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// most returns the greatest value of the number.
func (w *highWater) most() int { return int(w.peak.Load()) }
