//go:build race || coatcheck_debug

package cgohandle_test

// raceEnabled says that the race detector watches, which allocates by itself;
// or that pools remember who did what, which costs as much.
const raceEnabled = true
