package shard

import "unsafe"

// A page without memory keeps its place in the table and its indices. Look-ups need not know:
// the table shows the stub page there, one page for all, whose words match no handle and link to
// nothing.
//
//	           decommit: all its slots are vacant and Trim's
//	resident ───────────────────────────────────────────▶ decommitted: floor
//	   ▲                                                    │
//	   └──────── recommit: every word {floor, None} ───────┘
//
// Each recommit copies the table, so neighbours come back together.
//
// The floor is above every generation that any of the page's slots had. So no handle of theirs
// becomes live again, and none enters a freelist with a generation that it had there (I5,
// I11).
//
// Tables are immutable, so an older one shows the old memory, or the stub page. That is right as
// long as no operation goes by a table that is older than itself: a value that was inserted
// before the operation lies in memory that the current table shows. So guards load the current
// table in each operation, and a Worker does before it believes that a handle is stale. A
// goroutine that takes a slot from a list loads the table after the list.
//
// The wrong version lets a guard keep the table that it found when it was pinned: it would not
// see values in a page that comes back meanwhile.

// decommitted is a page without memory.
type decommitted struct {
	at    int    // its number
	floor uint32 // the generation of all its slots; even
}

// decommit takes the memory of pages out of the table. The caller owns all their slots. It
// returns how many bytes that frees.
func (t *Table) decommit(pages []decommitted) (bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.bytes()
	if t.stub == nil {
		t.stub, t.stubMeta = t.newStub(), new(pageMeta)
	}
	now := t.copied()
	slots := uint64(0)
	for _, a := range pages {
		slots += t.slotsIn(now, a.at)
		now.Base[a.at], now.metas[a.at], now.floors[a.at] = t.stub, t.stubMeta, a.floor
	}
	t.decommitted = append(t.decommitted, pages...)
	t.decommittedSlots.Add(int64(slots))
	t.Current.Store(now)            // publishes (P2)
	return max(0, before-t.bytes()) // floors may cost more than a page that is cut short
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

// newStub makes the page that stands for those without memory. Its words equal no handle, not
// even the zero one: None is no index.
func (t *Table) newStub() unsafe.Pointer {
	n := uint64(t.Pages().Mask) + 1
	page := t.layout.Page(n)
	t.layout.whole(page, n).store(Pack(0, None))
	return page
}

// store gives all slots the same word.
func (p strip) store(word uint64) {
	for j := range p.n {
		p.at(j).Word.Store(word)
	}
}

// recommit gives pages memory again, and their slots to Allot: a run of neighbours, at most one
// page for each backShare pages that have memory, or one, or pages for n slots. The caller holds mu,
// recommitRange is empty, and there are decommitted pages.
//
// The wrong version brings back one page at a time: n pages cost n copies of n entries. Pages
// that have no neighbours do cost a copy each.
func (t *Table) recommit(n uint64) {
	now := t.copied()
	most := max((len(now.Base)-len(t.decommitted))/backShare, 1, int(n>>(now.Shift&31))+1)
	first, slots := t.decommitted[len(t.decommitted)-1].at, uint32(0)
	for at := first; at-first < most && len(t.decommitted) > 0; at++ {
		a := t.decommitted[len(t.decommitted)-1]
		if a.at != at {
			break
		}
		t.decommitted = t.decommitted[:len(t.decommitted)-1]
		page, n, m := t.newPage(now, at)
		t.layout.whole(page, n).store(Pack(a.floor, None)) // I11
		now.Base[at], now.metas[at], now.floors[at] = page, m, 0
		slots += uint32(n)
	}
	t.Current.Store(now) // publishes (P2)
	lo := uint32(first) << (now.Shift & 31)
	t.recommitRange.set(lo, lo+slots)
	// The slots count as missing until here. Otherwise an insertion that finds neither them nor
	// any missing would conclude that nothing is left.
	t.decommittedSlots.Add(-int64(slots))
}

// copied returns a copy of the current table that shares nothing that changes.
func (t *Table) copied() *PageTable {
	now := *t.Pages()
	now.Base = append(make([]unsafe.Pointer, 0, cap(now.Base)), now.Base...)
	now.Array = unsafe.Pointer(unsafe.SliceData(now.Base))
	now.metas = append(make([]*pageMeta, 0, cap(now.metas)), now.metas...)
	now.floors = append(make([]uint32, 0, cap(now.Base)), now.floors...)[:len(now.Base)]
	return &now
}
