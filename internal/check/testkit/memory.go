package testkit

import "runtime"

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
