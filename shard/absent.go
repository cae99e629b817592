package shard

import "unsafe"

// A page without memory keeps its place in the table, and its indices: so that a
// look-up needs to know nothing of it, the table shows the void there, one page
// for all of them, whose words match no handle and link to nothing.
//
//	           all its slots vacant and in Trim's hands
//	resident ───────────────────────────────────────────▶ absent: floor
//	   ▲                                                    │
//	   └──── bringBack: every word {floor, None} ◀──────────┘
//
// The floor is above every generation that any of the page's slots had, so that
// no handle of theirs comes back to life, and none of them comes to a freelist
// again with a generation that it had there (I5, I11).
//
// Tables stay immutable, so who loaded one before still sees the old memory, or
// the void, whatever comes back. That is right as long as nobody goes by a table
// that is older than the operation: what was inserted before an operation began is
// in memory that the current table shows, and stays there while it lives. So
// guards look at the current table anew in each operation, a Worker checks whether
// its copy still is that, and who takes a slot from a list loads the table after
// the list told of the slot.
//
// The wrong version lets a guard keep the table that it found when it was pinned:
// it would not see what is inserted in a page that comes back meanwhile.

// absent is a page without memory.
type absent struct {
	at    int    // its number
	floor uint32 // the generation of all its slots; even
}

// giveUp takes the memory of pages, whose slots the caller owns all, out of the
// table. It returns how many bytes that gives back.
func (t *Table[T]) giveUp(pages []absent) (bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.bytes()
	if t.void == nil {
		t.void, t.voidMargin = unsafe.Pointer(unsafe.SliceData(t.newVoid())), new(margin)
	}
	now := t.copied()
	slots := uint64(0)
	for _, a := range pages {
		slots += t.slotsIn(now, a.at)
		now.Base[a.at], now.margins[a.at], now.floors[a.at] = t.void, t.voidMargin, a.floor
	}
	t.absent = append(t.absent, pages...)
	t.missing.Add(int64(slots))
	t.Current.Store(now) // publishes (P2)
	return before - t.bytes()
}

// Floor returns the generation of slot i, and of all others of its page, if that
// has no memory in this table.
func (t *Pages) Floor(i uint32) (floor uint32, ok bool) {
	k := int(i >> (t.Shift & 31))
	if k >= len(t.floors) || t.floors[k] == 0 {
		return 0, false
	}
	return t.floors[k], true
}

// newVoid makes the page that stands for those without memory. Its words equal no
// handle, not even the zero one: None is no index.
func (t *Table[T]) newVoid() []Slot[T] {
	v := make([]Slot[T], uint64(t.Pages().Mask)+1)
	for i := range v {
		v[i].Word.Store(Pack(0, None))
	}
	return v
}

// bringBack gives an absent page memory again, and its slots to Allot. The caller
// holds mu, and again is empty. It costs the page, and a copy of the table.
func (t *Table[T]) bringBack(old *Pages) {
	a := t.absent[len(t.absent)-1]
	t.absent = t.absent[:len(t.absent)-1]
	page, m := t.newPage(old, a.at)
	for i := range page {
		page[i].Word.Store(Pack(a.floor, None)) // I11
	}
	now := t.copied()
	now.Base[a.at], now.margins[a.at], now.floors[a.at] = unsafe.Pointer(unsafe.SliceData(page)), m, 0
	t.missing.Add(-int64(len(page)))
	t.Current.Store(now) // publishes (P2)
	lo := uint32(a.at) << (old.Shift & 31)
	t.again.Store(Pack(lo, lo+uint32(len(page))))
}

// copied returns a copy of the current table that shares nothing that changes.
func (t *Table[T]) copied() *Pages {
	now := *t.Pages()
	now.Base = append(make([]unsafe.Pointer, 0, cap(now.Base)), now.Base...)
	now.Array = unsafe.Pointer(unsafe.SliceData(now.Base))
	now.margins = append(make([]*margin, 0, cap(now.margins)), now.margins...)
	now.floors = append(make([]uint32, 0, cap(now.Base)), now.floors...)[:len(now.Base)]
	return &now
}

// bytes returns the memory that a margin takes.
func (m *margin) bytes() int64 {
	n := 4 * int64(len(m.taken))
	if h := m.holders.Load(); h != nil {
		n += 4 * int64(len(h.counts))
	}
	return n
}
