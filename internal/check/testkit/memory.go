package testkit

import "runtime"

// Heap returns how many bytes of the Go heap are in use.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Allocated returns how many bytes f allocates, those of other goroutines included.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
