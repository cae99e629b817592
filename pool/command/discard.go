package command

// Discard forgets what is recorded, and returns the number of these commands, as Len does. It
// gives back every reserved slot, whose handle never becomes live. The pool zeroes or Resets the
// values, as it does with removed ones.
//
// Any goroutine may call Discard at any time. It does not discard commands that an Apply has
// taken. If Options.Reset panics or exits meanwhile, the panic continues. Removals and functions
// are then forgotten; insertions whose slots were not given back are recorded again.
func (b *Buffer[T]) Discard() int {
	b.usable()
	if b.busy.Load() == 0 {
		return 0
	}
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
