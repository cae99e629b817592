// Package shard is the engine: an [Arena] owns the slots of a pool, each from vacant
// to vacant.
//
// It is documented for those who maintain or review coatcheck, and is not meant
// to be imported by users: package pool checks what this package takes for granted.
//
// An arena has several shards so that goroutines do not meet at one word. Slots
// do not belong to a shard: a slot goes where it was removed, and every shard
// serves every page. All that a shard owns is lists, and a vacant slot is in
// exactly one of them, or in nobody's hands but its owner's (I3):
//
//	          Pop                 Publish             vacate
//	freelist ─────▶ owner ───────────────▶ live ─────────────▶ owner
//	   ▲             │ ▲                                         │
//	   │ reclaim     │ └── fresh: never used                     │ retire
//	   │             ▼ Abandon                                   ▼
//	 sealed ◀─────────────────────────── limbo ◀─────────────────┘
//	           seal: all at once, with a tag
//
// The files, bottom up:
//
//	word.go      the slot's word: generation, index or link
//	pages.go     slots and Publish, the pages that they lie in, the table of pages
//	absent.go    pages without memory, and how they come back
//	arena.go     what all shards of a pool share
//	chain.go     a list of slots in one goroutine's hands
//	shard.go     the shard's words
//	freelist.go  what a stack and a queue do alike
//	stack.go     the freelist, LIFO: a stack that is popped without ABA
//	queue.go     the freelist, FIFO: a queue of the same words, and the reserve
//	fresh.go     slots that were never used
//	claim.go     where an insertion looks for a slot, and when it is refused
//	affinity.go  which shard a goroutine uses, and which one gets what is reclaimed
//	limbo.go     the end of a life: slots that were removed
//	batch.go     a part of limbo that was sealed, and who owns it
//	reclaim.go   the way from limbo back to the freelist
//	reset.go     the same where user code cleans
//	hold.go      slots that are kept from reuse one by one
//	magazine.go  slots that one goroutine keeps for itself
//	bag.go       what it has removed
//	trim.go      which pages can go, and how their slots are got hold of
//	taken.go     how what stays goes back
//	quiesce.go   when everything is reclaimed that was removed before
//	count.go     how many slots are where
//	snapshot.go  what a snapshot reads of slots, and slots built from one
//
// The freelist is Treiber's stack (1986); the queue's shape is Michael's and
// Scott's (1996), with one appender at a time. What is ours is that the slot's
// generation serves as the stack's tag, so that no counter needs an argument
// about its width.
package shard
