package epoch

import (
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// row is an array of first cells: those that pins try before others, and that every scan visits.
//
// The naive Domain has as many first cells from the start as its processors can use: 32 KB on 64
// processors, in each of ten thousand small pools. Here the first Pin makes a short row. When
// pins meet in it, a longer one takes its place, up to as many cells as the naive Domain has.
// Where the pins of one goroutine are nested, they do not meet, and the row stays short.
//
// Cells never move, because guards have their addresses. So scans visit the row before, too,
// until all its cells are closed: idle, and never claimed again.
//
//	Pin                       grow                      scan
//	loads mask, then base     publishes the row         visits the newest row
//	claims base[hint & mask]  stores base, then mask    closes the idle cells of the row before
//	                                                    all are closed: drops that row
//
// A mask that was loaded before base is never too long for it. A pin finds base only after the row was
// published. So a scan that begins after that guard's first look finds the row (L3).
//
// The naive scan drops the row before once it finds nobody there. But a pin may have loaded base
// earlier, and claim a cell there now. If the cell is closed, it fails, and goes to the newest row.
type row struct {
	cells []cell // length is a power of two; constant

	// older is the row before, or nil once all its cells are closed.
	//
	//	writers  grow, before the row is published; visitRow, which stores nil
	//	readers  visitRow, Scanned and Bytes
	//	moves    to nil
	older atom.Pointer[row]
}

// pin is pinSlow for a cell that is idle at the first look. E may advance before the cell shows
// e. That only delays reclaiming: a guard with an old epoch holds back more.
//
// The cell is the one that home has the index of, as an address (U12). mask has 12 bits of the
// hint where they count cells, so that no further shift is needed.
//
//go:nosplit
func (d *Domain) pin(frame uintptr) Guard {
	var e uint64
	if e = d.clock.Load(); isStamped(e) {
		e = d.advance(e)
	}
	at := hint.Of(frame) >> (homeShift - cellShift) & d.mask.Load()
	if base := d.base.Load(); base != nil {
		c := (*cell)(unsafe.Add(unsafe.Pointer(base), at))
		if g, ok := c.claim(e, active); ok {
			return g
		}
	}
	return d.pinSlow()
}

// home returns the index of that cell, modulo the row's length.
func home(frame uintptr) int { return int(hint.Of(frame) >> homeShift) }

const (
	homeShift = 20
	cellShift = 7
)

// A cell has 1<<cellShift bytes.
var _ [1 << cellShift]byte = [unsafe.Sizeof(cell{})]byte{}

// mask returns the offsets that a place in r may have.
func (r *row) mask() uint32 { return uint32(len(r.cells)-1) << cellShift }

// at returns the cell with index i modulo the row's length.
func (r *row) at(i int) *cell { return &r.cells[i&(len(r.cells)-1)] }

// grow makes a row of n cells the newest, after r, unless another goroutine is about to.
//
// While the mask is not r's, the goroutine that has published r has stored neither or only base.
// If another one replaced r meanwhile, that goroutine would set base back, under a longer mask.
// So one grows at a time, and none waits for it. A row that may be replaced has two cells at least,
// or its mask would tell nothing.
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

// install shows r to later pins. The wrong version stores the mask first: a pin finds it beside
// the base of the row before, and claims a cell past the end of that.
func (d *Domain) install(r *row) {
	d.base.Store(&r.cells[0])
	d.mask.Store(r.mask())
}

// meet counts a pin that found its home taken, took another cell, and then found that the home's
// word had changed. So another goroutine comes and goes there; a guard of this goroutine
// would have stayed. If a thousand pins a second meet, a longer row replaces r. Fewer cost
// less than a millisecond in a second, and no pool grows that has long been used a little.
//
// Two goroutines that use one cell in turns cost each other a cache miss a pin. The more often they
// pin, the sooner they meet.
func (d *Domain) meet(r *row) {
	if len(r.cells) >= int(d.most) || d.meets.Add(1)%meetings != 0 {
		return
	}
	if timed {
		t := now()
		if t-d.met.Swap(t) > uint64(meetingTime) {
			return
		}
	}
	d.grow(r, min(rowFactor*len(r.cells), int(d.most)))
}

// visitRow adds the active cells of r and of the rows before it. If no guard is left in those, it
// drops them.
func (p *Pins) visitRow(r *row) (idle bool) {
	if o := r.older.Load(); o != nil && p.visitRow(o) && o.close() {
		r.older.Store(nil) // publishes (P5)
	}
	return p.visit(r.cells)
}

// close closes the idle cells of a row that is not the newest. It reports whether all are closed,
// and so are those of the rows before.
func (r *row) close() bool {
	for i := range r.cells {
		if !r.cells[i].close() {
			return false
		}
	}
	return r.older.Load() == nil
}
