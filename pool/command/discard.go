package command

// Discard forgets what is recorded, and returns the number of these commands, as Len does. It
// gives back every reserved slot, whose handle never becomes live. The pool zeroes or Resets the
// values, as it does with removed ones.
//
// Any goroutine may call Discard at any time. It does not discard commands that an Apply has
// taken.
func (b *Buffer[T]) Discard() int {
	b.usable()
	if b.busy.Load() == 0 {
		return 0
	}
	b.mu.Lock()
	t := b.take()
	b.mu.Unlock()
	for _, r := range t.insertions {
		r.Cancel()
	}
	b.recycle(t)
	return len(t.insertions) + len(t.removals) + len(t.functions)
}
