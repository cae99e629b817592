package epoch

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// cell is where one guard says that it is pinned, and since when.
//
//	word     epoch | sequence | transient | active
//	writers  claim and close, when it is idle; Release, for the guard that has it; begin, in a new
//	         block
//	readers  visit, for a scan
//	moves    idle → active → idle; the sequence grows at each release; idle → closed (row.go)
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
// active is 1 while a guard is pinned, and transient is 1 while that guard is one of PinTransient.
// The sequence counts the cell's pins modulo 2^14. Sequence and epoch together tell this pin from
// all others, so a second Unpin, or one through a copy, finds another word and panics. It goes
// undetected only after a multiple of 16,384 pins of one cell within one epoch.
//
// A closed cell is transient and not active, which no guard's is.
const (
	kindBits     = 2
	sequenceBits = 14
	epochShift   = kindBits + sequenceBits

	active    = 1
	transient = 2
	closed    = transient
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

func isIdle(word uint64) bool      { return word&kindMask == 0 }
func isActive(word uint64) bool    { return word&active != 0 }
func isTransient(word uint64) bool { return word&transient != 0 }
func epochOf(word uint64) uint64   { return word >> epochShift }

// claim tries to pin c at epoch e. Success proves that the cell was idle and is now this
// guard's alone. Failure means that another guard has it, or that it is closed.
func (c *cell) claim(e, kind uint64) (g Guard, ok bool) {
	if idle := c.word.Load(); isIdle(idle) { // observes (P5) of the last pin
		if word := claimed(idle, e, kind); c.word.CompareAndSwap(idle, word) { // publishes (P4)
			return Guard{&c.word, word}, true
		}
	}
	return
}

// close closes c if it is idle, and reports whether it is closed. Failure of the compare-and-swap
// means that a guard has the cell, or that another scan has closed it.
func (c *cell) close() bool {
	word := c.word.Load() // observes (P5) of the last pin
	return word == closed || isIdle(word) && c.word.CompareAndSwap(word, closed)
}

// claimCell pins. It tries the cells of the newest row: all before anything is allocated, or a few.
// It never waits for a cell: the goroutine that holds one may not run before this one does.
//
// The wrong version takes closed cells for taken ones. It makes a block that nobody needs, and that
// stays, where a longer row has idle cells.
func (d *Domain) claimCell(kind uint64) Guard {
	e := d.clock.Load()
	if isStamped(e) {
		e = d.advance(e)
	}
	r := d.row.Load()
	if r == nil {
		return d.claimFirst(e, kind)
	}
	start := len(r.cells)
	if d.top.Load() != nil {
		start = min(start, probes)
	}
	i := home(hint.Frame())
	previous := r.cell(i).word.Load()
	for k := range start {
		if g, ok := r.cell(i+k).claim(e, kind); ok {
			if k > 0 && r.cell(i).word.Load() != previous {
				d.meet(r)
			}
			return g
		}
	}
	if d.row.Load() != r {
		return d.claimCell(kind) // a scan may have closed r's cells. Rows are replaced a few times in all
	}
	g := d.claimInBlock(e, kind, max(2*len(r.cells), minBlock))
	if r.cell(i).word.Load() != previous {
		d.meet(r)
	}
	return g
}

// claimFirst is claimCell where there is no row.
func (d *Domain) claimFirst(e, kind uint64) Guard {
	switch {
	case d.rowLimit == 0:
		panic("epoch: Pin of a zero Domain (or Pool); make one with New")
	case d.traced != nil:
		g := d.claimInBlock(e, kind, minBlock)
		if g.word>>kindBits&(1<<sequenceBits-1) == 0 {
			d.traced.Wrapped(g)
		}
		return g
	}
	d.grow(nil, min(leastCells, int(d.rowLimit)))
	return d.claimCell(kind)
}

// claimInBlock pins in the newest block. If that has no room, it appends one that is twice as long;
// the first has n cells.
func (d *Domain) claimInBlock(e, kind uint64, n int) Guard {
	index := hint.Goroutine()
	for {
		top := d.top.Load()
		if top != nil {
			if g, ok := top.pin(index, e, kind); ok {
				return g
			}
			n = 2 * len(top.cells)
		}
		fresh := newBlock(n, top)
		if d.traced != nil {
			fresh.begin() // or its first pins would seem to be those after the last sequence
		}
		g, _ := fresh.pin(index, e, kind)     // no other goroutine sees the block yet
		if d.top.CompareAndSwap(top, fresh) { // publishes (P4)
			return g
		}
		// Another pin has appended a block with room, or a later pin has.
	}
}
