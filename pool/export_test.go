//go:build !interleave

package pool

import (
	"io"
	"unsafe"
)

// What tests of this package need of its inside. A build that explores has the same in
// export_interleave.go. All else that tests need can be had from outside, see package inside
// in internal/check.

// ReadTiny is ReadFrom with pages of 1<<shift slots.
func ReadTiny[T any](r io.Reader, opts *Options[T], shift uint32) (*Pool[T], error) {
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	pl.shift = shift
	return pl.restore(r)
}

const (
	// BlockCells is how many Reservations a Reserver's block has.
	BlockCells = blockCells

	// BlockBytes is what a block takes.
	BlockBytes = unsafe.Sizeof(block[int]{})

	// RecordBytes is what remembering adds to a pool and to what is opened.
	RecordBytes = unsafe.Sizeof(records{}) + unsafe.Sizeof(mark{})
)
