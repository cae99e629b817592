//go:build interleave

package slots

// Exploring has At check its index.
const Exploring = true

// These are small where schedules are explored. Two removals suffice for a seal, and nine for
// more than one call moves. Batch stays a power of two.
const (
	Batch        = 2
	longTimeline = 4
	backShare    = 2 // half of the slots come back at a time
	arraySlots   = 2
	SpareMost    = 1
)
