//go:build race

package codec_test

// raceEnabled says that the race detector watches, which allocates by itself.
const raceEnabled = true
