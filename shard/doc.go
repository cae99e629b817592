// Package shard is the engine: an [Arena] owns the slots of a pool, each from vacant to
// vacant. It is documented for maintainers and reviewers. Users must not import it: package
// pool checks what this package takes for granted.
//
// An arena has several shards, so that goroutines seldom contend for a word. A slot belongs to
// no shard: it goes where it was removed, and every shard serves every page. A shard
// owns only lists. A vacant slot is in exactly one of them, or owned by one goroutine (I3):
//
//	          pop                 Publish             unlink
//	freelist ─────▶ owner ───────────────▶ live ─────────────▶ owner
//	   ▲             │ ▲                                         │
//	   │ deliver     │ └── fresh: never used                     │ retire
//	   │             ▼ Abandon                                   ▼
//	backlog ◀─────────────────────────── limbo ◀─────────────────┘
//	             seal: all at once
//
// Popping, publishing and removing take no lock. Code that fills a freelist or a fresh
// range must hold a shard's lock (I9), and runs no user code meanwhile. So the holder of all
// locks sees lists that only shrink, and knows when a pool is full.
//
// The files, bottom up:
//
//	word.go          the slot's word: generation, index or link
//	slot.go          a slot of T, and what the engine knows of T: its layout
//	page_table.go    the pages that slots lie in, and the table of pages
//	page_size.go     how pages grow
//	page_meta.go     what belongs to a page and lies apart from its slots
//	entries.go       the addresses of units, which the garbage collector does not follow
//	slot_state.go    what the table knows of single slots
//	decommit.go      pages without memory, and how they come back
//	arena.go         what all shards of a pool share
//	lives.go         slots that have used up their generations
//	shard.go         a shard: its words, its lock, its lists
//	affinity.go      which shard a goroutine uses, and which one gets reclaimed slots
//
//	stack.go         the freelist: a stack that is popped without ABA
//	run.go           a range of slots that were never used
//	claim.go         where an insertion looks for a slot
//	refuse.go        the last look, under all locks, and the reasons to refuse
//	waiters.go       insertions that wait for a slot
//
//	limbo.go         the end of a life: removed slots, and their stamps
//	backlog.go       removed slots that wait for their grace period, in the order of their stamps
//	timeline.go      a list in the order of stamps
//	reclaim.go       the way from limbo and the backlog to the freelist
//	clean.go         what is done to a slot on that way
//	reset.go         the same if Reset cleans slots
//	expired.go       how the values of idle pools are zeroed
//	synchronize.go   how to wait for the end of that way
//	hold.go          slots that are kept from reuse one by one
//	chain.go         lists of slots in one goroutine's hands
//
//	magazine.go      vacant slots that one goroutine has for itself
//	magazine_bag.go  the slots that it has removed
//	magazines.go     all magazines that are open
//	trim.go          which pages can go, and how Trim takes their slots from the lists
//	stats.go         how many slots are where, and what memory they take
//	snapshot.go      what a snapshot reads, and how a pool is built from one
//	skip.go          lives that slots of a restored pool skip
//	order.go         the order of reuse, for snapshots of replays; order_restore.go puts it back
//	sizes.go         the sizes that are smaller in builds that explore schedules
//
// The freelist is Treiber's stack (1986). What is new is that the slot's generation is its tag,
// so that no argument about a counter's width is needed, and that a stack serves as a queue.
package shard
