// Faults, and what is stated to come of each. Tests without a package are this
// package's; TestFaultTableNamesTests sees to it that every test below exists.
//
//	fault                              stated result                             tests
//	─────                              ─────────────                             ─────
//	a reader stalls                    limbo is bounded, then Insert says        TestStalledReaderIsBoundedAndNamed
//	                                   ErrStalled; Stats tells how old the       TestStallRecovers, TestForgottenGuardStopsGrowth
//	                                   pin is; when it goes, every slot comes    TestDefaultMaxLimboStopsGrowth, TestStatsShowAForgottenGuard
//	                                   back                                      TestStallRecoversPastExhaustedSlots, coatcheck.TestStormRecoversFromStalls
//	a constructor stalls               it holds its own slot and nothing else    TestStalledConstructorHoldsItsSlotAlone
//	a Reset stalls                     its shard's limbo waits; nobody blocks    TestStalledResetBlocksNobody
//	panic or Goexit in View, Each,     the pin is back at once, and goes on      TestPanicInLoopGivesThePinBack, TestEachLetsPanicsUp
//	DeleteFunc, Drain                  up with its value; what was removed       TestLeavingMidwayKeepsWhatWasRemoved
//	                                   stays removed, no slot is lost
//	panic or Goexit in a range         the pin is back with the next             TestPanicInLoopGivesThePinBack, TestGOGC1
//	over All                           collection
//	panic or Goexit in InsertFunc      the slot is back, its handle never        TestInitThatFailsLosesNoSlot, TestInitMayInsert
//	                                   lives                                     TestFailingInitsOnManyGoroutines
//	panic or Goexit in Reset           the slot is zeroed and free; the panic    TestResetMayPanicOrExit, coatcheck.TestStormResetPanics
//	                                   reaches whoever reclaimed                 shard.TestResetThatFailsLosesNoSlot
//	capacity exhausted                 exactly Capacity values, then ErrFull     TestCapacityIsExact, TestBatchFillsToCapacity
//	generations exhausted              slots × incarnations handles, none        TestPoolIssuesExactlySlotsTimesIncarnations
//	                                   twice, then ErrExhausted                  TestFIFOIssuesAtLeastCapacityTimesIncarnations, TestBurnedGenerationsCount
//	                                                                             TestEveryVerbRetiresExhaustedSlots, TestExhaustedSlotsAreReplaced
//	                                                                             coatcheck.TestStormUsesUpGenerations, TestEveryHandleOfATinyLayout
//	double remove                      false, and nothing is touched             TestStaleHandleNeverRevives
//	double remove, racing              one remover of each value succeeds        TestRemoveSucceedsOnce, TestRemoversOfEveryKindSucceedOnce
//	                                                                             shard.TestStormRemovesOnce, TestEachValueIsDrainedOnce
//	double unpin                       panics                                    TestGuardMisusePanics, epoch.TestUnpinOfWhatIsNotPinnedPanics
//	use of a guard after unpin         panics                                    TestGuardMisusePanics
//	a copied guard                     an Unpin ends the pin, later ones         TestCopysSecondUnpinPanics, TestRacingUnpinsOfCopiesEndOnePin
//	                                   others panic and end nobody else's        epoch.TestCopyEndsNobodyElsesPin
//	more guards than cells             they get more cells, and hold what        TestManyGuards, TestPinNeverWaits, TestPreallocatedPoolNeverAllocates
//	                                   they see                                  epoch.TestBriefPinsFindCells, epoch.TestStormAppendsBlocks
//	the epoch reaches its limit        it stands; what is retired from then on   TestEpochAtItsLimitReusesNothingUnderAGuard, epoch.TestEpochStopsAtItsLimit
//	                                   is reused while no guard is pinned
//	a forged handle                    false; no panic, allocation, waiting,     TestForgedHandleIsRefused, TestForgedHandleIsRefusedByEveryVerb
//	                                   write or hit                              TestBitFlipsOfLiveHandlesMiss, TestRandomHandlesMiss
//	                                                                             TestForgedHandlesAllocateNothing, TestEveryHandleOfATinyLayout
//	                                                                             TestEveryGenerationOfASlot, FuzzRawHandles
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
package pool_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/epoch"
	"coatcheck/pool"
)

