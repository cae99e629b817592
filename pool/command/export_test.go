package command

import (
	"weak"

	"coatcheck/pool"
)

// Room returns how many commands the lists of b have memory for.
func Room[T any](b *Buffer[T]) int {
	return cap(b.insertions) + cap(b.spareInsertions) + cap(b.removals) + cap(b.spareRemovals)
}

// Recorded returns how many commands wait in b.
func Recorded[T any](b *Buffer[T]) (insertions, removals int) {
	return len(b.insertions), len(b.removals)
}

// FirstInsertion returns a weak pointer to the first reservation in b.
func FirstInsertion[T any](b *Buffer[T]) weak.Pointer[pool.Reservation[T]] {
	return weak.Make(b.insertions[0])
}
