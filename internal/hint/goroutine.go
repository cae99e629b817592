//go:build !interleave

package hint

import "unsafe"

// stackShift drops the bits that differ between calls on one stack. 2 KiB is
// the smallest stack; a larger shift would give neighbours the same hint.
const stackShift = 11

// Frame returns an address in the frame of the function that it is inlined into. What lies there has
// no size, so it costs no store, and all calls in one function get one place.
func Frame() uintptr { return uintptr(unsafe.Pointer(new(struct{}))) }

// Of returns the hint of the goroutine that has the frame, spread over all 32 bits.
func Of(frame uintptr) uint32 { return uint32(frame>>stackShift) * Spread }
