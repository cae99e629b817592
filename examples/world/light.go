package main

import "sync/atomic"

// cell is the side of a square of the meadow's air, in pixels.
const cell = 8

// light says how many leaves lie above each square. Workers add to it at once;
// sums do not depend on the order.
type light struct {
	leaves [width/cell + 1][height/cell + 1]atomic.Int32 // by column, from the ground up
}

func (l *light) columns() int { return len(l.leaves) }

// at returns the square of a point, the nearest one if it lies outside.
func (l *light) at(x, y float64) *atomic.Int32 {
	column := &l.leaves[clamp(int(x)/cell, len(l.leaves))]
	return &column[clamp(int(y)/cell, len(column))]
}

// fall turns the numbers of leaves in column i into numbers of leaves above.
func (l *light) fall(i int) {
	column := &l.leaves[i]
	above := int32(0)
	for k := len(column) - 1; k >= 0; k-- {
		here := column[k].Load()
		column[k].Store(above)
		above += here
	}
}

// clear makes room for the next tick.
func (l *light) clear(i int) {
	for k := range l.leaves[i] {
		l.leaves[i][k].Store(0)
	}
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }
