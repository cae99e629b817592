package snapshot

import (
	"math/bits"

	"coatcheck/shard/slots"
)

// A copy has memory for whole pages, so one value of a byte makes a page of a megabyte. A file of such values
// would make as much memory as its author likes. So a snapshot is never much shorter than the memory that its
// copy takes: where it would be, the writer adds zeros (Writer.Pay), and a reader refuses what has not paid.
//
// The copy may have other pages than the original, because of a Capacity or of another type. So the writer
// goes by regions: a region contains every page that has a slot in it, whatever the sizes of pages are. Pages
// double as the pool does, and so do regions; large ones have as many slots as the largest pages.
//
// The wrong version pays for the pages of the original. With a Capacity these are smaller than those of a copy
// without. Another one bounds the slots of a record: one value makes a page, and a vacant record comes before it. Nor
// can a reader refuse what is sparse, since pools are.

const (
	// WrittenShare is how many bytes of memory a byte of a snapshot pays for when it is written. With a larger
	// number hostile input makes more memory. With a smaller one snapshots of pools with few values in
	// many pages are longer.
	WrittenShare = 64

	// ReadShare is how many a byte pays for when it is read, for each that a slot of the type that was written
	// takes of one of the pool's. On a 32-bit platform a slot may take half, and the reader counts what lies
	// beside a slot too, which is at most as much.
	ReadShare = 4 * WrittenShare

	// Granted is how many bytes need not be written, so that snapshots of small pools have no zeros.
	Granted = 64
)

// Memory counts the memory of regions in which a copy has slots.
type Memory struct {
	size  uint64 // of a slot
	pages slots.PageSizes
	next  uint64 // the first slot behind the regions that were counted
}

// MemoryOf returns the count for slots of a size. None is counted.
func MemoryOf(size uintptr) Memory {
	return Memory{size: uint64(size), pages: slots.PagesOf(size, 0)}
}

// Next returns the memory of the regions of slots first to end-1 which were not counted before. Slots come in
// order.
func (m *Memory) Next(first, end uint64) (bytes uint64) {
	for i := max(first, m.next); i < end; i = m.next {
		start, n := m.region(i)
		m.next = start + n
		bytes += n * m.size
	}
	return bytes
}

// Again returns the memory of slot i's region.
func (m *Memory) Again(i uint64) uint64 {
	_, n := m.region(i)
	return n * m.size
}

// Table returns the memory of the entries for slots first to end-1 which have no other.
func (m *Memory) Table(first, end uint64) uint64 {
	return m.pages.TableBytes(end) - m.pages.TableBytes(first)
}

// region returns slot i's region.
func (m *Memory) region(i uint64) (start, n uint64) {
	switch {
	case i>>m.pages.Unit == 0:
		return 0, 1 << m.pages.Unit
	case i>>m.pages.Most == 0:
		n = 1 << (bits.Len64(i) - 1)
		return n, n
	}
	return i >> m.pages.Most << m.pages.Most, 1 << m.pages.Most
}
