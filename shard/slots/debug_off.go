//go:build !coatcheck_debug || interleave

package slots

// Poisons is false without the build tag coatcheck_debug (debug_on.go).
const Poisons = false

// Fill does nothing.
func (l *Layout) Fill(*Hook) {}
