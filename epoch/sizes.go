//go:build !interleave

package epoch

import "runtime"

// minCells is the least number of cells from the start. A scan visits all of them, so more
// than the processors can use only cost time.
const minCells = 8

// firstCells returns that number for this machine: four for each goroutine that can run at
// once.
func firstCells() int { return max(minCells, 4*runtime.GOMAXPROCS(0)) }

// fan is how many cells a mark of a block stands for, and how many marks a mark of the level
// above. A larger one makes a scan visit more cells for a single guard. A smaller one makes a
// Pin load more marks.
const fan = 16

// A Pin tries probes cells from each of rounds places before it takes a block for full. If
// half of the cells are taken, it is wrong once in 2^64 pins.
const (
	probes = 4
	rounds = 16
)

// trackAges has scans note when epochs ended.
const trackAges = true
