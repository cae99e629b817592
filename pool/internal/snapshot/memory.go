package snapshot

import (
	"math/bits"

	"coatcheck/shard/slots"
)

// A copy has memory for whole pages, so one value of a byte may need a page of a megabyte. A file of such
// values would make its reader allocate as much memory as its author likes. So a snapshot is never much shorter
// than the memory that its copy takes: the writer adds zeros (Writer.Pay), and a reader refuses a snapshot that
// is too short.
//
// The copy may have other pages than the original, because of a Capacity or of another type. So the writer
// counts regions. A region contains each page that has a slot in it, whatever the sizes of pages are. Pages
// double as the pool grows, and so do regions. Large regions have as many slots as the largest pages.
//
// Three wrong versions: One pays for the pages of the original. With a Capacity these are smaller than the pages of a
// copy without. One bounds the slots of a record. But a vacant record may come first, and then one value makes
// a large page. One refuses what is sparse. But pools are sparse.

const (
	// WrittenShare is for how many bytes of memory a writer lets one byte of a snapshot pay. If it is larger,
	// hostile input makes more memory. If it is smaller, snapshots of pools with few values in many pages are
	// longer.
	WrittenShare = 64

	// ReadShare is for how many bytes a reader lets one byte pay. If slots of the pool are larger than slots of
	// the type that was written, a byte pays for as many times more. It is larger than WrittenShare for two
	// reasons. A 32-bit platform may have written the snapshot, where a slot may take half as much. And the
	// reader also counts what lies beside a slot, which is at most as much again.
	ReadShare = 4 * WrittenShare

	// Granted is how many bytes a snapshot may be too short, so that those of small pools have no zeros.
	Granted = 64
)

// Memory counts the memory of regions in which a copy has slots.
type Memory struct {
	size  uint64 // of a slot
	pages slots.PageSizes
	next  uint64 // the first slot behind the regions that were counted
}

// MemoryOf returns a Memory for slots of a size. It has counted none yet.
func MemoryOf(size uintptr) Memory {
	return Memory{size: uint64(size), pages: slots.PagesOf(size, 0)}
}

// Next returns the memory of the regions that have slots first to end-1, without those that it has counted
// before. Slots come in order.
func (m *Memory) Next(first, end uint64) (bytes uint64) {
	for i := max(first, m.next); i < end; i = m.next {
		start, n := m.region(i)
		m.next = start + n
		bytes += n * m.size
	}
	return bytes
}

// Again returns the memory of slot i's region, counted or not.
func (m *Memory) Again(i uint64) uint64 {
	_, n := m.region(i)
	return n * m.size
}

// Table returns the memory that the table of pages needs more for end slots than for first slots.
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
