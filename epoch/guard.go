package epoch

import "coatcheck/internal/atom"

// Guard is one pin of a [Domain]. While it is pinned, nothing that its holder has seen in the
// structure is reused. The zero Guard is not pinned.
//
// One goroutine may unpin a Guard that another has pinned. Do not use two copies of a Guard: the
// first Unpin ends the pin for both, and the second panics. If two goroutines unpin two copies at
// the same moment, perhaps neither panics, and the pin of a third goroutine may end.
type Guard struct {
	cell *atom.Uint64 // its cell's word
	word uint64       // the cell's word while this pin lasts
}

// Unpin ends the pin. It panics if the guard is not pinned.
func (g *Guard) Unpin() {
	if g.cell == nil || !g.Release() {
		panic("epoch: Unpin of a guard that is not pinned (unpinned before, or through a copy?)")
	}
	g.cell = nil
}

// Pinned reports whether the guard is still pinned. The answer is right until 16,384 later pins
// of its cell within one epoch; a Tracer is told before. So use it in reports, not to decide whether
// what the guard protects may be read.
func (g Guard) Pinned() bool { return g.cell != nil && g.cell.Load() == g.word }

// Beside reports whether two guards have, or had, one cell.
func (g Guard) Beside(h Guard) bool { return g.cell == h.cell }

// Release is Unpin for packages that wrap guards and panic with their own text. It reports
// whether the guard was pinned. The guard must not be the zero Guard. It is an argument, not a
// receiver by pointer, so that it need not lie in memory. Release is not inlined, as StoreLast
// asks.
//
//go:noinline
func (g Guard) Release() bool {
	// No other pin of this cell has this word. So if the word is still there, the pin is this
	// guard's, and no other goroutine stores to the cell. Another word means misuse. A
	// compare-and-swap would also detect two copies that are unpinned at the same moment, but
	// it costs each Unpin a locked instruction: a pin and its end would take 1.4 times as long. Without
	// it, both may find their word, and then the pin of a third goroutine that claims the cell between
	// their two stores may end.
	if g.cell.Load() != g.word {
		return false
	}
	// Adding 1 to a word whose kind is all ones clears the kind and carries into the sequence,
	// which may carry into the epoch. That is not read in an idle cell.
	atom.StoreLast((g.word|kindMask)+1, g.cell) // publishes (P5)
	return true
}

// ReleaseLast is Release for a guard that its caller alone has had: there is no misuse to look for.
// It is inlined. So call it as StoreLast asks, at the end of a function that is not; a deferred
// call is such a function.
func (g Guard) ReleaseLast() { atom.StoreLast((g.word|kindMask)+1, g.cell) } // publishes (P5)
