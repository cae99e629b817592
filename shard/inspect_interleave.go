//go:build interleave

package shard

import (
	"reflect"
	"slices"
	"unsafe"

	"coatcheck/internal/atom"
)

// Contents is what a shard's lists begin with: for the invariants that are
// checked where schedules are explored, between two steps of one run.
type Contents struct {
	Free, Fresh, Limbo uint64 // the words
	Sealed             []Sealed
	Credit             int64
}

// Sealed is one sealed batch: how many slots it has, in two lists.
type Sealed struct{ Top, Turned, N uint32 }

// Inspect returns the shard's contents.
func (s *Shard[T]) Inspect() Contents {
	c := Contents{
		Free: s.free.Load(), Fresh: s.fresh.Load(), Limbo: s.limbo.Load(),
		Credit: s.credit.Load(),
	}
	for k := range s.sealed.n {
		b := s.sealed.at(k)
		c.Sealed = append(c.Sealed, Sealed{b.top, b.turned, b.n})
	}
	return c
}

// Margin returns what lies beside page k, and its counts of holders if it has any.
func (t *Pages) Margin(k int) (unsafe.Pointer, reflect.Type, []atom.Uint32) {
	m := t.margins[k]
	at, is := unsafe.Pointer(m), reflect.TypeFor[margin]()
	if h := m.holders.Load(); h != nil {
		return at, is, h.counts
	}
	return at, is, nil
}

// Holding returns how many hold slot i, and whether it is parked.
func (t *Pages) Holding(i uint32) (n int, isParked bool) {
	m, j := t.margin(i)
	if h := m.holders.Load(); h != nil {
		c := h.counts[j].Load()
		return int(c &^ parked), c&parked != 0
	}
	return 0, false
}

// Absent returns the pages without memory and the floors of their slots.
func (t *Table[T]) Absent() map[int]uint32 {
	floors := make(map[int]uint32)
	for _, a := range t.absent {
		floors[a.at] = a.floor
	}
	return floors
}

// Unallotted reports whether slot i was not handed out, or not since its page came
// back.
func (t *Table[T]) Unallotted(i uint32) bool {
	r := t.again.Load()
	if uint64(i) >= t.next.Load() || Generation(r) <= i && i < Low(r) {
		return true
	}
	k := int(i >> (t.Pages().Shift & 31))
	return slices.ContainsFunc(t.back, func(a absent) bool { return a.at == k })
}

// Void returns the page that stands for those without memory, or nil.
func (t *Table[T]) Void() unsafe.Pointer { return t.void }
