package command

import (
	"weak"

	"coatcheck/pool"
)

// Kept returns how many settled reservations b keeps from the garbage
// collector, and how many commands its lists have memory for.
func Kept[T any](b *Buffer[T]) (reservations, commands int) {
	recorded := b.insertions[len(b.insertions):cap(b.insertions)]
	spare := b.spareInsertions[:cap(b.spareInsertions)]
	for _, r := range append(recorded[:len(recorded):len(recorded)], spare...) {
		if r != nil {
			reservations++
		}
	}
	return reservations, cap(b.insertions) + cap(b.spareInsertions) + cap(b.removals) + cap(b.spareRemovals)
}

// KeptBuffers returns the number of Buffers that b's spare frame refers to.
func KeptBuffers[T any](b *Buffer[T]) (n int) {
	if f := b.spareFrame; f != nil {
		for _, o := range f.buffers[:cap(f.buffers)] {
			if o != nil {
				n++
			}
		}
		for _, t := range f.taken[:cap(f.taken)] {
			if t.from != nil || t.insertions != nil || t.removals != nil {
				n++
			}
		}
	}
	return n
}

// FirstInsertion returns a weak pointer to the first reservation in b.
func FirstInsertion[T any](b *Buffer[T]) weak.Pointer[pool.Reservation[T]] {
	return weak.Make(b.insertions[0])
}
