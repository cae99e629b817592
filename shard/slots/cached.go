package slots

import "unsafe"

// Cached is a vacant slot with the handle that it will have. The slot's address is a number (unsafe
// register, U10). So an idle magazine keeps no memory that Trim has given up, wherever its arrays
// still have an old entry, and a removal stores no pointer, which would cost a write barrier.
type Cached struct {
	address uintptr
	H       uint64
}

// Slot returns the slot, which must be the magazine's, or its caller's.
func (k *Cached) Slot() *Hook { return *(**Hook)(unsafe.Pointer(&k.address)) }

// NewCached returns the entry of a slot that the caller owns.
func NewCached(slot *Hook, h uint64) Cached { return Cached{uintptr(unsafe.Pointer(slot)), h} }
