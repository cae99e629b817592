//go:build !interleave

package epoch

import "runtime"

// minCells is the least number of cells for full pins, and for brief ones. A scan
// visits all of them, so more than the processors can keep busy only costs.
const minCells = 8

// firstCells is that number for this machine, four for each goroutine that can run
// at once.
func firstCells() int { return max(minCells, 4*runtime.GOMAXPROCS(0)) }

// fan is how many cells a mark of a block stands for, and how many marks one of
// the level above. A larger one has a scan visit more for a guard that stands
// alone, a smaller one has a Pin look at more marks.
const fan = 16

// A Pin tries probes cells from each of rounds places of a block before it takes
// the block for full. With half of the cells taken that is an error once in 2^64
// pins.
const (
	probes = 4
	rounds = 16
)
