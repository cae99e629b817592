package slots

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// PageMeta has what belongs to a page and lies apart from its slots.
type PageMeta struct {
	page      unsafe.Pointer // its slots, or the stub: Array does not keep them (addresses.go)
	FirstSlot uint32         // its first slot
	N         uint32         // how many it has
	Floor     uint32         // of all its slots if it has no memory, else 0 (decommit.go); the rest is empty then

	// homes has one number for homeSlots slots: that of their home shard, from 1, or 0 for
	// none. A restored pool's slots have no home until a shard takes them.
	//
	//	writers  SetHome, for the owner of a slot
	//	readers  Home
	homes []atom.Uint32

	// stamps has the low half of the epoch stamp of each slot's last removal; nil unless
	// Arena.stampPerSlot. Plain access is right: the slot's owner writes it before it pushes the slot
	// on limbo (P6), and the holder of the lock reads it after it has taken limbo.
	stamps []uint32

	moved   []atom.Uint32         // one bit a slot, for Table.MarkMoved; nil without Reset
	holders atom.Pointer[holders] // counts of Refs; nil until MakeCounts or the page's first Hold
}

// homeSlots is how many slots share a home: as many as a range has.
const homeSlots = Batch

// Meta returns the PageMeta of slot i's page, and i's position in the page. i must be below
// t.Limit, so metas has that element, and its length is not checked.
func (t *PageTable) Meta(i uint32) (*PageMeta, uint32) {
	if Exploring && i >= t.Limit {
		panic(outsideText(i, t.Limit))
	}
	m := *(**PageMeta)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.metas)), uint64(t.MetaOf(i))*pointerSize))
	return m, i - m.FirstSlot
}

// MetaOf returns which element of metas is that of slot i's page.
func (t *PageTable) MetaOf(i uint32) uint32 {
	if i < t.split {
		return i >> (t.low & 31)
	}
	return i>>(t.high&31) + t.skew
}

// MetaLen returns how many elements metas has.
func (t *PageTable) MetaLen() int { return len(t.metas) }

// Pages yields the meta of each page.
func (t *PageTable) Pages(yield func(*PageMeta) bool) {
	for i := uint32(0); i < t.Limit; {
		m, _ := t.Meta(i)
		if !yield(m) {
			return
		}
		i += m.N
	}
}

// Home returns the number of slot i's home: that of a shard, from 1, or 0 for none.
func (t *PageTable) Home(i uint32) uint32 {
	m, j := t.Meta(i)
	return m.homes[j/homeSlots].Load()
}

// SetHome makes a number the home of the slots from lo to hi-1, of which the caller owns one,
// and of their neighbours.
func (t *PageTable) SetHome(lo, hi, home uint32) {
	for i := lo; i < hi; {
		m, j := t.Meta(i)
		if h := &m.homes[j/homeSlots]; h.Load() != home {
			h.Store(home)
		}
		i += min(homeSlots-j%homeSlots, m.N-j)
	}
}
