package atom

// The compiler puts a method of sync/atomic into its caller only if it has the
// method's body at hand, and a package hands bodies on to those who import it
// only for what it inlined itself. An alias inlines nothing, and neither does
// generic code that is instantiated elsewhere. So without what follows, a
// program that uses a pool and does not happen to import sync/atomic itself
// would make a call of each atomic load: look-ups took three times as long.
//
// Every package of generic code that is built on this one names the functions
// below once, in a variable that costs nothing, and thereby hands the bodies on.

// InlineUint32 has every method of Uint32 inlined in it.
func InlineUint32(w *Uint32) bool {
	w.Store(w.Load())
	w.Add(w.Or(1))
	w.And(1)
	return w.CompareAndSwap(0, 1)
}

// InlineUint64 has every method of Uint64 inlined in it.
func InlineUint64(w *Uint64) bool {
	w.Store(w.Load())
	w.Add(w.Swap(1))
	return w.CompareAndSwap(0, 1)
}

// InlineRelease has StoreRelease inlined in it, where that can be. It stands alone: a call
// would make InlineUint64 too long to be put into its callers, and with it all that it
// hands on.
func InlineRelease(w *Uint64) { StoreRelease(w, 0) }

// InlineInt64 has every method of Int64 inlined in it.
func InlineInt64(w *Int64) bool {
	w.Store(w.Load())
	w.Add(1)
	return w.CompareAndSwap(0, 1)
}

// InlinePointer has Pointer's Load inlined in it, the only method of its own
// that is short enough.
func InlinePointer(w *Pointer[int]) bool { return w.Load() != nil }
