//go:build interleave

package hint

import "coatcheck/internal/check/interleave"

// Frame returns the hint of the running virtual thread, and 0 outside one. Stack addresses
// differ between runs, and a run must be repeatable.
func Frame() uintptr { return uintptr(interleave.Hint()) }

// Of returns the hint that Frame returned.
func Of(frame uintptr) uint32 { return uint32(frame) }
