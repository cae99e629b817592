package slots

import "coatcheck/internal/atom"

// holders has the counts of one page.
type holders struct {
	// count has a word for each slot: how many holders it has, and whether it is parked.
	//
	//	writers  the holders, by adding; the Youngest of them, and the reclaimer that parks the Slot, by
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
