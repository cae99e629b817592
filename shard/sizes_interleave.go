//go:build interleave

package shard

// Exploring has At check its index.
const Exploring = true

// These are small where schedules are explored. Two removals suffice for a seal, nine for more
// than one call moves, and a few for all batches to be sealed. Batch stays a power of two.
const (
	Batch      = 2
	sealedMost = 2
	resetRun   = 2
	aheadBytes = 64 // one slot: a shard goes ahead once
	backShare  = 1  // pages come back several at a time
	patience   = 2
	cellsPaid  = 1
)
