package slots

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
//	   └──────── recommit: every slot at its floor ────────┘
//
// Each recommit copies the table, so neighbours come back together.
//
// The floor is a stage above every one that any of the page's slots had (origins.go). So no handle of theirs
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
// see values in a page that comes back meanwhile. Another one lets a page rest for a grace period before it comes
// back: a forgotten guard would make a pool with a Capacity full.
//
// A gap is a run of pages without memory, between pages with memory or to the end. Loops over all slots
// step over it at once (PageTable.Strip). So after a peak they cost what the slots with memory cost.

// Decommitted is a page without memory.
type Decommitted struct {
	FirstSlot uint32 // its first slot
	Floor     uint32 // the stage of all its slots; even
	Lives     int64  // of all its slots, when it has memory; Decommit counts them
}

// Decommit takes the memory of pages out of the table. The caller owns all their slots. It
// returns how many bytes that frees.
func (t *Table) Decommit(pages []Decommitted) (bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	oldBytes := t.bytes()
	if t.stub == nil {
		t.stub = t.newStub()
	}
	now := t.copied()
	slots, lives := uint32(0), int64(0)
	for _, d := range pages {
		m, _ := now.Meta(d.FirstSlot)
		slots += m.N
		lives += d.Lives
		now.show(&PageMeta{page: t.stub, FirstSlot: d.FirstSlot, N: m.N, Floor: d.Floor}, t.stub, 0)
	}
	now.endGaps()
	now.keep()
	t.decommitted = append(t.decommitted, pages...)
	t.decommittedSlots.Add(int64(slots))
	t.Current.Store(now) // publishes (P2)
	t.gone.Add(lives)    // after the store
	t.changes.Add(1)
	t.needed.Store(min(t.needed.Load(), uint32(t.Resident())))
	return max(0, oldBytes-t.bytes()) // the copy may have more room than the table had
}

// endGaps enters the end of each page's gap, in a table that no other goroutine has seen. Older tables share
// the metas, so it replaces those whose gap has another end now.
func (t *PageTable) endGaps() {
	end := uint32(0) // of the gap that began behind, or 0 if the page there has memory
	for k := len(t.metas) - 1; k >= 0; {
		m := t.metas[k]
		first := int(t.MetaOf(m.FirstSlot))
		switch {
		case m.Floor == 0:
			end = 0
		case end == 0:
			end = m.FirstSlot + m.N
		}
		if m.gapEnd != end {
			m = &PageMeta{page: m.page, FirstSlot: m.FirstSlot, N: m.N, Floor: m.Floor, gapEnd: end}
			for ; k >= first; k-- {
				t.metas[k] = m
			}
		}
		k = first - 1
	}
}

// Floor returns the stage of slot i, and of all slots of its page, if that has no memory
// in this table.
func (t *PageTable) Floor(i uint32) (floor uint32, ok bool) {
	m, _ := t.Meta(i)
	return m.Floor, m.Floor != 0
}

// newStub makes the unit that stands for all those without memory. Its words equal no handle, not
// even the zero one: None is no index.
func (t *Table) newStub() unsafe.Pointer {
	n := uint64(t.Pages().Mask) + 1
	stub := t.layout.page(n)
	t.layout.whole(stub, n).store(Pack(0, None))
	return stub
}

// HasStub reports whether there is a stub. Then a Trim that gives up one unit frees memory.
func (t *Table) HasStub() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stub != nil
}

// store gives all slots the same word.
func (p Strip) store(word uint64) {
	for j := range p.N {
		p.Slot(j).Word.Store(word)
	}
}

// vacate makes all slots vacant at a stage. They are those of a table from index first on.
func (p Strip) vacate(o *Origins, first, stage uint32) {
	for j := range p.N {
		p.Slot(j).Word.Store(Pack(o.Generation(first+j, stage), None))
	}
}

