//go:build race

package testkit

// Race says that the race detector watches. It allocates by itself, makes sync.Pool
// forget, and is slow.
const Race = true
