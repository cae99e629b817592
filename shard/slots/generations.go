package slots

import (
	"unsafe"

	"coatcheck/internal/cost"
)

// What is read of all slots, one after the other, for snapshots and figures: in which life each is, and what memory
// they take. stage says how far a slot has come since its first generation (origins.go).

// Stages stores in dst the stages of the slots from index first on, up to the end of
// first's page. It returns how many these are: the same in every table, since WriteTo looks at the
// same runs twice, and a page may go in between. A slot that never went live counts as vacant
// before its first life. Slots of a page without memory have its floor. The values of live slots
// may be read under a guard that was pinned before the call.
func (t *Table) Stages(now *PageTable, first uint32, dst []uint32) int {
	m, j := now.Meta(first)
	dst = dst[:min(len(dst), int(m.N-j))]
	if m.Floor != 0 {
		cost.Visits(len(dst))
		for j := range dst {
			dst[j] = m.Floor
		}
		return len(dst)
	}
	slots := now.Strip(first, first+uint32(len(dst)))
	for j := range dst {
		dst[j] = t.StageOf(first+uint32(j), slots.Slot(uint32(j)).Word.Load()) // observes (P1)
	}
	return len(dst)
}

// SlotStage returns the stage of slot i, which was handed out: 0 if its word was never written. If its page has
// no memory, that is the floor.
func (t *Table) SlotStage(i uint32) uint32 {
	now := t.Pages()
	if floor, ok := now.Floor(i); ok {
		return floor
	}
	return t.origins.StageOf(i, now.At(i).Word.Load())
}

// Bytes returns the memory of the pages, their metas and the table.
func (t *Table) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes()
}

// bytes is Bytes under mu.
func (t *Table) bytes() int64 {
	p := t.Pages()
	resident := int64(p.Limit) - t.decommittedSlots.Load()
	if t.stub != nil {
		resident += int64(p.Mask) + 1
	}
	n := resident*int64(t.layout.Size) +
		int64(1+p.room)*int64(pointerSize) + int64(cap(p.metas))*int64(unsafe.Sizeof(p.metas[0]))
	for m := range p.Pages {
		n += m.bytes()
	}
	return n
}

// bytes returns the memory that a PageMeta takes.
func (m *PageMeta) bytes() int64 {
	n := int64(unsafe.Sizeof(*m)) + 4*int64(len(m.homes)+len(m.stamps)+len(m.moved))
	if h := m.holders.Load(); h != nil {
		n += 4 * int64(len(h.count))
	}
	return n + m.marks.bytes() + m.skips.Load().bytes()
}
