//go:build !race && !interleave && !simulate

package atom

import "unsafe"

// StoreRelease stores v in w. Whoever sees it there sees everything that the
// caller wrote before it, and the caller's reads before it are over. That is all:
// the caller's later loads may be done before others see v, which an atomic
// Store rules out. DESIGN.md lists the stores for which this is enough.
//
// On amd64 a plain store is that much: processors keep the order of all accesses
// but for a store and a later load. An atomic Store is an exchange there, which
// holds up whatever follows until the store is through. The function is not put
// into its callers, so that the compiler keeps the store's place (U7); Go's
// runtime has the same under the name StoreRel.
//
//go:noinline
func StoreRelease(w *Uint64, v uint64) { *(*uint64)(unsafe.Pointer(w)) = v }

// A Uint64 is its word and nothing else.
var _ [8]byte = [unsafe.Sizeof(Uint64{})]byte{}
