package command

// Discard forgets what is recorded and returns the number of those commands, as Len does. It
// gives every reservation back: its handle never becomes live, and its
// slot may be reused. The values written are zeroed, or left to Options.Reset, like
// removed values.
//
// It may be called at any time. It does not discard commands that an Apply has taken. If
// Options.Reset panics, or exits, while slots are given back, the panic continues to the
// caller: the removals and functions are forgotten, and insertions that were not given back
// are recorded again.
func (b *Buffer[T]) Discard() int {
	b.usable()
	b.mu.Lock()
	t := b.take()
	b.mu.Unlock()

	insertions := t.insertions
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
	b.recycle(t)
	return len(t.insertions) + len(t.removals) + len(t.functions)
}
