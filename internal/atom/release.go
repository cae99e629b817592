//go:build (!amd64 || race) && !interleave

package atom

// StoreRelease stores v in w. A goroutine that loads v sees all earlier writes of the
// caller, and the caller's earlier reads are done. It promises no more, although here it is
// an atomic Store: its cost depends on the processor, and the race detector must see one.
func StoreRelease(w *Uint64, v uint64) { w.Store(v) }