// recommit gives pages memory again, and their slots to Allot: a run of neighbours, with at most one
// slot for each that has memory and one for each backShare that there are, or one page, or pages for n
// slots. The caller holds mu, RecommitRange is empty, and there are decommitted pages.
//
// The first wrong version brings back one page at a time: n pages cost n copies of n entries. Pages
// that have no neighbours do cost a copy each. The second asks only how many slots there are: one insertion
// into a pool that is read from a few bytes, of slots without memory, makes a 64th of them.
func (t *Table) recommit(n uint64) {
	if n > 0 {
		t.putLongestLast()
	}
	now := t.copied()
	limit := min(uint64(now.Limit/backShare), uint64(t.Resident()))
	lo := t.decommitted[len(t.decommitted)-1].FirstSlot
	hi, lives := lo, int64(0)
	for len(t.decommitted) > 0 {
		d := t.decommitted[len(t.decommitted)-1]
		old, _ := now.Meta(d.FirstSlot)
		if count := uint64(hi - lo); d.FirstSlot != hi || count > 0 && count >= n && count+uint64(old.N) > limit {
			break
		}
		t.decommitted = t.decommitted[:len(t.decommitted)-1]
		page, m := t.newPage(d.FirstSlot, old.N)
		t.layout.whole(page, uint64(m.N)).vacate(&t.origins, d.FirstSlot, d.Floor) // I11
		now.show(m, page, uintptr(now.Mask+1)*now.size)
		hi += m.N
		lives += int64(m.N) * t.Lives(d.Floor)
	}
	now.endGaps()
	now.keep()
	t.unborn.Add(lives)  // before the store
	t.Current.Store(now) // publishes (P2)
	t.RecommitRange.Set(lo, hi)
	// The slots count as missing until here. Otherwise an insertion that finds neither them nor
	// any missing would conclude that nothing is left.
	t.decommittedSlots.Add(-int64(hi - lo))
	t.changes.Add(1)
}

// putLongestLast makes the longest run of neighbours the last in decommitted, so that it comes back
// next.
func (t *Table) putLongestLast() {
	now, list := t.Pages(), t.decommitted
	first, end, longest := 0, 0, uint32(0)
	for start, k, count := 0, 0, uint32(0); k < len(list); k++ {
		m, _ := now.Meta(list[k].FirstSlot)
		if k > 0 && m.FirstSlot+m.N != list[k-1].FirstSlot {
			start, count = k, 0
		}
		if count += m.N; count > longest {
			first, end, longest = start, k+1, count
		}
	}
	run := slices.Clone(list[first:end])
	t.decommitted = append(slices.Delete(list, first, end), run...)
}

// copied returns a copy of the current table that shares nothing that changes.
func (t *Table) copied() *PageTable {
	old := t.Pages()
	now := *old
	now.move(old, old.Units())
	now.metas = append(make([]*PageMeta, 0, cap(now.metas)), now.metas...)
	return &now
}

// Memory is what a copy of a table needs to hand out the same slots in the same order.
type Memory struct {
	Next   uint64   // the first index that was never handed out
	Again  []uint64 // the rest of what came back last, lo and hi; empty if there is none
	Stub   bool     // there is a stub: then Trim gives up single units
	Unused []uint64 // the first slots of the units of which no slot was handed out
	Gone   []uint64 // the first slots of pages without memory, each with its floor
}

// Memory returns that of the table.
func (t *Table) Memory() (m Memory) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.Next, m.Again, m.Stub = t.next.Load(), t.RecommitRange.Ends(), t.stub != nil
	now := t.Pages()
	for p := range now.Pages {
		if uint64(p.FirstSlot) < max(m.Next, t.whole) {
			continue // with Preallocate the first page is there anyway
		}
		for j := uint32(0); j < p.N; j += now.Mask + 1 {
			m.Unused = append(m.Unused, uint64(p.FirstSlot+j))
		}
	}
	for _, d := range t.decommitted {
		m.Gone = append(m.Gone, uint64(d.FirstSlot), uint64(d.Floor))
	}
	return m
}

// FirstPage returns how many slots the first page has if it has all of the Capacity, else 0.
func (t *Table) FirstPage() uint64 { return t.whole }
