package epoch

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// cell is where one guard says that it is pinned, and since when.
//
//	word     epoch | sequence | transient | active
//	writers  claim, when it is idle; Release, for the guard that has it
//	readers  visit, for a scan
//	moves    idle → active → idle; the sequence grows at each release
//	orders   the claim announces the pin before the guard's first read (P4);
//	         the release store publishes that the guard's reads are over (P5); one
//	         that is seen late delays reclaiming
//
// Cells lie two cache lines apart, because processors fetch lines in pairs: guards must not
// write each other's lines.
type cell struct {
	word atom.Uint64
	_    [120]byte
}

// A cell's word holds all that a pin says, so one compare-and-swap claims the cell and one
// store gives it back:
//
//	 63            16 15         2   1       0
//	┌────────────────┬────────────┬───────┬──────┐
//	│ epoch          │ sequence   │ transient │active│
//	└────────────────┴────────────┴───────┴──────┘
//
// active is 1 while a guard is pinned, and transient is 1 while that guard is one of PinTransient. The
// sequence counts the cell's pins modulo 2^14. Sequence and epoch together tell this pin from
// all others, so a second Unpin, or one through a copy, finds another word and panics. It goes
// undetected only after a multiple of 16,384 pins of one cell within one epoch.
const (
	kindBits     = 2
	sequenceBits = 14
	epochShift   = kindBits + sequenceBits

	active    = 1
	transient = 2
	kindMask  = 1<<kindBits - 1
	countMask = 1<<epochShift - 1
)

// Limit is the last epoch: a cell has 48 bits for one. The epoch stops there and does not wrap.
// What is retired after that is reused only while no guard is pinned. At a million advances a
// second, that is nine years away.
const Limit = 1<<(64-epochShift) - 1

// claimed returns the word that claims a cell whose idle word is known, at epoch e. The kind
// is active, or active|transient.
func claimed(idle, e, kind uint64) uint64 { return e<<epochShift | idle&countMask | kind }

func isActive(word uint64) bool    { return word&active != 0 }
func isTransient(word uint64) bool { return word&transient != 0 }
func epochOf(word uint64) uint64   { return word >> epochShift }

// claim tries to pin c at epoch e. Success proves that the cell was idle and is now this
// guard's alone. Failure means that another guard has it.
func (c *cell) claim(e, kind uint64) (g Guard, ok bool) {
	if idle := c.word.Load(); !isActive(idle) { // observes (P5) of the last pin
		if word := claimed(idle, e, kind); c.word.CompareAndSwap(idle, word) { // publishes (P4)
			return Guard{&c.word, word}, true
		}
	}
	return
}

// claimCell pins. It tries a few of the first cells, then some of the newest block's, then makes a
// block. It never waits for a cell: the goroutine that holds one may not run before this one does.
func (d *Domain) claimCell(frame uintptr, kind uint64) Guard {
	e := d.clock.Load()
	if isStamped(e) {
		e = d.advance(e)
	}
	top, near := d.top.Load(), probes
	switch {
	case top == nil && len(d.first) == 0:
		panic("epoch: Pin of a zero Domain (or Pool); make one with New")
	case top == nil:
		near = len(d.first) // all, before anything is allocated
	case len(d.first) == 0:
		near = 0 // pins are traced
	}
	at, home := hint.Of(frame), home(frame)
	for i := range near {
		if g, ok := d.first[(home+i)&(len(d.first)-1)].claim(e, kind); ok {
			return g
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
		g, _ := fresh.pin(at, e, kind)        // no other goroutine sees the block yet
		if d.top.CompareAndSwap(top, fresh) { // publishes (P4)
			return g
		}
		// Another pin has appended a block with room, or a later pin has.
	}
}
