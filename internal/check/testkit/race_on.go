//go:build race

package testkit

// Race says that the race detector is on. It allocates, makes sync.Pool drop values, and is
// slow.
const Race = true
