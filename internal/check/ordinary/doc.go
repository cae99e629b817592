// Package ordinary has the tests of pool's exported API that need neither schedules nor storms.
// The files' names say what they are about:
//
//   - what users and machines do wrong: construct, exhaust, faults, forged, full, growth,
//     misuse, options, stall, and what Explain says of it (explain);
//   - what memory a pool takes, and in which order it uses its slots again: alloc, collect,
//     memory, order, reset, stats, trim;
//   - what several goroutines hold of one pool at a time: guard, hold, iterate, loop, reach,
//     sync, worker.
//
// Operations one after the other are for the model test of package pool, and single values
// that many goroutines insert and remove are for the storms. Both draw them from a table.
//
// Each fault has a stated result. Tests without a package are this package's, or pool's;
// TestFaultTableNamesTests requires that every test below exists.
//
//	fault                              stated result                             tests
//	─────                              ─────────────                             ─────
//	a reader stalls                    limbo is bounded, then Insert says        TestStalledReaderIsBoundedAndNamed
//	                                   ErrStalled; Stats tells how old the       TestStallRecovers, TestForgottenGuardStopsGrowth
//	                                   pin is; when it goes, every slot comes    TestDefaultMaxLimboStopsGrowth, TestStatsShowAForgottenGuard
//	                                   back                                      coatcheck.TestStormRecoversFromStalls
//	a constructor stalls               it holds its own slot and nothing else    TestStalledConstructorHoldsItsSlotAlone
//	a Reset stalls                     its shard's limbo waits, and no call      TestStalledResetBlocksNoCall
//	                                   blocks
//	panic or Goexit in View, Each,     the pin is back at once; the panic        TestPanicInLoopGivesThePinBack, TestEachLetsPanicsUp
//	DeleteFunc, Drain                  continues with its value. Removed is      TestLeavingMidwayKeepsWhatWasRemoved
//	                                   what was removed then; no slot is lost
//	panic or Goexit in a range         the pin is back with the next             TestPanicInLoopGivesThePinBack, coatcheck.TestTorture
//	over All                           collection
//	panic or Goexit in InsertFunc      the slot is back, its handle never        TestInitThatFailsLosesNoSlot, TestInitMayInsert
//	                                   lives                                     coatcheck.TestStormOwnsOnce
//	panic or Goexit in Reset           the slot is zeroed and free; the panic    TestResetMayPanicOrExit, shard.TestStormOwnsOnce
//	                                   reaches the goroutine that reclaimed      shard.TestResetThatFailsLosesNoSlot
//	capacity exhausted                 exactly Capacity values, then ErrFull     TestCapacityIsExact
//	generations exhausted              slots × incarnations handles, none        TestPoolIssuesExactlySlotsTimesIncarnations
//	                                   twice, then ErrExhausted                  TestExhaustedSlotsAreReplaced
//	                                                                             coatcheck.TestStormUsesUpGenerations, TestEveryHandleOfATinyLayout
//	double remove                      false, and nothing is touched             TestOperationsMatchModel
//	double remove, racing              one remover of each value succeeds        coatcheck.TestStormSweeps, coatcheck.TestStormOwnsOnce
//	double unpin                       panics                                    TestGuardMisusePanics, epoch.TestUnpinPanicsIfNotPinned
//	use of a guard after unpin         panics                                    TestGuardMisusePanics
//	a copied guard                     an Unpin ends the pin, later ones         TestCopysSecondUnpinPanics, TestRacingUnpinsOfCopiesEndOnePin
//	                                   others panic and end no other guard's     epoch.TestCopyEndsNoOtherPin
//	more guards than cells             they get more cells, and hold what        TestManyGuards, TestPreallocatedPoolNeverAllocates
//	                                   they see                                  epoch.TestBriefPinsFindCells, epoch.TestStormAppendsBlocks
//	the epoch reaches its limit        it stands; what is retired from then on   TestEpochAtItsLimitReusesNothingUnderAGuard, epoch.TestEpochStopsAtItsLimit
//	                                   is reused while no guard is pinned
//	a forged handle                    false; no panic, allocation, waiting,     TestBitFlipsOfLiveHandlesMiss, FuzzRawHandles
//	                                   write or hit                              TestZeroHandleIsRefused, TestForeignHandleIsRefused
//	                                                                             TestForgedHandlesAllocateNothing, TestEveryHandleOfATinyLayout
//	no memory to grow by               the panic comes up; nothing is lost or    TestGrowthThatFailsLosesNothing
//	                                   locked, and growth may be tried again     TestPreallocateBeyondAllAddressesIsRefused
//	user code panics while growing     the same                                  TestInitMayInsert, TestResetThatPanicsBeforeGrowthLosesNothing
//
// What is not noticed: a Get through a copy of a guard whose other copy was
// unpinned, and a copy's second Unpin after exactly a multiple of 32,768 pins of
// the same cell within one epoch.
//
// What cannot be tested in Go: memory that runs out ends the program, and no
// deferred function runs; a request for more than there are addresses is the one
// failure that panics, so that is what the tests provoke. An append of pin cells
// asks for kilobytes and cannot fail in that way.
package ordinary
