//go:build interleave

package shard

// Batch is small where schedules are explored, so that two removals are enough
// for a seal and nine for more than one call moves. It stays a power of two.
const Batch = 2

// backShare is 1 here, so that pages come back several at a time.
const backShare = 1
