// Package shard is the engine: an [Arena] owns the slots of a pool, each from vacant to
// vacant. It is documented for maintainers and reviewers. Users must not import it: package
// pool checks what this package takes for granted.
//
// An arena has several shards, so that goroutines seldom contend for a word. A slot belongs to
// no shard: it goes where it was removed, and every shard serves every page. All that a shard
// owns is lists. A vacant slot is in exactly one of them, or owned by one goroutine (I3):
//
//	          Pop                 Publish             unlink
//	freelist ─────▶ owner ───────────────▶ live ─────────────▶ owner
//	   ▲             │ ▲                                         │
//	   │ deliver     │ └── fresh: never used                     │ retire
//	   │             ▼ Abandon                                   ▼
//	waiting ◀─────────────────────────── limbo ◀─────────────────┘
//	             seal: all at once, with an epoch stamp
//
// Popping, publishing and removing take no lock. What fills a freelist or a range of fresh
// slots holds the lock of a shard (I9), and runs no user code meanwhile. So the holder of all
// locks sees lists that only shrink, and knows when a pool is full.
//
// The files, bottom up:
//
//	word.go      the slot's word: generation, index or link
//	pages.go     slots and Publish, the pages that they lie in, the table of pages
//	absent.go    pages without memory, and how they come back
//	arena.go     what all shards of a pool share
//	shard.go     the shard's words, its lock, and its range of slots that were never used
//	chain.go     lists of slots in one goroutine's hands
//	freelist.go  the freelist: a stack that is popped without ABA
//	claim.go     where an insertion looks for a slot, and when it is refused
//	refusals.go  the text of ErrStalled, the limit of what waits, and counts of refusals
//	affinity.go  which shard a goroutine uses, and which one gets reclaimed slots
//	limbo.go     the end of a life: removed slots, and their stamps
//	chunk.go     a sealed part of limbo, which waits for its grace period
//	reclaim.go   the way from limbo back to the freelist
//	deliver.go   what is done to a slot on that way
//	reset.go     the same if Reset cleans slots
//	wait.go      how to wait for the end of that way, or for a slot, and how an idle pool lets go
//	hold.go      slots that are kept from reuse one by one
//	magazine.go  vacant slots that one goroutine has for itself
//	bag.go       the slots that it has removed
//	trim.go      which pages can go
//	taken.go     how Trim takes their slots from the lists, and gives others back
//	count.go     how many slots are where, and what memory they take
//	snapshot.go  what a snapshot reads, and how a pool is built from one
//	sizes.go     the sizes that are smaller in builds that explore schedules
//
// The freelist is Treiber's stack (1986). What is new is that the slot's generation is its tag,
// so that no argument about a counter's width is needed, and that a stack serves as a queue.
package shard
