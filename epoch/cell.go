package epoch

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// cell is where one guard says that it is pinned, and since when.
//
//	word     epoch | sequence | active
//	writers  who finds it idle claims it; whoever has the Guard releases it
//	readers  every scan for the frontier
//	moves    idle → active → idle; the sequence grows at each release
//	orders   the claim announces the pin before the guard's first look (P4);
//	         the release publishes that the guard's reads are over (P5)
//
// Cells lie two cache lines apart (processors fetch lines in pairs): the point
// of a cell for each guard is that guards do not write each other's lines.
type cell struct {
	word atom.Uint64
	_    [120]byte
}

// block is an array of cells. Blocks form a list that only grows, each at least
// twice as long as the one before, so that a Pin visits few of them.
//
// used says whether a cell of this block was ever claimed, and spares scans the
// blocks that were provided and never needed. It is set before the claim: a
// scan that finds it unset began before any guard of this block had looked at
// anything, and need not see those guards (DESIGN.md, L3).
type block struct {
	cells []cell // length is a power of two
	used  atom.Uint32
	next  atom.Pointer[block]
}

// probes is how many neighbours of its hint a Pin tries in each block before it
// searches everything. At half load all eight are taken once in 256 pins.
const probes = 8

func newBlock(n int) *block { return &block{cells: make([]cell, n)} }

// claim tries to pin c at epoch e. Success proves that the cell was idle and is
// now this guard's alone. Failure means that another guard has it.
func (c *cell) claim(e uint64) (word uint64, ok bool) {
	idle := c.word.Load() // observes (P5) of the last pin
	if isActive(idle) {
		return 0, false
	}
	word = claimed(idle, e)
	return word, c.word.CompareAndSwap(idle, word) // publishes (P4)
}

// claimBrief tries to pin c, of which another idle word was expected, with word.
func (c *cell) claimBrief(word uint64) bool {
	idle := c.word.Load() // observes (P5) of the last pin
	return !isActive(idle) && c.word.CompareAndSwap(idle, word)
}

// pinSlow finds a cell for a Pin whose first choice was taken: a few neighbours
// in each block, then every cell, then a new block. It never waits for a cell,
// because a goroutine that holds one may not run before this one does.
func (d *Domain) pinSlow(at uint32, e uint64) Guard {
	if len(d.first.cells) == 0 {
		panic("epoch: Pin of a zero Domain (or Pool); make one with New")
	}
	last := &d.first
	for b := last; b != nil; b = b.next.Load() {
		if g, ok := b.pin(at, e, probes); ok {
			return g
		}
		last = b
	}
	for b := &d.first; b != nil; b = b.next.Load() {
		if g, ok := b.pin(at, e, len(b.cells)); ok {
			return g
		}
		last = b
	}
	fresh := newBlock(2 * len(last.cells)) // at least doubles what there is
	fresh.used.Store(1)
	c := &fresh.cells[hint.Index(at, len(fresh.cells))]
	word := claimed(0, e)
	c.word.Store(word) // nobody else sees the block yet
	for !last.next.CompareAndSwap(nil, fresh) {
		// Somebody else appended a block; it has room, or a later one has.
		last = last.next.Load()
		if g, ok := last.pin(at, e, len(last.cells)); ok {
			return g
		}
	}
	return Guard{c, word}
}

// pin tries n cells from the one that the hint names.
func (b *block) pin(at uint32, e uint64, n int) (Guard, bool) {
	if b.used.Load() == 0 {
		b.used.Store(1)
	}
	first, mask := hint.Index(at, len(b.cells)), len(b.cells)-1
	for i := range min(n, len(b.cells)) {
		c := &b.cells[(first+i)&mask]
		if word, ok := c.claim(e); ok {
			return Guard{c, word}, true
		}
	}
	return Guard{}, false
}
