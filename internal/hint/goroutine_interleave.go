//go:build interleave

package hint

import "coatcheck/internal/check/interleave"

// Goroutine returns the hint of the running virtual thread, and 0 outside one. Stack
// addresses differ between runs, and a run must be repeatable.
func Goroutine() uint32 {
	h, _ := interleave.Hint()
	return h
}
