package command

// Discard forgets what is recorded and returns the number of those commands, insertions
// and removals. It gives every reservation back: its handle never becomes live, and its
// slot may be reused. The values written are zeroed, or left to Options.Reset, like
// removed values.
//
// It may be called at any time. It does not discard commands that an Apply has taken. If
// Options.Reset panics, or exits, while slots are given back, the panic continues to the
// caller: the removals are forgotten, and insertions that were not given back are
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
			clear(insertions[:k]) // settled, and before the beginning of the list now
		}
	}()
	for k < len(insertions) {
		r := insertions[k]
		k++ // a Cancel that panics has given the slot back
		r.Cancel()
	}
	b.recycle(insertions, removals)
	return len(insertions) + len(removals)
}
