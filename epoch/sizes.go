//go:build !interleave

package epoch

import (
	"runtime"
	"time"
)

// leastCells is how many cells the first row has: as many as the nested pins of one goroutine are
// likely to need. A longer one takes more memory in a pool that one goroutine uses. It must be 2
// at least.
const leastCells = 4

// mostCells returns how many the longest row has on this machine: four for each goroutine that
// can run at once. A scan visits all of them.
func mostCells() int { return ceilPow2(max(8, 4*runtime.GOMAXPROCS(0))) }

// cellsOf returns the cells of a row.
func cellsOf(n int) []cell { return make([]cell, n) }

// A row of n cells is replaced by one of rowFactor*n if meetings pins have met within meetingTime.
// With a larger factor, two goroutines have the cells of many; with a smaller one, many goroutines
// meet for longer.
const (
	rowFactor   = 8
	meetings    = 64
	meetingTime = 64 * time.Millisecond
)

// fan is how many cells a mark of a block stands for, and how many marks a mark of the level
// above. A larger one makes a scan visit more cells for a single guard. A smaller one makes a
// Pin load more marks.
const fan = 16

// minBlock is the least number of cells of the first block.
const minBlock = 16

// A Pin tries probes cells from each of rounds places before it takes a block for full. If
// half of the cells are taken, it is wrong once in 2^64 pins.
const (
	probes = 4
	rounds = 16
)

// timed says that scans note when epochs ended, and that pins which meet seldom do not count.
const timed = true

// cellsAGuard is how many cells a scan costs for each guard that it found, where it costs by guards: it
// visits some 2, and at most 16 (newBlock). With more than it visits, slots wait for longer; with fewer,
// removals pay for less than a scan.
const cellsAGuard = 4
