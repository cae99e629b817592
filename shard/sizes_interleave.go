//go:build interleave

package shard

// Exploring has At check its index.
const Exploring = true

// These are small where schedules are explored. Two removals suffice for a seal, and nine for
// more than one call moves. Batch stays a power of two.
const (
	Batch        = 2
	waitingMost  = 2
	longTimeline = 4
	fixedBatches = 4
	cellsABatch  = 24
	fixedBuckets = 4
	readyMost    = 2
	spliceLeast  = 2
	firstReach   = 8 // three of these fit into a part of the bag
	arraySlots   = 2
	arraysMost   = 8
	spareMost    = 1
	resetRun     = 2
	runsMost     = 2
	aheadBytes   = 64 // one slot: a shard goes ahead once
	rangeLeast   = 2
	othersFirst  = 2
	backShare    = 2 // half of the slots come back at a time
	patience     = 2

	cellsPaid      = 1
	cellsPaidInBag = 16
)
