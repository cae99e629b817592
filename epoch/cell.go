package epoch

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// cell is where one guard says that it is pinned, and since when.
//
//	word     epoch | sequence | brief | active
//	writers  claim, claimBrief and PinBrief, when it is idle; Release and
//	         UnpinBrief, for the guard that has it
//	readers  visit, for a scan
//	moves    idle → active → idle; the sequence grows at each release
//	orders   the claim announces the pin before the guard's first look (P4);
//	         the release store publishes that the guard's reads are over (P5); one
//	         that is seen late delays reclaiming
//
// Cells lie two cache lines apart (processors fetch lines in pairs): the point
// of a cell for each guard is that guards do not write each other's lines.
type cell struct {
	word atom.Uint64
	_    [120]byte
}

// claim tries to pin c at epoch e. Success proves that the cell was idle and is
// now this guard's alone. Failure means that another guard has it.
func (c *cell) claim(e, kind uint64) (word uint64, ok bool) {
	idle := c.word.Load() // observes (P5) of the last pin
	if isActive(idle) {
		return 0, false
	}
	word = claimed(idle, e, kind)
	return word, c.word.CompareAndSwap(idle, word) // publishes (P4)
}

// claimBrief tries to pin c, of which another idle word was expected, with word.
// It is for the cells of brief pins alone: it starts the sequence anew, and in
// another cell that would let the copy of a full guard end somebody else's pin.
func (c *cell) claimBrief(word uint64) bool {
	idle := c.word.Load() // observes (P5) of the last pin
	return !isActive(idle) && c.word.CompareAndSwap(idle, word)
}

// pinSlow finds a cell for a pin of either kind whose first choice was taken: a few
// of the first cells, then some of the newest block's, then one in a new block. It
// never waits for a cell, because a goroutine that holds one may not run before
// this one does.
func (d *Domain) pinSlow(at uint32, e, kind uint64) Guard {
	if len(d.first) == 0 {
		panic("epoch: Pin of a zero Domain (or Pool); make one with New")
	}
	top, near := d.top.Load(), probes
	if top == nil {
		near = len(d.first) // all, before anything is allocated
	}
	home := hint.Index(at, len(d.first))
	for i := range near {
		c := &d.first[(home+i)&(len(d.first)-1)]
		if word, ok := c.claim(e, kind); ok {
			return Guard{c, word}
		}
	}
	for n := len(d.first); ; top = d.top.Load() {
		if top != nil {
			if g, ok := top.pin(at, e, kind); ok {
				return g
			}
			n = len(top.cells)
		}
		fresh := newBlock(2*n, top)
		g, _ := fresh.pin(at, e, kind)        // nobody else sees the block yet
		if d.top.CompareAndSwap(top, fresh) { // publishes (P4)
			return g
		}
		// Another pin has appended a block, which has room, or a later one has.
	}
}
