package command

// Discard forgets what is recorded and returns how many commands that was,
// insertions and removals. Every reservation is given back: its handle never
// becomes live, and its slot may be used again. What was written to the values
// is zeroed, or left to Options.Reset, as for values that were removed.
//
// It may be called at any time; what an Apply has taken is not discarded. If
// Options.Reset panics, or exits, while slots are given back, that goes on up:
// the removals are forgotten, and insertions that were not given back are
// recorded again.
func (b *Buffer[T]) Discard() int {
	b.usable()
	b.mu.Lock()
	insertions := take(&b.insertions, &b.spareInsertions)
	removals := take(&b.removals, &b.spareRemovals)
	b.mu.Unlock()

	k := 0
	defer func() {
		if k < len(insertions) {
			b.mu.Lock()
			b.insertions = append(insertions[k:], b.insertions...)
			b.mu.Unlock()
			clear(insertions[:k]) // settled ones, before the list's beginning now
		}
	}()
	for k < len(insertions) {
		r := insertions[k]
		k++ // Cancel has given the slot back when it panics
		r.Cancel()
	}
	b.recycle(insertions, removals)
	return len(insertions) + len(removals)
}
