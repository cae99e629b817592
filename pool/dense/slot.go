package dense

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// slot is what a handle's index leads to. It holds the position of the value, if that
// value is the one that the handle names.
//
//	handle   generation | index ──▶ slots[index]  { generation | at } ──▶ values[at]
//
// A slot's generation is odd while a value has it, and grows by one at each end, as a
// pool's does. A pool's slots come free at any moment, so it also needs lock-free
// freelists, limbo and grace periods. Here slots come free in Refresh alone. So during a
// phase it is known which slot each new position will have: see Store.next.
// One addition claims a position, and with it a slot. Nothing is popped, so there is no
// ABA, no list to walk, and no slot to be found. (With a pool of positions inside,
// Refresh was 2.5 to 8 times as slow as a plain pass of compaction. Removals went through
// lists, where each step waits for the cache miss of the one before.)
//
// This is the sparse set (Briggs and Torczon, 1993) with generations: handles is its
// dense side, slots the sparse one.
type slot struct {
	// generation is odd while at is valid, and 0 if the slot was never used.
	//
	//	writers  begin, for Create and CreateFunc, which have claimed the slot; end, for Refresh, plainly
	//	readers  any holder of a handle with this index, however old
	//	moves    even → odd by Create, odd → even by Refresh; it only grows
	//	orders   the store of an odd one publishes at, and the value there
	generation atom.Uint32

	// at is the value's position. It is plain: it is written before generation is
	// published, and by Refresh; it is read only after generation has matched.
	at uint32
}

// begin publishes the value at the slot's position under this generation.
func (sl *slot) begin(generation uint32) { sl.generation.Store(generation) }

// names reports whether generation is the one that lives here. A forged handle may have
// the even generation of a vacant slot, zero among them.
func (sl *slot) names(generation uint32) bool {
	return sl.generation.Load() == generation && generation&1 != 0
}

// end ends the slot's generation. Refresh alone calls it, and no other call runs
// meanwhile, so a plain store will do. On amd64 an atomic store is a locked instruction,
// which waits for the slot's cache miss, one dead value after the other. That is why this
// uses unsafe. The generation is the whole of an atom.Uint32 in every build.
func (sl *slot) end(generation uint32) {
	*(*uint32)(unsafe.Pointer(&sl.generation)) = generation + 1
}

func sizeOf[T any]() uintptr { return unsafe.Sizeof(*new(T)) }

// The generation fills its field, and a slot is two words of 4 bytes.
var (
	_ [4]byte = [unsafe.Sizeof(atom.Uint32{})]byte{}
	_ [8]byte = [unsafe.Sizeof(slot{})]byte{}
)
