package epoch

import "coatcheck/internal/atom"

// Guard is one pin of a [Domain]. While it is pinned, nothing that its holder
// has seen in the structure is reused.
//
// The zero Guard is not pinned. A Guard may be unpinned by another goroutine
// than the one that pinned it, and by one only. It must not be used through two
// copies: the first Unpin ends the pin for both, the second panics; at one moment
// on two goroutines, neither may, and the pin of a third be ended.
type Guard struct {
	cell *cell
	word uint64 // what the cell holds while this pin lasts
}

// Unpin ends the pin. It panics if the guard is not pinned.
func (g *Guard) Unpin() {
	if !g.Release() {
		panic("epoch: Unpin of a guard that is not pinned (unpinned before, or through a copy?)")
	}
}

// Release is Unpin for packages that wrap guards in their own and want to
// panic in their own words: it answers whether the guard was pinned.
func (g *Guard) Release() bool {
	c := g.cell
	if c == nil {
		return false
	}
	g.cell = nil
	// No other pin of this cell has this word, so it proves that the pin is this
	// guard's and lasts; and then nobody else stores to the cell. Another word
	// means misuse. A compare-and-swap would prove the same when two copies are
	// unpinned at one moment, for a locked instruction at each Unpin.
	if c.word.Load() != g.word {
		return false
	}
	atom.StoreRelease(&c.word, released(g.word)) // publishes (P5)
	return true
}

// UnpinBrief ends a pin of PinBrief. It does not look whether there is one.
func (g *Guard) UnpinBrief() {
	atom.StoreRelease(&g.cell.word, released(g.word)) // publishes (P5); the cell is this guard's
}

// Pinned answers whether Unpin has yet to be called on this copy of the guard.
func (g *Guard) Pinned() bool { return g.cell != nil }
