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
			b.mu.Lock()
			if i >= len(b.insertions) {
				b.mu.Unlock()
				return
			}
			r := b.insertions[i]
			h, v := r.Handle(), r.Value() // while mu is held r is open, so Value does not panic
			b.mu.Unlock()
			if !yield(h, v) {
				return
			}
		}
	}
}

// Removals ranges over the removals that wait for Apply, in the order of recording and as
// often as recorded. Some may turn out to have no effect. Commands may be recorded during
// the loop, which visits them as well.
func (b *Buffer[T]) Removals() iter.Seq[pool.Handle[T]] {
	b.usable()
	return func(yield func(pool.Handle[T]) bool) {
		for i := 0; ; i++ {
			b.mu.Lock()
			if i >= len(b.removals) {
				b.mu.Unlock()
				return
			}
			h := b.removals[i]
			b.mu.Unlock()
			if !yield(h) {
				return
			}
		}
	}
}
