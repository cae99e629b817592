//go:build interleave

package epoch

// firstCells is small where schedules are explored, so that a third guard needs
// another block.
func firstCells() int { return 1 }
