package main

import "sync/atomic"

// cell is the side of a square of the meadow's air, in pixels.
const cell = 8

// light counts the leaves above each square. Workers add to it at once, and sums do not
// depend on the order.
type light struct {
	// leaves is by column, from the ground up.
	//
	//	writers  shade, by adding; clear and fall, one worker a column
	//	readers  fall; live
	//	moves    0 → leaves in the square → leaves above it, once a tick
	//	orders   nothing: the end of a phase does
	leaves [width/cell + 1][height/cell + 1]atomic.Int32
}

func (l *light) columns() int { return len(l.leaves) }

// at returns the square of a point, or the nearest one if the point is outside.
func (l *light) at(x, y float64) *atomic.Int32 {
	column := &l.leaves[clamp(int(x)/cell, len(l.leaves))]
	return &column[clamp(int(y)/cell, len(column))]
}

// fall turns the number of leaves in each square of column i into the number above it.
func (l *light) fall(i int) {
	column := &l.leaves[i]
	above := int32(0)
	for k := len(column) - 1; k >= 0; k-- {
		here := column[k].Load()
		column[k].Store(above)
		above += here
	}
}

// clear resets column i for the next tick.
func (l *light) clear(i int) {
	for k := range l.leaves[i] {
		l.leaves[i][k].Store(0)
	}
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }
