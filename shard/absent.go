package shard

import "unsafe"

// A page without memory keeps its place in the table and its indices. Look-ups need not know:
// the table shows the void there, one page for all, whose words match no handle and link to
// nothing.
//
//	           all its slots vacant and Trim's
//	resident ───────────────────────────────────────────▶ absent: floor
//	   ▲                                                    │
//	   └──── offer ──── back ◀── bringBack: every word ─────┘
//	                                {floor, None}
//
// Each bringBack copies the table, so pages come back several at a time. Those in back have
// memory, and no goroutine has their slots. The next Trim gives them up again (withdraw).
//
// The floor is above every generation that any of the page's slots had. So no handle of theirs
// becomes live again, and none enters a freelist with a generation that it had there (I5,
// I11).
//
// Tables are immutable, so an older one shows the old memory, or the void. That is right as
// long as no operation goes by a table that is older than itself: a value that was inserted
// before the operation lies in memory that the current table shows. So guards load the current
// table in each operation, and a Worker does before it believes that a handle is stale. A
// goroutine that takes a slot from a list loads the table after the list.
//
// The wrong version lets a guard keep the table that it found when it was pinned: it would not
// see values in a page that comes back meanwhile.

// absent is a page without memory.
type absent struct {
	at    int    // its number
	floor uint32 // the generation of all its slots; even
}

// giveUp takes the memory of pages out of the table. The caller owns all their slots. It
// returns how many bytes that frees.
func (t *Table[T]) giveUp(pages []absent) (bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.showVoid(pages)
}

// withdraw gives up again the pages in back. It returns how many bytes that frees.
func (t *Table[T]) withdraw() (bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.back) == 0 {
		return 0
	}
	pages := t.back
	t.back = nil
	bytes = t.showVoid(pages)
	t.missing.Add(-t.spare.Load()) // they have been missing all the while
	t.spare.Store(0)
	return bytes
}

// showVoid is giveUp under mu.
func (t *Table[T]) showVoid(pages []absent) (bytes int64) {
	before := t.bytes()
	if t.void == nil {
		t.void, t.voidMeta = unsafe.Pointer(unsafe.SliceData(t.newVoid())), new(pageMeta)
	}
	now := t.copied()
	slots := uint64(0)
	for _, a := range pages {
		slots += t.slotsIn(now, a.at)
		now.Base[a.at], now.metas[a.at], now.floors[a.at] = t.void, t.voidMeta, a.floor
	}
	t.absent = append(t.absent, pages...)
	t.missing.Add(int64(slots))
	t.Current.Store(now) // publishes (P2)
	return before - t.bytes()
}

// Floor returns the generation of slot i, and of all slots of its page, if that has no memory
// in this table.
func (t *PageTable) Floor(i uint32) (floor uint32, ok bool) {
	k := int(i >> (t.Shift & 31))
	if k >= len(t.floors) || t.floors[k] == 0 {
		return 0, false
	}
	return t.floors[k], true
}

// newVoid makes the page that stands for those without memory. Its words equal no handle, not
// even the zero one: None is no index.
func (t *Table[T]) newVoid() []Slot[T] {
	v := make([]Slot[T], uint64(t.Pages().Mask)+1)
	for i := range v {
		v[i].Word.Store(Pack(0, None))
	}
	return v
}

// bringBack gives absent pages memory again: one for each backShare pages that have memory,
// and at least one. The wrong version brings back one page at a time: n pages cost n copies of
// n entries. The caller holds mu, and there are absent pages.
func (t *Table[T]) bringBack() {
	now := t.copied()
	n := min(max((len(now.Base)-len(t.absent))/backShare, 1), len(t.absent))
	pages := t.absent[len(t.absent)-n:]
	t.absent = t.absent[:len(t.absent)-n]
	slots := 0
	for _, a := range pages {
		page, m := t.newPage(now, a.at)
		for i := range page {
			page[i].Word.Store(Pack(a.floor, None)) // I11
		}
		now.Base[a.at], now.metas[a.at], now.floors[a.at] = unsafe.Pointer(unsafe.SliceData(page)), m, 0
		slots += len(page)
	}
	t.spare.Add(int64(slots))
	t.Current.Store(now) // publishes (P2)
	t.back = append(t.back, pages...)
}

// offer gives Allot the slots of a page in back. The caller holds mu, again is empty, and
// there is such a page.
//
// The slots count as missing for a moment longer. Otherwise an insertion that finds neither
// them nor any missing would conclude that the pool may not grow.
func (t *Table[T]) offer() {
	p := t.Pages()
	a := t.back[len(t.back)-1]
	t.back = t.back[:len(t.back)-1]
	lo, n := uint32(a.at)<<(p.Shift&31), uint32(t.slotsIn(p, a.at))
	t.again.Store(Pack(lo, lo+n))
	t.spare.Add(-int64(n))
	t.missing.Add(-int64(n))
}

// copied returns a copy of the current table that shares nothing that changes.
func (t *Table[T]) copied() *PageTable {
	now := *t.Pages()
	now.Base = append(make([]unsafe.Pointer, 0, cap(now.Base)), now.Base...)
	now.Array = unsafe.Pointer(unsafe.SliceData(now.Base))
	now.metas = append(make([]*pageMeta, 0, cap(now.metas)), now.metas...)
	now.floors = append(make([]uint32, 0, cap(now.Base)), now.floors...)[:len(now.Base)]
	return &now
}
