package dense

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// slot is what a handle's index leads to: where the value lies, if it is the value that
// the handle means.
//
//	handle   generation | index ──▶ slots[index]  { generation | at } ──▶ values[at]
//
// A slot lives as a pool's does: its generation is odd while a value has it, and grows by
// one at each end. What a pool needs beyond that, freelists that any goroutine pops and
// pushes, limbo and grace periods, is for slots that come free at any moment. Here they
// come free in Refresh alone. So the handles to be issued next simply wait in Handles,
// behind those of the living, each at the position whose value will have it:
//
//	handles   0 ………………… alive ………………… fresh ………
//	          of the living  to be issued   0: never used, index = position + exhausted
//
// and who claims a position, by one addition, has claimed a slot with it. Nothing is
// popped, so there is no ABA, no list to walk, and no slot to be found. (Built on a pool
// of positions, Refresh was 2.5 to 8 times as slow as a plain pass of compaction: what
// is removed goes through lists, in which each step waits for the cache miss of the one
// before.)
//
// This is the sparse set (Briggs and Torczon, 1993) with generations: handles is its
// dense side, slots the sparse one.
type slot struct {
	// generation is odd while at is good.
	//
	//	writers  Create, which has claimed it; Refresh, plainly (end)
	//	readers  whoever has a handle with this index, however old
	//	moves    even → odd by Create, odd → even by Refresh; it only grows
	//	orders   the store of an odd one publishes at, and the value there
	generation atom.Uint32

	// at is the value's position. It is plain: written before generation is published,
	// and by Refresh; read by who has found his generation.
	at uint32
}

// begin publishes that the value at position at has this generation of the slot.
func (sl *slot) begin(generation, at uint32) {
	sl.at = at
	sl.generation.Store(generation)
}

// names answers whether a handle's generation is the one that lives here. A forged
// handle may have the even one of a vacant slot; zero is one of these.
func (sl *slot) names(generation uint32) bool {
	return sl.generation.Load() == generation && generation&1 != 0
}

// end ends the slot's generation. It is part of Refresh, before and after which all others
// use the slot, so a plain store will do. An atomic one is a locked instruction on amd64,
// and waits for the slot's cache miss, one dead value after the other: that is what unsafe
// is for here, and nowhere else in this package but for sizes. The generation is the whole
// of an atom.Uint32, whatever the build.
func (sl *slot) end(generation uint32) {
	*(*uint32)(unsafe.Pointer(&sl.generation)) = generation + 1
}

func sizeOf[T any]() uintptr { return unsafe.Sizeof(*new(T)) }

// The generation is all that there is in its field, and a slot is two words of 4 bytes.
var (
	_ [4]byte = [unsafe.Sizeof(atom.Uint32{})]byte{}
	_ [8]byte = [unsafe.Sizeof(slot{})]byte{}
)
