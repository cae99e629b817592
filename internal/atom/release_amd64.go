//go:build !race && !interleave

package atom

import "unsafe"

// StoreRelease stores v in w, and returns v. A goroutine that loads v sees all earlier writes of the
// caller, and the caller's earlier reads are done. It promises no more: the caller's later
// loads may be done before others see v, which an atomic Store rules out. DESIGN.md lists
// the stores for which this is enough.
//
// On amd64 a plain store promises this: processors keep the order of all accesses except a
// store and a later load. An atomic Store is an exchange, which delays later accesses until
// the store is done. The function is not inlined, so that the compiler does not move the
// store (U7): its SSA form keeps the order of stores, but neither Go's memory model nor the
// documents of the compiler promise that. The call costs 2 instructions of 180 for a Pool's
// Insert and Remove, and 3 of 97 for a Worker's.
//
// v comes first and is returned, both in one register, so that callers need not keep it in
// memory over the call.
//
//go:noinline
func StoreRelease(v uint64, w *Uint64) uint64 {
	*(*uint64)(unsafe.Pointer(w)) = v
	return v
}

// StoreLast is StoreRelease without the call, for two places: in a function that is not inlined
// either, has no other store, and returns after it; and before an atomic operation of the caller
// that makes v known, so that nobody relies on the order of the store itself.
func StoreLast(v uint64, w *Uint64) { *(*uint64)(unsafe.Pointer(w)) = v }

// A Uint64 is its word alone.
var _ [8]byte = [unsafe.Sizeof(Uint64{})]byte{}
