package pool

import "unsafe"

const (
	// BlockCells is how many Reservations a Reserver's block has.
	BlockCells = blockCells

	// BlockBytes is what a block takes.
	BlockBytes = unsafe.Sizeof(block[int]{})
)
