//go:build !interleave

package shard

// Batch is how many slots are gathered for one seal. One seal costs three locked
// instructions and a scan of the pin cells, 20 to 50 ns on a small machine, so
// that a batch of 64 makes it less than 1 ns a slot. A larger batch holds back
// more memory: up to Batch slots a shard wait although nobody looks at them.
const Batch = 64

// backShare is how many pages have memory for each that comes back to a pool that
// was trimmed, when one is needed. A pool then has up to a 64th of its memory before
// it needs it, and pays for a copy of the table once in as many pages; a page alone
// would cost several times what it did at first, where there are thousands.
const backShare = 64
