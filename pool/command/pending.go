package command

import (
	"iter"
	"runtime"

	"coatcheck/pool"
)

// Insertions ranges over the insertions that wait for Apply, in the order of
// recording: for whoever keeps books of his own on what comes, or wants to
// finish a value when others are known. The values may be written to, by one
// goroutine at a time; they are nobody else's yet.
//
// Commands may be recorded during the loop, which meets them as well. Apply and
// Discard must wait until the loop has ended: from then on the pointer is not
// the Buffer's to give.
func (b *Buffer[T]) Insertions() iter.Seq2[pool.Handle[T], *T] {
	b.usable()
	return func(yield func(pool.Handle[T], *T) bool) {
		// The body may be the last to use the Buffer. Without this, the collector
		// could find it dropped there, and give back the slot that the body writes to.
		defer runtime.KeepAlive(b)
		for i := 0; ; i++ {
			h, v, ok := b.insertion(i)
			if !ok || !yield(h, v) {
				return
			}
		}
	}
}

// insertion returns the i-th insertion. While mu is held what is in the list is
// open, so Value does not panic, whatever others do.
func (b *Buffer[T]) insertion(i int) (h pool.Handle[T], v *T, ok bool) {
	b.mu.Lock()
	if ok = i < len(b.insertions); ok {
		r := b.insertions[i]
		h, v = r.Handle(), r.Value()
	}
	b.mu.Unlock()
	return h, v, ok
}

// Removals ranges over the removals that wait for Apply, in the order of
// recording and as often as they were recorded. Some may turn out to be of no
// effect. Commands may be recorded during the loop, which meets them as well.
func (b *Buffer[T]) Removals() iter.Seq[pool.Handle[T]] {
	b.usable()
	return func(yield func(pool.Handle[T]) bool) {
		for i := 0; ; i++ {
			h, ok := b.removal(i)
			if !ok || !yield(h) {
				return
			}
		}
	}
}

func (b *Buffer[T]) removal(i int) (h pool.Handle[T], ok bool) {
	b.mu.Lock()
	if ok = i < len(b.removals); ok {
		h = b.removals[i]
	}
	b.mu.Unlock()
	return h, ok
}
