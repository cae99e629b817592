package storm

import (
	"fmt"

	"go.uber.org/atomic"
)

// Owners knows which incarnation of each slot is somebody's: a table of words
// by slot index, 0 for none. It stands beside the structure that hands the slots
// out and trusts nothing that this says.
type Owners struct {
	words []atomic.Uint64
}

// NewOwners returns a table for n slots.
func NewOwners(n int) *Owners { return &Owners{words: make([]atomic.Uint64, n)} }

// Claim enters h as slot i's owner, once it was handed out and before it is
// shown to anybody. An error means that somebody has the slot already, or that
// the structure has fewer slots.
func (o *Owners) Claim(i uint32, h uint64) error {
	if int(i) >= len(o.words) {
		return fmt.Errorf("slot %d was handed out, there are %d", i, len(o.words))
	}
	if !o.words[i].CompareAndSwap(0, h) {
		return fmt.Errorf("slot %d is owned twice: handed out as %s, it is still owned as %s", i, text(h), text(o.words[i].Load()))
	}
	return nil
}

// Release strikes h out, before its slot is given back. It answers false if h
// was not slot i's owner: somebody else released it before.
func (o *Owners) Release(i uint32, h uint64) bool { return o.words[i].CompareAndSwap(h, 0) }

// text formats a word like a handle.
func text(h uint64) string { return fmt.Sprintf("%d@%d", uint32(h), h>>32) }
