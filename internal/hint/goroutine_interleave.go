//go:build interleave

package hint

import "coatcheck/internal/check/interleave"

// Goroutine returns the hint that the running virtual thread was given, and 0
// outside of one: stacks lie elsewhere in each run, and a run must be repeatable.
func Goroutine() uint32 {
	h, _ := interleave.Hint()
	return h
}
