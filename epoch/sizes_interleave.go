//go:build interleave

package epoch

// firstCells is small where schedules are explored, so that a third guard needs a block.
func firstCells() int { return 1 }

// Blocks are small too: one of four cells has marks of two levels.
const (
	fan    = 2
	probes = 2
	rounds = 2
)

// trackAges is false, because a clock shows another time in each run of a schedule.
const trackAges = false
