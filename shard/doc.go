// Package shard is the engine: an [Arena] owns the slots of a pool, each from vacant to
// vacant. It is documented for maintainers and reviewers. Users must not import it: package
// pool checks what this package takes for granted.
//
// An arena has several shards, so that goroutines seldom contend for a word. A slot belongs to
// no shard: it goes where it was removed, and every shard serves every page. A shard
// owns only lists. A vacant slot is in exactly one of them, or owned by one goroutine (I3). DESIGN.md
// has a picture of its way through them.
//
// Popping, publishing and removing take no lock. Code that fills a freelist or a fresh
// range must hold a shard's lock (I9), and runs no user code meanwhile.
//
// Package slots has the memory of slots, and the lists in which they wait for each other. The files here:
//
//	shard.go           what all shards of a pool share; a shard: its words, its lock, its lists
//	affinity.go        which shard a goroutine uses, and which one gets reclaimed slots
//
// The way of a removed slot, from file to file:
//
//	remove.go          a removal: it ends a life, and pushes the slot onto limbo
//	backlog.go         removed slots that wait for their grace period, in the order of their stamps
//	batches.go         which of them wait together, and for which Synchronize
//	reclaim.go         a round: it takes what has passed out of the backlog, and gives it to freelists
//	recycle.go         between two lives: held, exhausted, zeroed or Reset
//	ready.go           what has passed and waits for an empty freelist
//	insert.go          an insertion: where it looks for a slot
//	refuse.go          its last look, under all locks, and the reasons to refuse
//
// What else happens on that way:
//
//	events.go          what is called at the beginning and at the end of a life
//	hold.go            slots that are kept from reuse one by one
//	skips.go           lives that slots of a restored pool skip when they are removed
//	waiters.go         insertions that wait for a slot
//	synchronize.go     how to wait for the end of that way
//	collector.go       what the garbage collector's cycle reclaims, so that idle pools let values go
//
//	magazine.go        vacant slots that one goroutine has for itself
//	magazine_bag.go    the slots that it has removed
//	magazines.go       how magazines begin and end, and what an arena knows of them
//
//	trim.go            which pages can go, and how Trim takes their slots from the lists
//	trim_give_back.go  the order in which the other slots go back
//	inserted.go        what Stats tells of insertions: lives that did not begin are counted
//	counts.go          how many slots are where, and what memory they take
//	snapshot.go        how an arena is built from a snapshot
//	replay_order.go    the order of reuse, which the snapshots of replays have
//	replay_restore.go  how a copy gets it
//	debug_on.go        what the tag coatcheck_debug adds: slots that are reclaimed at once, and kept from reuse
//	room.go            what has room from the start, and limits
//	sizes.go           the sizes that are smaller in builds that explore schedules (interleave.go)
package shard
