package command

import (
	"iter"
	"runtime"

	"coatcheck/pool"
)

// Insertions ranges over the insertions that wait for Apply, in the order of recording.
// Use it to maintain an index of new values, or to complete a value once others are
// known. The values may be written, by one goroutine at a time; nothing else can reach
// them yet.
//
// Commands may be recorded during the loop, which visits them as well. Apply and Discard
// must wait until the loop has ended, since they take the values away from the Buffer.
func (b *Buffer[T]) Insertions() iter.Seq2[pool.Handle[T], *T] {
	b.usable()
	return func(yield func(pool.Handle[T], *T) bool) {
		// The body may be the last to use the Buffer. Without KeepAlive the collector
		// could find it unreachable there, and give back the slot that the body writes
		// to.
		defer runtime.KeepAlive(b)
		for i := 0; ; i++ {
			h, v, ok := b.insertion(i)
			if !ok || !yield(h, v) {
				return
			}
		}
	}
}

// insertion returns the i-th insertion. While mu is held the reservations in the list are
// open, so Value does not panic.
func (b *Buffer[T]) insertion(i int) (h pool.Handle[T], v *T, ok bool) {
	b.mu.Lock()
	if ok = i < len(b.insertions); ok {
		r := b.insertions[i]
		h, v = r.Handle(), r.Value()
	}
	b.mu.Unlock()
	return h, v, ok
}

// Removals ranges over the removals that wait for Apply, in the order of recording and as
// often as recorded. Some may turn out to have no effect. Commands may be recorded during
// the loop, which visits them as well.
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
