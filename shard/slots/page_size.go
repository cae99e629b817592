package slots

import (
	"math/bits"
	"unsafe"
)

// A pool's first page has one unit. Each later one has as many slots as the pool, so that the pool
// doubles, up to whole pages. So a pool of a few values takes a unit, and a larger pool at most
// twice what it needs. Where a pool has many pages, later ones are larger, since the garbage collector
// visits each.
//
// The slots of a page follow from the index of its first one alone. So a pool that is restored
// has the pages of the original, and Trim gives up the same ones, as replays require.

// PageSizes are the binary logarithms of numbers of slots.
type PageSizes struct {
	Unit uint8 // of a unit; at most 31
	Page uint8 // of a whole page, the least that a pool of as many slots adds; Unit to 31
	Most uint8 // of the largest pages; Page to 31
}

const (
	// unitSlots is how many slots a unit has at most, and unitBytes how much memory, if it has more
	// than one slot: 128 slots of up to 36 bytes, or 64 of up to 72. Each unit has an entry of 8
	// bytes: with units of 64 slots, of 24 bytes each, the table of a million slots has 128 KiB,
	// and random replacements among them took 8% longer than with units of 128 (AMD family 26,
	// model 2). Larger units make small pools large.
	unitSlots = 128
	unitBytes = 4608

	// pageBytes is the least size of whole pages, but for those of one slot. The garbage collector
	// marks and sweeps each page by itself: beside a million values of 16 bytes, pages of 64 KiB cost
	// a collection twice as much. Smaller pages are rounded up: below 32 KiB to a size class, with a
	// header of 8 bytes if values have pointers, and above to 8 KiB. That wastes up to a fifth of a
	// page and a tenth of a pool, so all are powers of two.
	pageBytes = 256 << 10

	// Where pages have more than one slot, they double when a pool has largePool of them, and when
	// it has largePool of those. So the last page is at most an eighth of a pool.
	largePool = 16
	doublings = 2

	// The last page of a pool with a Capacity may have slots that are not used before others are
	// exhausted: at most one for spareShare others, or spareBytes.
	spareShare = 8
	spareBytes = 4 << 10
)

// PagesOf returns the sizes for slots of the given size. If capacity is not 0, the pool will mostly
// have so many slots. Whole pages are then so small that the last one has few slots beyond them,
// and do not double.
func PagesOf(size uintptr, capacity uint64) PageSizes {
	n := max(uint64(pageBytes)/uint64(size), 1)
	s := PageSizes{
		Unit: uint8(bits.Len64(min(max(unitBytes/uint64(size), 1), unitSlots)) - 1),
		Page: uint8(bits.Len64(n - 1)),
	}
	if s.Most = s.Page; s.Page > 0 {
		s.Most = min(s.Page+doublings, 31)
	}
	if capacity == 0 {
		return s
	}
	whole := uint8(bits.Len64(capacity - 1)) // in one page
	s.Unit, s.Page = min(s.Unit, whole), min(s.Page, whole)
	for ; s.Page > s.Unit; s.Page-- {
		spare := -capacity & (1<<s.Page - 1)
		if spare <= capacity/spareShare || spare*uint64(size) <= spareBytes {
			break
		}
	}
	s.Most = s.Page
	return s
}

// Code is a number for the sizes.
func (s PageSizes) Code() uint64 { return uint64(s.Unit) | uint64(s.Page+1)<<8 | uint64(s.Most+1)<<16 }

// TableBytes returns about how many bytes of entries and metas a table has for n slots without memory.
func (s PageSizes) TableBytes(n uint64) uint64 {
	return n>>s.Unit*uint64(pointerSize) + n>>s.Page*uint64(unsafe.Sizeof(PageMeta{}))
}

// nextPage returns how many slots the next page has in a table of so many. With Preallocate, slots that
// replace exhausted ones get pages that grow from one unit again.
func (t *Table) nextPage(size uint64) uint64 {
	if size < t.whole {
		return min(t.whole, t.max)
	}
	grown := size - t.whole
	n := max(min(grown, 1<<t.sizes.Page), uint64(t.Pages().Mask)+1)
	for p := t.sizes.Page; p < t.sizes.Most && grown >= largePool<<p; p++ {
		n = 2 << p
	}
	return min(n, t.max-size)
}
