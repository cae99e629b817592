//go:build interleave

package epoch

import "time"

// The first row has two cells where it may grow, and one where it may not, as in most scenarios.
const leastCells = 2

func mostCells() int { return 1 }

const cellsAGuard = 1

// SetMost lets rows grow to n cells, a power of two. Call it after Init and before any other use.
func (d *Domain) SetMost(n int) { d.rowLimit = uint32(n) }

// cellsOf returns the cells of a row. Behind them are some that no scan visits, so that a place
// past the end is memory of the row's own, and a run can be repeated.
func cellsOf(n int) []cell { return make([]cell, n, 16) }

// Meet does what a pin does that has met another in the newest row. Before the first Pin it does
// nothing.
func (d *Domain) Meet() {
	if r := d.row.Load(); r != nil {
		d.meet(r)
	}
}

// HasBlock reports whether a pin has found no cell in the rows.
func (d *Domain) HasBlock() bool { return d.top.Load() != nil }

// A row grows to twice its length as soon as two pins meet.
const (
	rowFactor   = 2
	meetings    = 1
	meetingTime = time.Duration(0)
)

// Blocks are small: one of four cells has marks of two levels.
const (
	fan      = 2
	minBlock = 2
	probes   = 2
	rounds   = 2
)

// timed is false, because a clock shows another time in each run of a schedule.
const timed = false
