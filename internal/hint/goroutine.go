//go:build !interleave

package hint

import "unsafe"

// stackShift drops the bits that differ between calls on one stack. 2 KiB is
// the smallest stack; a larger shift would give neighbours the same hint.
const stackShift = 11

// Goroutine returns the calling goroutine's hint, spread over all 32 bits.
func Goroutine() uint32 {
	var here byte
	return uint32(uintptr(unsafe.Pointer(&here))>>stackShift) * Spread
}
