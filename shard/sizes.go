//go:build !interleave

package shard

import "coatcheck/shard/slots"

const (
	// fixedBatches is how many batches a shard has room for with Preallocate, beside one for each SealEvery slots
	// of its share of the Capacity. Each takes 64 bytes.
	fixedBatches = 256

	// apartMost is how many batches of slots without stamps a shard keeps, of 64 bytes each, before it joins those
	// that have few slots.
	apartMost = 32

	// fixedBuckets is how many buckets a shard has with Preallocate. No more are made later. With
	// fewer, two goroutines more often have one bucket, and cannot part. Each takes 8 bytes.
	fixedBuckets = 64

	// readyMost is how many chains of slots that have passed wait for an empty freelist. More
	// are visited, which costs 5 ns a slot, and joined to the last. Each takes 32 bytes a shard.
	readyMost = 32

	// spliceLeast is how many slots a chain must have to wait for an empty freelist. Fewer
	// are visited, and pushed at once.
	spliceLeast = slots.Batch / 4

	// spliceMost is how many slots a stack's freelist gets at once. Of a longer chain it gets half as many, which are
	// visited. With fewer, insertions search more often. With more, they use more slots that were vacant before they
	// come back to what was removed last.
	spliceMost = 4 * slots.Batch

	// youngMost is how many of the youngest batches may pass before the oldest. What is behind one is moved: 64 bytes a
	// batch.
	youngMost = 32

	// firstReach is how many slots a magazine keeps at first. More would save scans on many
	// processors. But what two magazines keep that pass slots to each other must fit into what
	// a shard takes ahead.
	firstReach = 128

	// resetRun is the most slots that one goroutine takes at a time to call Reset for them. No
	// other goroutine can have them meanwhile. A smaller one costs more locked instructions a
	// slot.
	resetRun = 16

	// runsMost is how many runs of Resets a shard has at a time.
	runsMost = 64

	// aheadBytes is how much memory a shard takes although others have slots.
	aheadBytes = 32 << 10

	// rangeLeast is how many never used slots a shard takes at a time from a small pool. From a
	// larger one it takes a quarter, up to Batch. So four shards share a pool's first page.
	rangeLeast = slots.Batch / 4

	// othersFirst is how many searches there are for each that takes another shard's slot rather
	// than reclaim less than a batch of its own. Otherwise a shard with few slots would get
	// them back one by one, each at the price of a scan, while another has many. In a full pool
	// a look at 64 shards costs some 150 ns, for nothing. In a pool with 4,090 live values of 4,096,
	// 8 goroutines and 64 shards, a removal with an insertion took 83 ns, and 118 ns both where each
	// search takes another's slot first and where none does (Intel family 6, model 207).
	othersFirst = 8

	// patience is after how many failed compare-and-swaps a goroutine first moves to another
	// shard. A few failures cost less than a wrong move. It is a power of two.
	patience = 16

	// cellsPaid is how many pin cells a removed slot pays for, in each of the two scans that a round may
	// have: some 2 ns if no other goroutine writes them. cellsPaidInBag is that of one by a magazine,
	// which has fewer slots to wait until they pay for a scan.
	cellsPaid      = 4
	cellsPaidInBag = 16
)
