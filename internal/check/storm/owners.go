package storm

import (
	"fmt"

	"go.uber.org/atomic"
)

// Owners records which incarnation owns each slot: a table of words by slot index, 0 for
// none. It is apart from the structure that hands the slots out, and does not trust it.
type Owners struct {
	words []atomic.Uint64
}

// NewOwners returns a table for n slots.
func NewOwners(n int) *Owners { return &Owners{words: make([]atomic.Uint64, n)} }

// Claim makes h the owner of slot i. It is called after the slot was handed out and before
// others learn of h. It returns an error if the slot has an owner or is beyond the table.
func (o *Owners) Claim(i uint32, h uint64) error {
	if int(i) >= len(o.words) {
		return fmt.Errorf("slot %d was handed out, there are %d", i, len(o.words))
	}
	if !o.words[i].CompareAndSwap(0, h) {
		return fmt.Errorf("slot %d is owned twice: handed out as %s, it is still owned as %s", i, text(h), text(o.words[i].Load()))
	}
	return nil
}

// Release ends h's ownership of slot i, before the slot is given back. It reports whether h
// was the owner.
func (o *Owners) Release(i uint32, h uint64) bool { return o.words[i].CompareAndSwap(h, 0) }

// text formats a word as a handle.
func text(h uint64) string { return fmt.Sprintf("%d@%d", uint32(h), h>>32) }
