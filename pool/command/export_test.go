package command

import (
	"slices"
	"weak"

	"coatcheck/pool"
)

// Room returns how many commands the lists of b have memory for.
func Room[T any](b *Buffer[T]) int {
	return cap(b.insertions) + cap(b.spare.insertions) + cap(b.removals) + cap(b.spare.removals) +
		cap(b.functions) + cap(b.spare.functions)
}

// Recorded returns how many commands wait in b.
func Recorded[T any](b *Buffer[T]) (insertions, removals int) {
	return len(b.insertions), len(b.removals)
}

// Waiting returns the removals that wait in b, and behind how many of them its functions do.
func Waiting[T any](b *Buffer[T]) (removals []pool.Handle[T], behind []int) {
	for _, f := range b.functions {
		behind = append(behind, f.removals)
	}
	return slices.Clone(b.removals), behind
}

// Lock locks the lists of b, until the function that it returns is called.
func Lock[T any](b *Buffer[T]) (unlock func()) {
	b.mu.Lock()
	return b.mu.Unlock
}

// FirstInsertion returns a weak pointer to the first reservation in b.
func FirstInsertion[T any](b *Buffer[T]) weak.Pointer[pool.Reservation[T]] {
	return weak.Make(b.insertions[0])
}
