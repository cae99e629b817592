//go:build race

package pool_test

// raceEnabled says that the race detector watches, which allocates by itself and
// makes sync.Pool forget.
const raceEnabled = true
