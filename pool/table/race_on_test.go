//go:build race

package table_test

// raceEnabled says that the race detector watches.
const raceEnabled = true
