//go:build interleave

package shard

const (
	waitingMost  = 2
	fixedBatches = 4
	cellsABatch  = 24
	fixedBuckets = 4
	readyMost    = 2
	spliceLeast  = 2
	firstReach   = 8 // three of these fit into a part of the bag
	arraysMost   = 8
	resetRun     = 2
	runsMost     = 2
	aheadBytes   = 64 // one slot: a shard goes ahead once
	rangeLeast   = 2
	othersFirst  = 2
	patience     = 2

	cellsPaid      = 1
	cellsPaidInBag = 16
)
