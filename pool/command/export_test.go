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

// FirstInsertion returns a weak pointer to the first reservation in b.
func FirstInsertion[T any](b *Buffer[T]) weak.Pointer[pool.Reservation[T]] {
	return weak.Make(b.insertions[0])
}
