//go:build race || coatcheck_debug

package pool_test

// raceEnabled says that the race detector watches, which allocates by itself and
// makes sync.Pool forget; or that pools remember who did what, which costs as
// much.
const raceEnabled = true
