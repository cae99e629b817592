//go:build !interleave

package epoch

import "runtime"

// minCells is the least number of cells in the first block. A scan visits all
// of them, so more than the processors can keep busy only costs.
const minCells = 8

// firstCells is the number of cells in the first block, four for each goroutine
// that can run at once.
func firstCells() int { return max(minCells, 4*runtime.GOMAXPROCS(0)) }
