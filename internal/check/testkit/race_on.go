//go:build race

package testkit

// Race reports whether the race detector is on. It is slow, allocates, and makes sync.Pool
// drop values.
const Race = true
