//go:build !interleave

package shard

// Exploring has At check its index.
const Exploring = false

const (
	// Batch is how many slots are gathered for one seal. One seal costs three locked
	// instructions and a scan of the pin cells, 20 to 50 ns on a small machine, so
	// that a batch of 64 makes it less than 1 ns a slot. A larger batch holds back
	// more memory: up to Batch slots a shard wait although nobody looks at them.
	Batch = 64

	// sealedMost is how many sealed batches a shard keeps, each with a tag of its
	// own: as many guards, less one, can stand between removals and delay only what
	// was removed after them. Each costs 40 bytes a shard.
	sealedMost = 8

	// resetRun is the most slots that one goroutine takes at a time to call Reset for
	// them. Nobody else can have them meanwhile; fewer cost more locked instructions
	// a slot.
	resetRun = 16

	// aheadBytes is how much memory a shard takes although others have slots.
	aheadBytes = 32 << 10

	// backShare is how many pages have memory for each that comes back to a pool that
	// was trimmed, when one is needed. A pool then has up to a 64th of its memory before
	// it needs it, and pays for a copy of the table once in as many pages; a page alone
	// would cost several times what it did at first, where there are thousands.
	backShare = 64

	// patience is after how many failed compare-and-swaps a goroutine moves to another
	// shard for the first time: a few of them cost less than a wrong move. A power of two.
	patience = 16

	// cellsPaid is how many pin cells a removal pays for, some 2 ns where nobody writes them.
	cellsPaid = 4
)
