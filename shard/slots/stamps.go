package slots

// What a Table knows of single slots: their memory, their stamps, and their generations.

// Slot returns the slot of an index that was read from a word.
func (t *Table) Slot(i uint32) *Hook { return t.Pages().At(i) }

// Vacant returns the generation of the word of a slot that is not live. A word that was never
// written stands for the generation before the first.
func (t *Table) Vacant(word uint64) uint32 {
	if g := Generation(word); g != 0 {
		return g
	}
	return t.freshGeneration - 1
}

// FirstLife returns slot i, of a range, and the handle that it will have.
func (t *Table) FirstLife(i uint32) (*Hook, uint64) {
	slot := t.Slot(i)
	return slot, Pack(t.Vacant(slot.Word.Load())+1, i)
}

// SetStamp gives slot i, which the caller owns, a stamp.
func (t *Table) SetStamp(i uint32, stamp uint64) {
	m, j := t.Pages().Meta(i)
	m.stamps[j] = uint32(stamp)
}

// StampOf returns the stamp of slot i, which the caller owns, or more. now is a value of E
// after the removal. A stamp has 32 bits, to save memory. If the epoch has advanced 2^32 times
// since, the slot seems to be removed later than it was, and may wait for longer.
func (t *Table) StampOf(i uint32, now uint64) uint64 {
	m, j := t.Pages().Meta(i)
	return now - uint64(uint32(now)-m.stamps[j])
}

// MarkMoved notes that the value of slot i was moved out. Reclaiming then zeroes the slot, and
// Reset never sees a value that another owns. The slot's owner calls it before it retires the
// slot. The operation is atomic because the bits of a word belong to different owners. There
// must be a Reset.
func (t *Table) MarkMoved(i uint32) {
	m, j := t.Pages().Meta(i)
	m.moved[j/32].Or(1 << (j % 32))
}

// UnmarkMoved clears the mark of slot i and returns whether it was set. There must be a Reset.
func (t *Table) UnmarkMoved(i uint32) bool {
	m, j := t.Pages().Meta(i)
	bit := uint32(1) << (j % 32)
	return m.moved[j/32].And(^bit)&bit != 0
}

// Restrict makes a number the most slots that there may be, in a table that no other goroutine has.
func (t *Table) Restrict(slots uint64) { t.max = slots }

// BeginAt makes slots that were never used begin with a live generation, or with a later one, in a table
// that no other goroutine has.
func (t *Table) BeginAt(generation uint32) { t.freshGeneration = max(t.freshGeneration, generation) }