// A loop that removes and is left by a panic or Goexit in the middle has removed
// what it removed, chains that were not yet retired among it, and nothing else.
func TestLeavingMidwayKeepsWhatWasRemoved(t *testing.T) {
	const capacity = 200
	for _, reuse := range reuses {
		for _, exit := range []bool{false, true} {
			for _, after := range []int{1, 64, 65, capacity} {
				for _, way := range []string{"DeleteFunc", "Drain", "All", "Each"} {
					p := tiny(t, &pool.Options[int]{Capacity: capacity, Shards: 2, Reuse: reuse})
					hs := fill(t, p, capacity, number)
					gone := map[pool.Handle[int]]bool{}
					leave := func() {
						if exit {
							runtime.Goexit()
						}
						panic(after)
					}
					var err error
					v := apart(func() {
						switch way {
						case "DeleteFunc":
							n := 0
							p.DeleteFunc(func(h pool.Handle[int], _ *int) bool {
								if n++; n == after {
									leave()
								}
								gone[h] = true
								return true
							})
						case "Drain":
							for h := range p.Drain() {
								if gone[h] = true; len(gone) == after {
									leave()
								}
							}
						case "All":
							for h := range p.All() {
								if gone[h] = p.Remove(h); len(gone) == after {
									leave()
								}
							}
						case "Each":
							err = p.Each(context.Background(), 1, func(h pool.Handle[int], _ *int) error {
								if gone[h] = p.Remove(h); len(gone) == after {
									leave()
								}
								return nil
							})
						}
					})
					what := fmt.Sprintf("%s left after %d", way, after)
					if exit {
						require.Nil(t, v, what)
						require.Equal(t, way == "Each", err != nil, "%s: %v", what, err)
					} else {
						require.Equal(t, after, v, what)
					}
					for _, h := range hs {
						require.Equal(t, !gone[h], p.Contains(h), what)
					}
					require.Equal(t, capacity-len(gone), p.Len(), what)
					if way == "All" {
						eventually(t, func() bool { return p.Stats().Pinned == 0 }, "the pin of a loop that was left")
					}
					require.Equal(t, capacity-len(gone), requireReclaimed(t, p).Live, what)
					fill(t, p, len(gone), number)
				}
			}
		}
	}
}

// Removers of every kind meet at the same values: one of them gets each.
func TestRemoversOfEveryKindSucceedOnce(t *testing.T) {
	const values = 96
	for _, reuse := range reuses {
		p := tiny(t, &pool.Options[int]{Shards: 2, Reuse: reuse})
		var won atomic.Int64
		count := func(ok bool) {
			if ok {
				won.Inc()
			}
		}
		for range long(200) {
			hs := fill(t, p, values, number)
			won.Store(0)
			var wg sync.WaitGroup
			for _, remove := range []func(){
				func() { each(hs, func(h pool.Handle[int]) { count(p.Remove(h)) }) },
				func() { each(hs, func(h pool.Handle[int]) { count(p.Ptr(h).Remove()) }) },
				func() { each(hs, func(h pool.Handle[int]) { _, ok := p.Take(h); count(ok) }) },
				func() { won.Add(int64(p.RemoveBatch(hs))) },
				func() { won.Add(int64(p.RemoveBatch(append(hs[values/2:values:values], hs...)))) },
				func() { won.Add(int64(p.DeleteFunc(func(pool.Handle[int], *int) bool { return true }))) },
				func() { won.Add(int64(p.Clear())) },
				func() {
					for range p.Drain() {
						won.Inc()
					}
				},
				func() {
					w := p.Worker()
					defer w.Close()
					each(hs, func(h pool.Handle[int]) { count(w.Remove(h)); _, ok := w.Take(h); count(ok) })
				},
			} {
				wg.Add(1)
				go func() { defer wg.Done(); remove() }()
			}
			wg.Wait()
			require.EqualValues(t, values, won.Load())
			require.Zero(t, p.Len())
			for _, h := range hs {
				require.False(t, p.Remove(h))
			}
		}
		st := requireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free)
	}
}

