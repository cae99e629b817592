package shard

import (
	"math"

	"coatcheck/shard/slots"
)

// room is how much lists have room for from the start, and how many batches and buckets there may be. Where memory
// may grow, lists begin empty. Where it is fixed, they have room for all that they may ever have.
type room struct {
	batches, batchLimit int    // of a shard
	runs, ready         int    // of a shard: runs of Resets, and chains that are ready
	buckets             int    // of a shard
	bucketLimit         uint16 // of the arena: split makes no more
	magazine            int    // slots of a magazine, and parts of its bag
}

// room returns that of an arena.
func (c *Config) room() room {
	if !c.Fixed {
		// With 4 buckets each, the parts of shards are about equal if these are no power of two.
		return room{batchLimit: math.MaxInt, buckets: 4, bucketLimit: mostBuckets}
	}
	batches := int(min(fixedBatches+c.Capacity/slots.SealEvery/uint64(c.Shards), c.Capacity+2))
	return room{
		batches: batches, batchLimit: batches, runs: runsMost, ready: readyMost, buckets: fixedBuckets, magazine: MaxReach,
	}
}
