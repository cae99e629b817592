//go:build !interleave

package slots

// Exploring has At check its index.
const Exploring = false

const (
	// Batch is how many slots move together: so many never used ones a shard takes at a time, and so many must wait
	// in a shard before an insertion reclaims there, while there is new memory. A seal costs three locked
	// instructions and a scan of the pin cells, 20 to 50 ns on a small machine: for 64 slots less than 1 ns each. If
	// it were larger, more slots would wait in each shard that no guard delays.
	Batch = 64

	// SealEvery is how many slots are pushed to a shard's limbo before a removal seals it, if it has as many. With
	// more, a guard that is pinned later delays more of them, and a refusal cuts longer batches. With fewer, more
	// batches wait: one of 64 bytes for each so many slots. It is a power of two.
	SealEvery = 2 * Batch

	// longTimeline is the length from which an array of batches is given back when it has become
	// too long.
	longTimeline = 2 * Batch

	// backShare is how many slots there are, with memory or without, for each that comes back to a
	// trimmed pool at a time, and there are no more than it has. A pool then has up to a 64th of what it once had
	// before it needs it. It copies the table each time that it doubles up to a 64th, at most 26 times and mostly
	// fewer than ten, and then 64 times until it has all again. A copy takes an entry of 8 bytes for each
	// unit, so each of the 64 costs at most half of what comes back with it. A copy for each page would cost
	// several times its first allocation.
	backShare = 64
)
