//go:build interleave

package slots

import (
	"reflect"
	"unsafe"

	"coatcheck/internal/atom"
)

// Exploring has At check its index.
const Exploring = true

// These are small where schedules are explored. Two removals suffice for a seal, and nine for
// more than one call moves. Batch stays a power of two.
const (
	Batch        = 2
	SealEvery    = 2
	longTimeline = 4
	backShare    = 2 // half of the slots come back at a time
)

// InspectPage returns how many slots slot i's page has, where its PageMeta lies, its type, its homes, and
// its counts of holders or nil.
func (t *PageTable) InspectPage(i uint32) (n uint32, address unsafe.Pointer, metaType reflect.Type, homes, counts []atom.Uint32) {
	m, _ := t.Meta(i)
	if h := m.holders.Load(); h != nil {
		counts = h.count
	}
	return m.N, unsafe.Pointer(m), reflect.TypeFor[PageMeta](), m.homes, counts
}

// UnitAddresses returns the address of each unit.
func (t *PageTable) UnitAddresses() []uintptr { return t.entries() }

// Absent returns the floors of the slots without memory.
func (t *Table) Absent() map[uint32]uint32 {
	floors := make(map[uint32]uint32)
	for _, d := range t.decommitted {
		m, _ := t.Pages().Meta(d.FirstSlot)
		for i := range m.N {
			floors[d.FirstSlot+i] = d.Floor
		}
	}
	return floors
}

// Unallotted reports whether slot i was not handed out, or not since its page came back.
func (t *Table) Unallotted(i uint32) bool {
	next, end := t.RecommitRange.Bounds()
	return uint64(i) >= t.next.Load() || next <= i && i < end
}

// Void returns the unit that stands for those without memory, or nil.
func (t *Table) Void() unsafe.Pointer { return t.stub }
