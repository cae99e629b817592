//go:build (!amd64 || race) && !interleave && !simulate

package atom

// StoreRelease stores v in w. Whoever sees it there sees everything that the
// caller wrote before it, and the caller's reads before it are over. More it does
// not promise, although it is an atomic Store here: what that costs depends on the
// processor, and the race detector must see one.
func StoreRelease(w *Uint64, v uint64) { w.Store(v) }