// Copies of one guard are unpinned at once. An Unpin that comes after another panics;
// those that come at one moment may both pass (DESIGN.md, Stores). The pin ends once, and
// no pin of later ends with it.
func TestRacingUnpinsOfCopiesEndOnePin(t *testing.T) {
	const copies = 4
	p := pool.Must[int](nil)
	for range long(2000) {
		g := p.Pin()
		var ended atomic.Int64
		var racing, all sync.WaitGroup
		racing.Add(copies)
		all.Add(copies)
		for range copies {
			var c pool.Guard[int]
			copyGuard(&c, &g)
			go func() {
				defer all.Done()
				v := recovered(c.Unpin)
				if v == nil {
					ended.Inc()
				} else if text, _ := v.(string); !strings.HasPrefix(text, "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)") {
					t.Errorf("panic %v", v)
				}
				racing.Done()
				racing.Wait() // a pin that begins while copies race may be ended by one
				other := p.Pin()
				runtime.Gosched()
				if v := recovered(other.Unpin); v != nil {
					t.Errorf("a copy ended another's pin: %v", v)
				}
			}()
		}
		all.Wait()
		require.Positive(t, ended.Load())
		require.NotNil(t, recovered(g.Unpin), "the guard itself comes last")
		require.Zero(t, p.Stats().Pinned)
	}
}

// At the last epoch a guard delays everything that is removed, for the epoch cannot
// tell any more what was removed before it was pinned. While none is pinned, all is
// as ever.
func TestEpochAtItsLimitReusesNothingUnderAGuard(t *testing.T) {
	for _, o := range []pool.Options[int]{
		{Capacity: 150, Shards: 2}, {Capacity: 150, Shards: 2, Reuse: pool.FIFO, MinFree: 4},
		{MaxLimbo: 200, Shards: 2}, {MaxLimbo: 200, Shards: 2, Reuse: pool.FIFO, MinFree: 4},
	} {
		for _, worker := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v capacity %d Worker %v", o.Reuse, o.Capacity, worker), func(t *testing.T) {
				p := tiny(t, &o)
				insert, remove := p.Insert, p.Remove
				if worker {
					w := p.Worker()
					defer w.Close()
					insert, remove = w.Insert, w.Remove
				}
				live := fill(t, p, 8, number)
				pool.SetEpoch(p, epoch.Limit)
				issued := map[pool.Handle[int]]bool{}
				again := func() {
					h, err := insert(1)
					require.NoError(t, err)
					require.False(t, issued[h], "%v was issued twice", h)
					issued[h] = true
					require.True(t, remove(h))
				}
				for range 1000 {
					again()
				}
				g := p.Pin()
				seen := map[uint32]bool{}
				for {
					h, err := insert(1)
					if err != nil {
						require.ErrorIs(t, err, pool.ErrStalled)
						break
					}
					require.False(t, seen[h.Index()], "%v: its slot was removed under the guard", h)
					seen[h.Index()] = true
					require.True(t, remove(h))
				}
				require.Greater(t, len(seen), 32)
				st := requireConserved(t, p)
				require.EqualValues(t, uint64(epoch.Limit), st.Epoch)
				require.Zero(t, st.OldestPin)
				for i, h := range live {
					v, ok := g.Get(h)
					require.True(t, ok)
					require.Equal(t, i+1, *v)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded)
				g.Unpin()
				require.Panics(t, g.Unpin)

				for range 1000 {
					again()
				}
				require.Equal(t, 8, p.Clear())
				require.NoError(t, p.Synchronize(t.Context()))
				require.EqualValues(t, uint64(epoch.Limit), p.Stats().Epoch)
			})
		}
	}
}
