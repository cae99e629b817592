// Package costs counts the engine's steps in drawn programs, and compares each call and their sum with
// bounds. It looks at no clock. Its tests need the build tag coatcheck_costs.
//
// DESIGN.md says under Costs who pays for a scan. Let C be how many cells a scan visits: those of the rows, and
// up to 16 for each pinned guard beyond them, with their marks. The engine is made so that each call visits at
// most
//
//	                         cells                        slots, and batches that pass
//	a removal                none                         none
//	a Worker's               3C                           what its bag has
//	insertions, over many    8 each, a Worker's 24;       4 each
//	                         a search 64, twice at most;
//	                         256 in a shard are free
//	one insertion            3C in each shard             256 in each shard, or C if that is more
//	a refusal, or a page     C                            those of batches within which a guard stands,
//	while 128 slots a                                     mostly up to 256 for each; then what has
//	shard wait                                            passed, 256 at a time
//
// With a Reset, up to 16 Resets for each shard come on top, or a 64th of a Capacity, and each visits its slot
// twice. A join visits up to 64 slots; where a fixed list is full, all that wait. Synchronize, Trim and the
// collector's cycle visit all that has passed.
//
// The tests allow a little more, since they see C only before and after the calls: twice what Stats visits and
// 64, and four such scans where the table has 3C.
package costs
