package epoch

// Guard is one pin of a [Domain]. While it is pinned, nothing that its holder
// has seen in the structure is reused.
//
// The zero Guard is not pinned. A Guard may be unpinned by another goroutine
// than the one that pinned it, and by one only. It must not be used through two
// copies: the first Unpin ends the pin for both, the second panics.
type Guard struct {
	cell *cell
	word uint64 // what the cell holds while this pin lasts
}

// Unpin ends the pin. It panics if the guard is not pinned. It costs one locked
// instruction.
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
	// Publishes (P5). Success proves that the pin was this guard's, since no
	// other pin of this cell has this word. Failure means misuse.
	return c.word.CompareAndSwap(g.word, released(g.word))
}

// UnpinBrief ends a pin of PinBrief. It does not look whether there is one.
func (g *Guard) UnpinBrief() {
	g.cell.word.Store(released(g.word)) // publishes (P5); the cell is this guard's
}

// Pinned answers whether Unpin has yet to be called on this copy of the guard.
func (g *Guard) Pinned() bool { return g.cell != nil }
