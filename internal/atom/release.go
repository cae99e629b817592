//go:build (!amd64 || race) && !interleave

package atom

// StoreRelease stores v in w, and returns v. A goroutine that loads v sees all earlier writes of the
// caller, and the caller's earlier reads are done. It promises no more, although here it is
// an atomic Store: its cost depends on the processor, and the race detector must see one.
func StoreRelease(v uint64, w *Uint64) uint64 {
	w.Store(v)
	return v
}

// StoreLast is StoreRelease where a plain store would do as well (release_amd64.go).
func StoreLast(v uint64, w *Uint64) { w.Store(v) }
