package shard

import (
	"slices"
	"unsafe"
)

// A page without memory keeps its place in the table and its indices. Look-ups need not know:
// the table shows the stub there, one unit for all of theirs, whose words match no handle and link
// to nothing.
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
// Tables are immutable, so an older one shows the old memory, or the stub. That is right as
// long as no operation goes by a table that is older than itself: a value that was inserted
// before the operation lies in memory that the current table shows. So guards load the current
// table in each operation, and a Worker does before it believes that a handle is stale. A
// goroutine that takes a slot from a list loads the table after the list.
//
// The wrong version lets a guard keep the table that it found when it was pinned: it would not
// see values in a page that comes back meanwhile.

// decommitted is a page without memory.
type decommitted struct {
	first uint32 // its first slot
	floor uint32 // the generation of all its slots; even
}

// decommit takes the memory of pages out of the table. The caller owns all their slots. It
// returns how many bytes that frees.
func (t *Table) decommit(pages []decommitted) (bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.bytes()
	if t.stub == nil {
		t.stub = t.newStub()
	}
	now := t.copied()
	slots := uint32(0)
	for _, d := range pages {
		m, _ := now.meta(d.first)
		slots += m.n
		now.show(&pageMeta{page: t.stub, first: d.first, n: m.n, floor: d.floor}, t.stub, 0)
	}
	now.keep()
	t.decommitted = append(t.decommitted, pages...)
	t.decommittedSlots.Add(int64(slots))
	t.Current.Store(now) // publishes (P2)
	t.changes.Add(1)
	t.needed.Store(min(t.needed.Load(), uint32(t.Resident())))
	return max(0, before-t.bytes()) // the copy may have more room than the table had
}

// Floor returns the generation of slot i, and of all slots of its page, if that has no memory
// in this table.
func (t *PageTable) Floor(i uint32) (floor uint32, ok bool) {
	m, _ := t.meta(i)
	return m.floor, m.floor != 0
}

// newStub makes the unit that stands for all those without memory. Its words equal no handle, not
// even the zero one: None is no index.
func (t *Table) newStub() unsafe.Pointer {
	n := uint64(t.Pages().Mask) + 1
	stub := t.layout.Page(n)
	t.layout.whole(stub, n).store(Pack(0, None))
	return stub
}

// hasStub reports whether there is a stub. Then a Trim that gives up one unit frees memory.
func (t *Table) hasStub() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stub != nil
}

// store gives all slots the same word.
func (p strip) store(word uint64) {
	for j := range p.n {
		p.at(j).Word.Store(word)
	}
}

// recommit gives pages memory again, and their slots to Allot: a run of neighbours, with at most one
// slot for each backShare that there are, or one page, or pages for n slots. The caller holds mu,
// recommitRange is empty, and there are decommitted pages.
//
// The wrong version brings back one page at a time: n pages cost n copies of n entries. Pages
// that have no neighbours do cost a copy each.
func (t *Table) recommit(n uint64) {
	if n > 0 {
		t.putLongestLast()
	}
	now := t.copied()
	most := uint64(now.Limit / backShare)
	lo := t.decommitted[len(t.decommitted)-1].first
	hi := lo
	for len(t.decommitted) > 0 {
		d := t.decommitted[len(t.decommitted)-1]
		old, _ := now.meta(d.first)
		if has := uint64(hi - lo); d.first != hi || has > 0 && has >= n && has+uint64(old.n) > most {
			break
		}
		t.decommitted = t.decommitted[:len(t.decommitted)-1]
		page, m := t.newPage(d.first, old.n)
		t.layout.whole(page, uint64(m.n)).store(Pack(d.floor, None)) // I11
		now.show(m, page, uintptr(now.Mask+1)*now.size)
		hi += m.n
	}
	now.keep()
	t.Current.Store(now) // publishes (P2)
	t.recommitRange.set(lo, hi)
	// The slots count as missing until here. Otherwise an insertion that finds neither them nor
	// any missing would conclude that nothing is left.
	t.decommittedSlots.Add(-int64(hi - lo))
	t.changes.Add(1)
}

// putLongestLast makes the longest run of neighbours the last in decommitted, so that it comes back
// next.
func (t *Table) putLongestLast() {
	now, all := t.Pages(), t.decommitted
	from, to, most := 0, 0, uint32(0)
	for start, k, has := 0, 0, uint32(0); k < len(all); k++ {
		m, _ := now.meta(all[k].first)
		if k > 0 && m.first+m.n != all[k-1].first {
			start, has = k, 0
		}
		if has += m.n; has > most {
			from, to, most = start, k+1, has
		}
	}
	run := slices.Clone(all[from:to])
	t.decommitted = append(slices.Delete(all, from, to), run...)
}

// copied returns a copy of the current table that shares nothing that changes.
func (t *Table) copied() *PageTable {
	old := t.Pages()
	now := *old
	now.move(old, old.units())
	now.metas = append(make([]*pageMeta, 0, cap(now.metas)), now.metas...)
	return &now
}
