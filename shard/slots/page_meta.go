package slots

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// What belongs to a page and lies apart from its slots, because look-ups do not need it: where the page begins, the
// homes and stamps of its slots, and the counts of Refs. So a slot is its word and its value.

// PageMeta has what belongs to a page and lies apart from its slots.
type PageMeta struct {
	page      unsafe.Pointer // its slots, or the stub: Array does not keep them (page_table.go)
	FirstSlot uint32         // its first slot
	N         uint32         // how many it has
	Floor     uint32         // the stage of all its slots if it has no memory, else 0 (decommit.go); the rest is empty then
	gapEnd    uint32         // the slot behind the gap in which it lies, if it has no memory

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

	marks   marks                 // with the tag coatcheck_debug: which slots nobody may write (debug_on.go)
	moved   []atom.Uint32         // one bit a slot, for Table.MarkMoved; nil without Reset
	holders atom.Pointer[holders] // counts of Refs; nil until MakeCounts or the page's first Hold

	// skips is nil in a pool that was not restored (page_skips.go).
	//
	//	writers  SetSkips and SkipLive; TakeSkip, which makes it nil
	//	readers  Skips, SkipsOf and TakeSkip
	skips atom.Pointer[skips]
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

// newPage makes a page of n slots from index first on, and its meta.
func (t *Table) newPage(first, n uint32) (page unsafe.Pointer, m *PageMeta) {
	page = t.layout.page(uint64(n))
	m = &PageMeta{page: page, FirstSlot: first, N: n}
	if first == 0 {
		(*Hook)(page).Word.Store(Pack(0, None)) // or it would equal the zero Handle (I4)
	}
	m.homes = make([]atom.Uint32, (n+homeSlots-1)/homeSlots)
	if t.stampPerSlot {
		m.stamps = make([]uint32, n)
	}
	if Poisons {
		m.marks = newMarks(n)
	}
	if t.layout.Reset != nil {
		m.moved = make([]atom.Uint32, (n+31)/32)
	}
	return page, m
}

// SetStamp gives slot i, which the caller owns, a stamp. Where slots have none, it does nothing.
func (t *Table) SetStamp(i uint32, stamp uint64) {
	if m, j := t.Pages().Meta(i); uint(j) < uint(len(m.stamps)) {
		m.stamps[j] = uint32(stamp)
	}
}

// SetStamps is SetStamp for the slots of a chain.
func (t *Table) SetStamps(c *Chain, stamp uint64) {
	i := Low(c.First)
	for range c.N {
		t.SetStamp(i, stamp)
		i = Low(t.Slot(i).Word.Load())
	}
}

// StampOf returns the stamp of slot i, which the caller owns, or more. now is a value of E
// after the removal. A stamp has 32 bits, to save memory. If the epoch has advanced 2^32 times
// since, the slot seems to be removed later than it was, and may wait for longer. Where slots have none, it is now.
func (t *Table) StampOf(i uint32, now uint64) uint64 {
	if m, j := t.Pages().Meta(i); uint(j) < uint(len(m.stamps)) {
		return now - uint64(uint32(now)-m.stamps[j])
	}
	return now
}

// MarkMoved notes that the value of slot i was moved out. Reclaiming then zeroes the slot, and
// Reset never sees a value that another owns. The slot's owner calls it before it retires the
// slot. The operation is atomic because the bits of a word belong to different owners. Without a
// Reset it does nothing: reclaiming zeroes each slot anyway.
func (t *Table) MarkMoved(i uint32) {
	if m, j := t.Pages().Meta(i); uint(j/32) < uint(len(m.moved)) {
		m.moved[j/32].Or(1 << (j % 32))
	}
}

// UnmarkMoved clears the mark of slot i and returns whether it was set. There must be a Reset.
func (t *Table) UnmarkMoved(i uint32) bool {
	m, j := t.Pages().Meta(i)
	bit := uint32(1) << (j % 32)
	return m.moved[j/32].And(^bit)&bit != 0
}

// holders has the counts of one page.
type holders struct {
	// count has a word for each slot: how many holders it has, and whether it is parked.
	//
	//	writers  the holders, by adding; the last of them, and the reclaimer that parks the slot, by
	//	         compare-and-swap (hold.go of package shard)
	//	readers  the reclaimer
	//	moves    n → n+1, n → n−1, n → n|parked for n > 0, 0|parked → 0
	//	orders   the raise publishes the hold to the reclaimer (P7)
	count []atom.Uint32
}

// Parked marks the count of a slot whose grace period is over and that is in no list. The Drop
// that brings its count to zero owns it.
const Parked = 1 << 31

// IsHeld reports whether slot i, which was removed, has holders. A hold that comes later fails.
func (t *PageTable) IsHeld(i uint32) bool {
	m, j := t.Meta(i)
	h := m.holders.Load()
	return h != nil && h.count[j].Load() != 0
}

// Holding returns how many holds slot i has, and whether it is parked for them.
func (t *PageTable) Holding(i uint32) (n int, isParked bool) {
	m, j := t.Meta(i)
	if h := m.holders.Load(); h != nil {
		c := h.count[j].Load()
		return int(c &^ Parked), c&Parked != 0
	}
	return 0, false
}

// HolderCount returns the count of slot i. It makes those of its page if there are none yet. If
// several holds make them at once, one's are used. They take 4 bytes a slot: at most half as much
// as their page.
func (t *PageTable) HolderCount(i uint32) *atom.Uint32 {
	m, j := t.Meta(i)
	h := m.holders.Load()
	if h == nil {
		h = &holders{make([]atom.Uint32, m.N)}
		// Failure means that another hold made them, and no goroutine has used these.
		if !m.holders.CompareAndSwap(nil, h) {
			h = m.holders.Load()
		}
	}
	return &h.count[j]
}

// HolderCountIfMade returns the count of slot i, or nil if its page has none.
func (t *PageTable) HolderCountIfMade(i uint32) *atom.Uint32 {
	m, j := t.Meta(i)
	if h := m.holders.Load(); h != nil {
		return &h.count[j]
	}
	return nil
}

// MakeCounts makes the counts of every page, so that no hold allocates.
func (t *PageTable) MakeCounts() {
	for m := range t.Pages {
		t.HolderCount(m.FirstSlot)
	}
}
