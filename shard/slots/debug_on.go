//go:build coatcheck_debug && !interleave

package slots

import "unsafe"

// Poisons reports whether reclaimed slots are filled, so that a write through a pointer that was
// kept for too long is noticed when the slot is claimed again.
const Poisons = true

// poison is what each byte is filled with of a value without pointers. Values with pointers are
// zero, since the collector would follow what looks like one.
const poison = 0xDB

// Fill fills the value of a slot that has been reclaimed.
func (l *Layout) Fill(slot *Hook) {
	l.Clear(slot)
	if !l.Pointers {
		b := l.bytesOf(slot)
		for i := range b {
			b[i] = poison
		}
	}
}

// Untouched reports whether the value of a claimed slot is as fill left it, or as new memory is.
// In a pool with a Reset it returns true.
func (l *Layout) Untouched(slot *Hook) bool {
	b := l.bytesOf(slot)
	return l.Reset != nil || isAll(b, 0) || !l.Pointers && isAll(b, poison)
}

func isAll(b []byte, x byte) bool {
	for i := range b {
		if b[i] != x {
			return false
		}
	}
	return true
}

// bytesOf returns the value as bytes (unsafe register, U8).
func (l *Layout) bytesOf(slot *Hook) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(slot), -int(l.Word))), l.value)
}
