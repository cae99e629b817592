package atom

// The compiler inlines a method of sync/atomic only if the importing package's export data
// has its body. Export data has the bodies of functions that the package itself inlined. An
// alias inlines nothing, and neither does generic code that is instantiated elsewhere. So
// without these functions a program that uses a pool and does not import sync/atomic would
// call each atomic load, and look-ups would take three times as long.
//
// Every package of generic code that uses this one names the functions below once, in a
// blank variable, and so exports the bodies too.

// InlineUint32 inlines every method of Uint32.
func InlineUint32(w *Uint32) bool {
	w.Store(w.Load())
	w.Add(w.Or(1))
	w.And(1)
	return w.CompareAndSwap(0, 1)
}

// InlineUint64 inlines every method of Uint64, except for those of InlineBits.
func InlineUint64(w *Uint64) bool {
	w.Store(w.Load())
	w.Add(w.Swap(1))
	return w.CompareAndSwap(0, 1)
}

// InlineBits inlines Or and And of Uint64.
func InlineBits(w *Uint64) bool { return w.Or(w.And(1)) != 0 }

// InlineRelease inlines StoreLast, and StoreRelease where that can be. It is separate, because
// a call would make InlineUint64 too long to be inlined, and its bodies would not be exported.
func InlineRelease(w *Uint64) { StoreLast(StoreRelease(0, w), w) }

// InlineInt64 inlines every method of Int64.
func InlineInt64(w *Int64) bool {
	w.Store(w.Load())
	w.Add(1)
	return w.CompareAndSwap(0, 1)
}

// InlinePointer inlines Pointer's Load, its only method that is short enough.
func InlinePointer(w *Pointer[int]) bool { return w.Load() != nil }
