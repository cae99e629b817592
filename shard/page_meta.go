package shard

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// pageMeta has what belongs to a page and lies apart from its slots.
type pageMeta struct {
	page      unsafe.Pointer // its slots, or the stub: Array does not keep them (entries.go)
	firstSlot uint32         // its first slot
	n         uint32         // how many it has
	floor     uint32         // of all its slots if it has no memory, else 0 (decommit.go); the rest is empty then

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

	moved   []atom.Uint32         // one bit a slot, for Table.markMoved; nil without Reset
	holders atom.Pointer[holders] // counts of Refs; nil until makeCounts or the page's first Hold
}

// homeSlots is how many slots share a home: as many as a range has.
const homeSlots = Batch

// meta returns the pageMeta of slot i's page, and i's position in the page. i must be below
// t.Limit, so metas has that element, and its length is not checked.
func (t *PageTable) meta(i uint32) (*pageMeta, uint32) {
	if Exploring && i >= t.Limit {
		panic(outsideText(i, t.Limit))
	}
	m := *(**pageMeta)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.metas)), uint64(t.metaOf(i))*pointerSize))
	return m, i - m.firstSlot
}

// metaOf returns which element of metas is that of slot i's page.
func (t *PageTable) metaOf(i uint32) uint32 {
	if i < t.split {
		return i >> (t.low & 31)
	}
	return i>>(t.high&31) + t.skew
}

// metaLen returns how many elements metas has.
func (t *PageTable) metaLen() int { return len(t.metas) }

// pages yields the meta of each page.
func (t *PageTable) pages(yield func(*pageMeta) bool) {
	for i := uint32(0); i < t.Limit; {
		m, _ := t.meta(i)
		if !yield(m) {
			return
		}
		i += m.n
	}
}

// Home returns the number of slot i's home: that of a shard, from 1, or 0 for none.
func (t *PageTable) Home(i uint32) uint32 {
	m, j := t.meta(i)
	return m.homes[j/homeSlots].Load()
}

// SetHome makes a number the home of the slots from lo to hi-1, of which the caller owns the first,
// and of their neighbours.
func (t *PageTable) SetHome(lo, hi, home uint32) {
	for i := lo; i < hi; {
		m, j := t.meta(i)
		if h := &m.homes[j/homeSlots]; h.Load() != home {
			h.Store(home)
		}
		i += min(homeSlots-j%homeSlots, m.n-j)
	}
}
