package testkit

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Heap returns the number of bytes in use on the Go heap.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // collects what finalizers kept reachable
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Allocated returns the number of bytes that f, and other goroutines meanwhile, allocate.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Allocates requires that a call allocates so many objects, on average over n calls, of which one more goes
// before. prepare makes what a measure calls, so that a call may be the first of its kind.
//
// The runtime allocates beside a test: where it calls cleanups that a cycle of the collector has found, and for
// one in a thousand lookups of its own that miss a cache. What the code under test allocates comes back in
// each measure, so the best of a few counts.
func Allocates(t testing.TB, want float64, n int, prepare func() (call func()), what ...any) {
	t.Helper()
	var got float64
	for range 5 {
		if got = testing.AllocsPerRun(n, prepare()); got == want {
			return
		}
	}
	assert.Equal(t, want, got, what...)
}
