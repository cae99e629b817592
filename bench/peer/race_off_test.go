//go:build !race

package peer

// raceEnabled says that the race detector is on.
const raceEnabled = false
