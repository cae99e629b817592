// Package slots has the memory of a pool's slots, and the lists that link them through their words.
// It knows nothing of shards, guards or epochs: package shard decides who owns a slot, and when it may be
// used again. As that, it is for maintainers and reviewers, and users must not import it.
//
// A [Table] has the pages. A slot is known by its index, or as a [Hook], which has its word. Types that
// goroutines share say so: [Stack], [Limbo] and [Range] have one word each. A [Chain] and a [StampList] belong
// to one goroutine.
//
// The files, bottom up:
//
//	slot.go        a slot: its word, its value of T, and what the engine knows of T
//	origins.go    with which generation each slot begins, and stages, which tell how far it has come
//	page_table.go  where a slot lies: the addresses of units, which the garbage collector does not follow
//	page_meta.go   what belongs to a page and lies apart from its slots: homes, stamps, counts of Refs
//	page_skips.go  what slots of a restored page have yet to skip
//	page_size.go   how pages grow
//	table.go       the owner of the pages, which hands out slots that were never used
//	generations.go what is read of all slots: how many are live, and in which life
//	lives.go       how many lives slots have had, told from their generations
//	decommit.go    pages without memory, and how they come back
//	restore.go     the table of an arena that is built from a snapshot
//
//	freelist.go    vacant slots, which goroutines share
//	limbo.go       removed slots, which goroutines share
//	fresh.go       ranges of slots that were never used, which goroutines share
//	chain.go       a list of slots in one goroutine's hands
//	held.go        which slots of a list or a bag are held, or have no other life
//	stamp_list.go  a list in the order of stamps
//	sizes.go       the sizes that are smaller in builds that explore schedules (interleave.go)
//	debug_on.go    what the tag coatcheck_debug adds: marks of vacant values, by which a write to one is found
package slots
