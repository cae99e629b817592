// Package shard keeps the vacant slots of one independent part of a pool.
//
// It is documented for those who maintain or review coatcheck, and is not meant
// to be imported by users: package pool is the door, and checks what this
// package takes for granted.
//
// A pool has several shards so that goroutines do not meet at one word. Slots
// do not belong to a shard: a slot goes where it was removed, and every shard
// serves every page. All that a shard owns is lists, and a vacant slot is in
// exactly one of them, or in nobody's hands but its owner's (I3):
//
//	          Pop                publish              unlink
//	freelist ─────▶ owner ───────────────▶ live ─────────────▶ owner
//	   ▲             │ ▲                                         │
//	   │ Reclaim     │ └── Fresh: never used                     │ Retire
//	   │             ▼ Burn                                      ▼
//	 sealed ◀─────────────────────────── limbo ◀─────────────────┘
//	           seal: all at once, with a tag
//
// The files, bottom up:
//
//	word.go      the slot's word: generation, index or link
//	pages.go     slots, the pages that they lie in, the table of pages
//	space.go     what all shards of a pool share
//	shard.go     the shard's words
//	freelist.go  LIFO: a stack that is popped without ABA
//	queue.go     FIFO: a queue of the same words
//	fresh.go     slots that were never used
//	limbo.go     slots that were removed; chains of them
//	reclaim.go   the way from limbo back to the freelist
//	holders.go   slots that are kept from reuse one by one
//	absent.go    pages without memory, and how they come back
//	trim.go      which pages can go, and how their slots are got hold of
//	trim_queue.go  the same under FIFO
//	restore.go   what a snapshot reads of slots, and slots built from one
//
// The freelist is Treiber's stack (1986); the queue's shape is Michael's and
// Scott's (1996), with one appender at a time. What is ours is that the slot's
// generation serves as the stack's tag, so that no counter needs an argument
// about its width.
package shard
