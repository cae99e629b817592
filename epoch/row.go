package epoch

import (
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// row is an array of pin cells: pins try those of the newest row before those of a block, and every
// scan visits them.
//
// The naive Domain has as many cells from the start as its processors can use: 32 KB on 64
// processors, and 320 MB in 10,000 small pools, which now take 5 MB. Here the first Pin makes a
// short row. When pins meet in it, a longer one replaces it, up to as many cells as the naive
// Domain has. Nested pins of one goroutine do not meet, and the row stays short. A row that stayed
// short for all would send more pins to blocks, where a pin takes half as long again.
//
// Cells never move, because guards have their addresses. So scans also visit the row before, until
// they have closed all its cells: a closed cell is idle, and never claimed again.
//
//	Pin                       grow                      scan
//	loads mask, then base     publishes the row         visits the newest row
//	claims base[hint & mask]  stores base, then mask    closes the idle cells of the row before
//	                                                    all are closed: drops that row
//
// A pin that loads mask before base gets a cell within base's row. It finds base only after the row
// was published, so a scan that begins after the guard's first look finds the row (L3).
//
// The naive scan drops the row before once it finds nobody there. But a pin that loaded base
// earlier may claim a cell there afterwards. If the cell is closed, that pin fails, and goes to the
// newest row.
type row struct {
	cells []cell // length is a power of two; constant

	// older is the row before, or nil once all its cells are closed.
	//
	//	writers  grow, before the row is published; visitRow, which stores nil
	//	readers  visitRow, Scanned and Bytes
	//	moves    to nil
	older atom.Pointer[row]
}

// pin tries one cell, and leaves the rest to pinSlow. E may advance before the cell shows e. That
// only delays reclaiming: a guard with an old epoch holds back more.
//
// The cell is the one whose index home returns, found by its address (U12). mask selects bits of
// the shifted hint that count bytes in whole cells, so that no further shift is needed.
//
//go:nosplit
func (d *Domain) pin(frame uintptr) Guard {
	var e uint64
	if e = d.clock.Load(); isStamped(e) {
		e = d.advance(e)
	}
	index := hint.Of(frame) >> (homeShift - cellShift) & d.mask.Load()
	if base := d.base.Load(); base != nil {
		c := (*cell)(unsafe.Add(unsafe.Pointer(base), index))
		if g, ok := c.claim(e, active); ok {
			return g
		}
	}
	return d.pinSlow()
}

// home returns the index of the cell that a pin tries first, modulo the row's length.
func home(frame uintptr) int { return int(hint.Of(frame) >> homeShift) }

const (
	homeShift = 20
	cellShift = 7
)

// A cell has 1<<cellShift bytes.
var _ [1 << cellShift]byte = [unsafe.Sizeof(cell{})]byte{}

// mask returns the bits that the offset of a cell in r may have.
func (r *row) mask() uint32 { return uint32(len(r.cells)-1) << cellShift }

// cell returns the cell with index i modulo the row's length.
func (r *row) cell(i int) *cell { return &r.cells[i&(len(r.cells)-1)] }

// grow makes a row of n cells the newest, after r, unless another goroutine is about to.
//
// While the mask is not r's, the goroutine that has published r has still to store it. If another
// one replaced r now, the first would set base back under a longer mask. So one goroutine grows at
// a time, and none waits for it. A row that may be replaced has two cells at least: with one, its
// mask would be 0, as before the first row.
func (d *Domain) grow(r *row, n int) {
	if r != nil && d.mask.Load() != r.mask() {
		return
	}
	fresh := &row{cells: cellsOf(n)}
	fresh.older.Store(r)
	if !d.row.CompareAndSwap(r, fresh) { // publishes (P4)
		return // another row has taken r's place
	}
	d.install(fresh)
}

// install shows r to later pins. The wrong version stores the mask first: a pin loads it, then the
// base of the row before, and claims a cell past the end of that row.
func (d *Domain) install(r *row) {
	d.base.Store(&r.cells[0])
	d.mask.Store(r.mask())
}

// meet counts pins that lost their cell to another goroutine: one found its home taken, took another
// cell, and then found that the home's word had changed. So another goroutine comes and goes there; a guard of this goroutine would have
// stayed. A compare-and-swap that fails would tell too, but is rare: mostly the load before it has
// found the cell taken. A count of pins is a word that all pins would write. If a thousand pins a
// second meet, a longer row replaces r. Fewer cost less than a millisecond in a second, so a pool
// that is used a little for long does not grow.
//
// Two goroutines that use one cell in turns cost each other a cache miss at each pin. The more
// often they pin, the sooner they meet.
func (d *Domain) meet(r *row) {
	if len(r.cells) >= int(d.rowLimit) || d.meets.Add(1)%meetings != 0 {
		return
	}
	if timed {
		t := now()
		if t-d.meetings.Swap(t) > uint64(meetingTime) {
			return
		}
	}
	d.grow(r, min(rowFactor*len(r.cells), int(d.rowLimit)))
}

// visitRow adds the active cells of r and of the rows before it. If no guard is left in the rows
// before, it closes their cells, and drops them.
func (p *Pins) visitRow(r *row) (idle bool) {
	if o := r.older.Load(); o != nil && p.visitRow(o) && o.close() {
		r.older.Store(nil) // publishes (P5)
	}
	return p.visit(r.cells)
}

// close closes the idle cells of a row that is not the newest. It reports whether all its cells are
// closed now, and no row before it is left.
func (r *row) close() bool {
	for i := range r.cells {
		if !r.cells[i].close() {
			return false
		}
	}
	return r.older.Load() == nil
}
