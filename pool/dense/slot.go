package dense

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// A handle has the index of a slot, and the slot has the position of the value, if its generation is
// still the handle's:
//
//	handle   generation | index ──▶ slots[index]  { generation | position } ──▶ values[position]
//
// A slot's generation is odd while a value has the slot. It grows by one when the value comes, and by
// one when it goes, as a pool's does. waiting.go says how a value gets a slot without a freelist.
//
// This is the sparse set (Briggs and Torczon, 1993) with generations. Its dense side is the handles, and
// its sparse side the slots.
type slot struct {
	// generation is odd while position is valid, and 0 if the slot was never used.
	//
	//	writers  begin, for Create and CreateFunc, which have claimed the slot; end, for Refresh, plainly
	//	readers  any holder of a handle with this index, however old
	//	moves    even → odd by Create, odd → even by Refresh; it only grows
	//	orders   the store of an odd one publishes position, and the value there
	generation atom.Uint32

	// position is the value's, or the rank of a slot that waits (see Store.waitsAt). It is plain. Create
	// writes it before it publishes the generation, and calls that have the Store to themselves write it.
	// A look-up reads it only after the generation has matched.
	position uint32
}

// begin publishes the value at the slot's position, and its generation.
func (sl *slot) begin(generation uint32) { sl.generation.Store(generation) }

// names reports whether a value with this generation has the slot. It also refuses even generations,
// which only forged handles have: a vacant slot may have the same.
func (sl *slot) names(generation uint32) bool {
	return sl.generation.Load() == generation && generation&1 != 0
}

// end ends the slot's generation. Only calls that have the Store to themselves call it, so a plain
// store is enough. An atomic store is a locked instruction on amd64. It would wait for the slot's cache
// miss, one dead value after the other. So end uses unsafe: in every build, an atom.Uint32 is nothing
// but its number.
func (sl *slot) end(generation uint32) {
	*(*uint32)(unsafe.Pointer(&sl.generation)) = generation + 1
}

func sizeOf[T any]() uintptr { return unsafe.Sizeof(*new(T)) }

// The generation fills its field, and a slot is two words of 4 bytes.
var (
	_ [4]byte = [unsafe.Sizeof(atom.Uint32{})]byte{}
	_ [8]byte = [unsafe.Sizeof(slot{})]byte{}
)
