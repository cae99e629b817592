// Package shard is the engine: an [Arena] owns the slots of a pool, each from vacant to
// vacant. It is documented for maintainers and reviewers. Users must not import it: package
// pool checks what this package takes for granted.
//
// An arena has several shards, so that goroutines seldom contend for a word. A slot belongs to
// no shard: it goes where it was removed, and every shard serves every page. All that a shard
// owns is lists. A vacant slot is in exactly one of them, or owned by one goroutine (I3):
//
//	          Pop                 Publish             vacate
//	freelist ─────▶ owner ───────────────▶ live ─────────────▶ owner
//	   ▲             │ ▲                                         │
//	   │ reclaim     │ └── fresh: never used                     │ retire
//	   │             ▼ Abandon                                   ▼
//	 sealed ◀─────────────────────────── limbo ◀─────────────────┘
//	           seal: all at once, with an epoch stamp
//
// The files, bottom up:
//
//	word.go      the slot's word: generation, index or link
//	pages.go     slots and Publish, the pages that they lie in, the table of pages
//	absent.go    pages without memory, and how they come back
//	arena.go     what all shards of a pool share
//	shard.go     the shard's words, and its range of slots that were never used
//	freelist.go  what a stack and a queue have in common, and chains: what goes into them
//	stack.go     the freelist, LIFO: a stack that is popped without ABA
//	queue.go     the freelist, FIFO: a queue of the same words, and the reserve
//	claim.go     where an insertion looks for a slot, and when it is refused
//	affinity.go  which shard a goroutine uses, and which one gets reclaimed slots
//	limbo.go     the end of a life: removed slots
//	batch.go     a sealed part of limbo, and its owner
//	reclaim.go   the way from limbo back to the freelist, and how to wait for its end
//	reset.go     the same if Reset cleans slots
//	hold.go      slots that are kept from reuse one by one
//	magazine.go  vacant slots that one goroutine has for itself
//	bag.go       the slots that it has removed
//	trim.go      which pages can go
//	taken.go     how Trim takes their slots from the lists, and gives others back
//	count.go     how many slots are where
//	snapshot.go  what a snapshot reads, and how a pool is built from one
//
// The freelist is Treiber's stack (1986). The queue is Michael's and Scott's (1996), with one
// appender at a time. What is new is that the slot's generation is the stack's tag, so that no
// argument about a counter's width is needed.
package shard
