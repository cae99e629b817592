package shard_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestReadyChainsWaitForAnEmptyList: a chain that needs no visit is spliced when the freelist
// is empty, and is ready before. Short chains are visited, and so are those beyond a bound, which join the last.
func TestReadyChainsWaitForAnEmptyList(t *testing.T) {
	if shard.VisitsAll {
		return // no chain is ready
	}
	const n = shard.SpliceLeast
	r := newRig[uint64](t, setup[uint64]{slots: (shard.ReadyMost + 4) * n})
	s := r.shards[0]
	hs := r.fill(t, s, (shard.ReadyMost+4)*n, number)
	some := func(n int) []uint64 { // removes them, and says what is handed out first
		next := hs[:n]
		hs = hs[n:]
		c := s.Removals()
		for _, h := range next {
			require.True(t, c.Remove(h), "the value should be live")
		}
		c.End() // so that one seal takes all
		s.Reclaim(s)
		next = slices.Clone(next)
		slices.Reverse(next)
		return next
	}
	first := some(n)
	require.Zero(t, s.Ready(), "the freelist was empty")
	short := some(n - 1)
	require.Zero(t, s.Ready(), "pushed on top")
	var chains [][]uint64
	for k := range shard.ReadyMost {
		chains = append(chains, some(n))
		require.Equal(t, (k+1)*n, s.Ready())
	}
	chains[len(chains)-1] = append(some(n), chains[len(chains)-1]...)
	require.Equal(t, (shard.ReadyMost+1)*n, s.Ready())
	require.Equal(t, (shard.ReadyMost+3)*n-1, s.Free())
	slices.Reverse(chains) // a stack gets what was removed last
	for _, want := range append([][]uint64{slices.Concat(short, first)}, chains...) {
		require.Equal(t, lows(want), drain(s))
		s.Reclaim(s)
	}
	require.Zero(t, s.Free())
}

// TestReadySlotsComeBeforeSeals: an insertion that gets what is ready seals nothing and visits nothing, whether that is a part
// of a chain or a whole one. Of a stack that is so where few slots wait.
func TestReadySlotsComeBeforeSeals(t *testing.T) {
	if shard.VisitsAll {
		return // no chain is ready
	}
	reset := func(*uint64) {}
	for _, n := range []int{shard.SpliceMost, shard.SpliceMost + 1} {
		for _, set := range []setup[uint64]{{}, {fifo: true}, {reset: reset}} {
			waiting := slots.Batch
			if !set.fifo && set.reset == nil {
				waiting--
			}
			set.slots = 2*n + waiting
			r := newRig(t, set)
			s := r.shards[0]
			hs := r.fill(t, s, set.slots, number)
			require.Empty(t, drain(s)) // and so a queue goes on with used slots
			for range 2 {
				s.Lock() // so that one seal takes all
				r.leave(t, s, hs[:n]...)
				s.Unlock()
				hs = hs[n:]
				for s.Reclaim(nil) {
				}
			}
			drain(s)
			ready, seals := s.Ready(), s.Seals()
			require.Positive(t, ready)
			r.remove(t, s, hs...)
			visits, _ := s.Round(s)
			require.Zero(t, visits)
			require.Less(t, s.Ready(), ready)
			require.Equal(t, seals, s.Seals())
		}
	}
}

// TestRoundsForNobodyTakeAllThatHasPassed: not only what the last scan spoke of, of which a round had to leave some.
func TestRoundsForNobodyTakeAllThatHasPassed(t *testing.T) {
	const n, later = shard.ReclaimMost + 100, 10
	everyKind(t, func(t *testing.T, set setup[*int]) {
		set.slots = n + later
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, n+later, pointer)
		r.leave(t, s, hs[:n]...)
		s.Seal()
		r.advance()
		s.Reclaim(s)
		r.remove(t, s, hs[n:]...)
		for s.Reclaim(nil) {
		}
		require.Zero(t, s.Pending())
	})
}

// TestFixedListsNeverGrow: with Fixed, a shard has room for all chains that may be ready, and for all batches.
func TestFixedListsNeverGrow(t *testing.T) {
	if shard.VisitsAll {
		return // no chain is ready
	}
	const n, total = shard.SpliceLeast, (shard.ReadyMost + 4) * shard.SpliceLeast
	r := newRig[uint64](t, setup[uint64]{slots: total, capacity: total, fixed: true})
	s := r.shards[0]
	hs := r.fill(t, s, total, number)
	before := s.BacklogBytes()
	for ; len(hs) > 0; hs = hs[n:] {
		r.remove(t, s, hs[:n]...)
		s.Reclaim(s)
		require.Equal(t, before, s.BacklogBytes())
	}
	require.Greater(t, s.Ready(), shard.ReadyMost*n)
}

// TestFreelistsGetPartsOfLongChains: of a chain that is longer than spliceMost a stack's freelist gets half as much, in its
// order, whichever shard's it is. What is left goes on. A freelist that has slots gets none.
func TestFreelistsGetPartsOfLongChains(t *testing.T) {
	if shard.VisitsAll {
		return // slots go through a quarantine
	}
	const most = shard.SpliceMost
	for _, long := range []int{most, most + shard.SpliceLeast, 4*most + shard.SpliceLeast} {
		n := (shard.ReadyMost-1)*shard.ReclaimMost + long // chains of a round each, until there are so many
		r := newRig(t, setup[*int]{slots: n, shards: 2, zero: true})
		s, other := r.shards[0], r.shards[1]
		r.leave(t, s, r.fill(t, s, n, pointer)...)
		for s.Reclaim(nil) {
		}
		require.Equal(t, n, s.Ready())
		want, _ := s.Order()
		for _, target := range []*shard.Shard{s, other, s, other, s, other, s, other} {
			part := long
			if long > most {
				part = most / 2
			}
			for range 2 {
				visits, _ := s.Round(target)
				require.Zero(t, visits)
				require.Equal(t, len(want)-part, s.Ready())
			}
			require.Equal(t, want[:part], drain(target))
			want = want[part:]
			if long -= part; long == 0 {
				long = shard.ReclaimMost
			}
		}
	}
}

// TestFewSlotsDoNotComeBackOneByOne: an insertion that finds no slot in its shard gets many, not
// only the one that was removed last. That one would be all there is for the next insertion.
func TestFewSlotsDoNotComeBackOneByOne(t *testing.T) {
	const n = slots.Batch
	pairs := func(r *rig[uint64], s *shard.Shard) (searches int) {
		for range 32 * n {
			if s.Head() == slots.None {
				searches++
			}
			slot, h, err := s.Claim()
			require.NoError(t, err)
			live(slot, h, 1)
			require.True(t, s.Remove(h), "the value should be live")
		}
		return searches
	}
	_ = shard.VisitsAll || t.Run("ready", func(t *testing.T) {
		r := newRig[uint64](t, setup[uint64]{slots: 8 * n, memory: 4 * n})
		s := r.shards[0]
		hs := r.fill(t, s, 2*n+1, number)
		for range 2 {
			r.remove(t, s, hs[:n]...)
			s.Reclaim(s)
			hs = hs[n:]
		}
		require.Len(t, s.PopMany(n), n)
		require.Equal(t, n, s.Ready())
		r.remove(t, s, hs[0])
		require.Less(t, pairs(r, s), 64)
	})
	t.Run("others", func(t *testing.T) {
		r := newRig[uint64](t, setup[uint64]{slots: 4 * n, shards: 2})
		r.remove(t, r.shards[0], r.fill(t, r.shards[0], 4*n, number)...)
		require.Less(t, pairs(r, r.shards[1]), 8*n)
	})
}

// TestSlotsWithMemoryComeBeforeOthersLimbo: each look at what waits elsewhere might be in vain.
func TestSlotsWithMemoryComeBeforeOthersLimbo(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 2 * slots.Batch, shards: 2})
	r.leave(t, r.shards[1], r.fill(t, r.shards[1], slots.Batch, number)...)
	_, _, err := r.shards[0].Claim()
	require.NoError(t, err)
	require.Zero(t, r.shards[1].Seals())
}

// TestReclaimIsBounded reclaims a backlog by many calls, in order, and loses no slot.
func TestReclaimIsBounded(t *testing.T) {
	const n = 16*shard.ReclaimMost + 3
	for _, set := range []setup[*int]{{}, {fifo: true}, {stampPerSlot: true}, {stampPerSlot: true, fifo: true}} {
		set.slots, set.zero = n, true
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, n, func(i int) *int { return &i })
		r.advance()
		g := r.arena.Domain.Pin()
		r.remove(t, s, hs[1:]...)
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrStalled)
		r.remove(t, s, hs[0])
		goal := s.Goal()
		g.Unpin()
		calls := 0
		for more := true; more; calls++ {
			var visits int
			visits, more = s.Round(s)
			require.LessOrEqual(t, visits, shard.ReclaimMost)
			require.Equal(t, n-s.Free(), s.Pending())
			require.Equal(t, !more, goal.Reached())
		}
		require.LessOrEqual(t, calls, 35) // of a stack, each gives an insertion half of what it may visit
		require.Equal(t, n, s.Free())
		requireFinished(t, s)
	}
}

// TestRefusedInsertionKeepsTheOrder: what has passed and was not visited yet is not overtaken by
// slots of a batch behind, of which a guard holds back a part.
func TestRefusedInsertionKeepsTheOrder(t *testing.T) {
	const n = shard.ReclaimMost + 40
	r := newRig[*int](t, setup[*int]{slots: n + 4, fifo: true, stampPerSlot: true, zero: true})
	s := r.shards[0]
	hs := r.fill(t, s, n+4, func(i int) *int { return &i })
	r.leave(t, s, hs[:n]...)
	s.Goal()
	r.leave(t, s, hs[n:n+2]...)
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	r.leave(t, s, hs[n+2:]...)
	var got []uint32
	for h, err := r.arena.Decide(s, r.arena.Decisions()); err == nil; h, err = r.arena.Decide(s, r.arena.Decisions()) {
		if h != 0 {
			got = append(got, slots.Low(h))
		}
	}
	require.Equal(t, lows(hs[:n+2]), got)
}

// TestSlotsThatComeLateKeepTheirPlace: slots that come late, behind one that waits for a guard,
// because a Worker had them in its bag or a Ref held them, keep their stamps, and pass before it.
func TestSlotsThatComeLateKeepTheirPlace(t *testing.T) {
	for _, byRef := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 64, stampPerSlot: true})
		s := r.shards[0]
		hs := r.fill(t, s, 64, number)
		parked, _ := r.arena.Hold(hs[4])
		r.remove(t, s, hs[4])
		s.Reclaim(nil)
		// Three that were removed before the first come behind it.
		m := r.arena.NewMagazine()
		var held []shard.Hold
		for _, h := range hs[1:4] {
			if !byRef {
				require.True(t, m.Remove(h), "the value should be live")
				continue
			}
			k, _ := r.arena.Hold(h)
			held = append(held, k)
			r.remove(t, s, h)
			s.Reclaim(nil)
		}
		young := r.arena.Domain.Pin()
		r.remove(t, s, hs[0])
		s.Reclaim(nil)
		require.Equal(t, 1, s.Pending())
		m.Close(shard.Collector)
		for _, k := range held {
			r.arena.Drop(k)
		}
		goal := s.Goal()
		s.Reclaim(nil)
		require.Equal(t, 1, s.Pending())
		require.False(t, goal.Reached(), "one waits")
		for range 3 {
			_, h, err := s.Claim()
			require.NoError(t, err)
			require.Contains(t, lows(hs[1:4]), slots.Low(h))
		}
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrStalled)
		young.Unpin()
		s.Reclaim(nil)
		requireFinished(t, s)
		r.arena.Drop(parked)
	}
}

// TestQueueKeepsItsOrder, by whichever steps slots come back.
func TestQueueKeepsItsOrder(t *testing.T) {
	const n = 2*shard.ReclaimMost + 2
	r := newRig[uint64](t, setup[uint64]{slots: n, fifo: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	r.leave(t, s, hs[1:]...)
	s.Round(nil)
	r.leave(t, s, hs[0])
	for more := true; more; {
		_, more = s.Round(nil)
	}
	require.Equal(t, n, s.Free()+s.Pending())
	r.reclaim(t, s)
	total, _ := s.Order()
	require.Equal(t, lows(append(hs[1:], hs[0])), total)
}

// TestBatchesAreJoinedAndCut: small batches are joined, also where a guard stands between. It delays all of the
// batch, until a refusal cuts it.
func TestBatchesAreJoinedAndCut(t *testing.T) {
	const n = 40
	r := newRig[uint64](t, setup[uint64]{slots: n, stampPerSlot: true})
	s, d := r.shards[0], r.arena.Domain
	hs := r.fill(t, s, n, number)
	early, between := d.Pin(), epoch.Guard{}
	for i, h := range hs {
		if i == n/2 {
			between = d.Pin()
		}
		r.leave(t, s, h)
		s.Seal()
		r.advance()
	}
	require.LessOrEqual(t, s.Batches(), 2*n/s.MostOwned()+1)
	early.Unpin()
	s.Reclaim(s)
	require.Less(t, s.Free(), n/2)
	for range n / 2 {
		h, err := r.arena.Decide(s, r.arena.Decisions())
		require.NoError(t, err)
		require.Contains(t, lows(hs[:n/2]), slots.Low(h))
	}
	_, err := r.arena.Decide(s, r.arena.Decisions())
	require.ErrorIs(t, err, shard.ErrStalled)
	between.Unpin()
	s.Reclaim(s)
	require.Equal(t, n/2, s.Free())
	requireFinished(t, s)
}

// asked is a context that says when Synchronize asks it, having waited in vain.
type asked struct {
	context.Context
	waits chan struct{}
}

func (c asked) Err() error {
	select {
	case c.waits <- struct{}{}:
	default:
	}
	return nil
}

// halted is asked, and Synchronize goes on when resume is closed. The second time it is done.
type halted struct {
	asked
	resume chan struct{}
}

func (c halted) Err() error {
	select {
	case <-c.resume:
		return context.Canceled
	default:
	}
	_ = c.asked.Err()
	<-c.resume
	return nil
}

// TestSynchronizeEndsWithWhatWasRemovedBefore: Synchronize returns when all that was removed before
// the call has been reclaimed in every shard. A hold does not delay it, nor do removals that come
// later, under a guard that is pinned later.
func TestSynchronizeEndsWithWhatWasRemovedBefore(t *testing.T) {
	for _, stampPerSlot := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 6, shards: 3, stampPerSlot: stampPerSlot})
		hs := r.fill(t, r.shards[0], 6, number)
		k, _ := r.arena.Hold(hs[5])
		early := r.arena.Domain.Pin()
		for i, h := range hs[3:] {
			r.leave(t, r.shards[i], h)
		}
		require.ErrorIs(t, r.arena.Synchronize(testkit.Done()), context.Canceled)
		ctx, done := asked{context.Background(), make(chan struct{}, 1)}, make(chan error, 1)
		go func() { done <- r.arena.Synchronize(ctx) }()
		testkit.Soon(t, ctx.waits)
		late := r.arena.Domain.Pin()
		r.leave(t, r.shards[0], hs[0])
		early.Unpin()
		require.NoError(t, testkit.Soon(t, done))
		require.Len(t, drain(r.shards[0]), 2, "they went home")
		late.Unpin()
		r.arena.Drop(k)
	}
}

// TestSynchronizeEndsBesideLaterResets: a Reset that does not return delays Synchronize only if its
// slot was removed before the call, also if no guard is pinned meanwhile.
func TestSynchronizeEndsBesideLaterResets(t *testing.T) {
	began, gates := make(chan uint64), map[uint64]chan struct{}{1: make(chan struct{}), 2: make(chan struct{})}
	r := newRig[uint64](t, setup[uint64]{slots: 2, reset: func(v *uint64) {
		began <- *v
		<-gates[*v]
	}})
	s, ended := r.shards[0], make(chan struct{}, 2)
	hs := r.fill(t, s, 2, number)
	reset := func(k int) {
		r.leave(t, s, hs[k])
		go func() {
			s.Reclaim(nil)
			ended <- struct{}{}
		}()
		require.Equal(t, uint64(k+1), testkit.Soon(t, began))
	}
	reset(0)
	ctx, done := halted{asked{context.Background(), make(chan struct{}, 1)}, make(chan struct{})}, make(chan error, 1)
	go func() { done <- r.arena.Synchronize(ctx) }()
	testkit.Soon(t, ctx.waits)
	reset(1)
	close(gates[1])
	testkit.Soon(t, ended)
	close(ctx.resume)
	require.NoError(t, testkit.Soon(t, done))
	close(gates[2])
	testkit.Soon(t, ended)
	requireFinished(t, s)
}

// TestBatchThatPassesWholeIsAVisit: under FIFO a round passes no more batches than it may visit slots,
// although none of their slots need be visited.
func TestBatchThatPassesWholeIsAVisit(t *testing.T) {
	const n = 3 * shard.ReclaimMost
	r := newRig[uint64](t, setup[uint64]{slots: n, fifo: true, stampPerSlot: true})
	s := r.shards[0]
	var guards []epoch.Guard
	for _, h := range r.fill(t, s, n, number) {
		guards = append(guards, r.arena.Domain.Pin())
		r.leave(t, s, h)
		s.Goal() // seals it, and keeps it apart
	}
	require.Equal(t, n, s.Batches())
	for _, g := range guards {
		g.Unpin()
	}
	r.arena.Domain.Scan() // it clears the marks, so that few removals pay for a round
	for s.Batches() > 0 {
		before := s.Batches()
		visits, _ := s.Round(nil)
		require.LessOrEqual(t, before-s.Batches(), shard.ReclaimMost)
		require.LessOrEqual(t, visits, shard.ReclaimMost)
		require.Less(t, s.Batches(), before)
	}
	require.Equal(t, n, s.Free())
}

// TestRemovalsSeal: one removal in SealEvery seals what waits, so that a guard which is pinned later does not
// delay that. Each removal waits for no lock. What could not be sealed in time is sealed by a later one.
func TestRemovalsSeal(t *testing.T) {
	const n = 8 * slots.SealEvery
	for _, chains := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: n})
		s := r.shards[0]
		hs := r.fill(t, s, n, number)
		remove := r.remove
		if chains {
			remove = r.leave
		}
		remove(t, s, hs[:slots.SealEvery-1]...)
		require.Zero(t, s.Seals())
		remove(t, s, hs[slots.SealEvery-1])
		require.EqualValues(t, 1, s.Seals())
		require.Zero(t, s.Removed())
		s.Lock()
		remove(t, s, hs[slots.SealEvery:3*slots.SealEvery]...)
		s.Unlock()
		require.Equal(t, 2*slots.SealEvery, s.Removed())
		remove(t, s, hs[3*slots.SealEvery:4*slots.SealEvery]...)
		require.EqualValues(t, 2, s.Seals())
		g := r.arena.Domain.Pin()
		remove(t, s, hs[4*slots.SealEvery:]...)
		for s.Reclaim(s) {
		}
		require.Equal(t, n/2, s.Free())
		g.Unpin()
	}
}

// TestRemovalThatMeetsAnotherSeals: a removal whose push fails goes by the count of the push that succeeds.
func TestRemovalThatMeetsAnotherSeals(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: slots.SealEvery})
	s := r.shards[0]
	hs := r.fill(t, s, slots.SealEvery, number)
	r.remove(t, s, hs[2:]...)
	slot, seen := s.Unlink(hs[0])
	r.remove(t, s, hs[1])
	s.Retire(slot, hs[0], seen)
	require.EqualValues(t, 1, s.Seals())
	require.Zero(t, s.Removed())
}

// TestBatchesAreCutForWhoeverFetches: a guard stands within a batch. Who reclaims for no insertion gets what was
// removed before it, and the rest passes in the order of removals.
func TestBatchesAreCutForWhoeverFetches(t *testing.T) {
	const n = 40
	for _, fetch := range []func(a *shard.Arena){
		(*shard.Arena).ClearExpired,
		func(a *shard.Arena) { require.ErrorIs(t, a.Synchronize(testkit.Done()), context.Canceled) },
		func(a *shard.Arena) { a.Trim() },
	} {
		for _, fifo := range []bool{false, true} {
			r := newRig[uint64](t, setup[uint64]{slots: n + 1, stampPerSlot: true, fifo: fifo})
			s := r.shards[0]
			hs := r.fill(t, s, n+1, number) // the last keeps its page
			r.remove(t, s, hs[:n/2]...)
			g := r.arena.Domain.Pin()
			r.remove(t, s, hs[n/2:n]...)
			fetch(&r.arena)
			require.Equal(t, n/2, s.Pending())
			g.Unpin()
			r.reclaim(t, s)
			if order, _ := s.Order(); fifo {
				require.Equal(t, lows(hs[n/2:n]), order[len(order)-n/2:], "Trim may give up the others' pages")
			}
		}
	}
}

// TestEmptyLimboRaisesNoFloor: a remover takes its stamp and is preempted before its push. Meanwhile an empty limbo is
// sealed in a later epoch. A guard that is pinned after the removal delays what is removed after it alone.
func TestEmptyLimboRaisesNoFloor(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 2, stampPerSlot: true})
	s, d := r.shards[0], r.arena.Domain
	hs := r.fill(t, s, 2, number)
	k, seen := s.Unlink(hs[0])
	require.NotNil(t, k)
	r.arena.Table.SetStamp(slots.Low(hs[0]), d.Stamp())
	g := d.Pin()
	g.Unpin()
	s.Seal()
	require.True(t, s.PushOne(seen, hs[0]))
	g = d.Pin()
	defer g.Unpin()
	r.remove(t, s, hs[1])
	_, h, err := s.Claim()
	require.NoError(t, err)
	require.Equal(t, slots.Low(hs[0]), slots.Low(h))
}

// TestWhatComesLateIsCutOffBeforeWhatWaits: slots that Refs let go behind batches that a guard delays.
func TestWhatComesLateIsCutOffBeforeWhatWaits(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, 8, number)
	var held []shard.Hold
	for _, h := range hs[:3] {
		k, _ := r.arena.Hold(h)
		held = append(held, k)
		r.remove(t, s, h)
	}
	s.Reclaim(nil) // they are parked
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	r.remove(t, s, hs[3])
	s.Goal() // seals it, and keeps it apart
	r.advance()
	r.remove(t, s, hs[4])
	for _, k := range held {
		r.arena.Drop(k)
	}
	s.Reclaim(nil)
	require.Equal(t, 3, s.Free())
	require.Equal(t, 2, s.Pending())
}

// TestQueueKeepsItsOrderWhereBatchesMeet: a batch of few slots and a longer one have the same stamp.
func TestQueueKeepsItsOrderWhereBatchesMeet(t *testing.T) {
	const n = 3 * shard.SpliceLeast
	r := newRig[uint64](t, setup[uint64]{slots: n, fifo: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	for _, part := range [][]uint64{hs[:3], hs[3 : n-3], hs[n-3:]} {
		r.leave(t, s, part...)
		s.Seal()
	}
	r.reclaim(t, s)
	order, _ := s.Order()
	require.Equal(t, lows(hs), order)
}

// TestQueueKeepsItsOrderWhereBatchesAreCut: of two batches the second has slots of the first one's epoch, and a guard
// stands within it. What has passed of it comes behind the first one.
func TestQueueKeepsItsOrderWhereBatchesAreCut(t *testing.T) {
	const n = 3 * slots.Batch
	r := newRig[uint64](t, setup[uint64]{slots: n, fifo: true, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	early := r.arena.Domain.Pin()
	r.leave(t, s, hs[:slots.Batch]...)
	s.Seal()
	r.leave(t, s, hs[slots.Batch:2*slots.Batch]...)
	between := r.arena.Domain.Pin()
	r.leave(t, s, hs[2*slots.Batch:]...)
	s.Seal()
	require.Equal(t, 2, s.Batches())
	early.Unpin()
	r.reclaimNow(s)
	between.Unpin()
	r.reclaim(t, s)
	order, _ := s.Order()
	require.Equal(t, lows(hs), order)
}

// TestQueueKeepsItsOrderWhereASealTakesALateStamp: while a seal was under way, it had taken its slots and not yet its
// stamp, others were removed with a lesser one.
func TestQueueKeepsItsOrderWhereASealTakesALateStamp(t *testing.T) {
	const n = 3 * slots.Batch
	r := newRig[uint64](t, setup[uint64]{slots: n, fifo: true, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	r.leave(t, s, hs[:slots.Batch]...)
	r.advance()
	stamp := r.arena.Domain.Stamp()
	s.Seal()
	r.leave(t, s, hs[slots.Batch:2*slots.Batch]...)
	for _, h := range hs[slots.Batch : 2*slots.Batch] {
		r.arena.Table.SetStamp(slots.Low(h), stamp-1)
	}
	g := r.arena.Domain.Pin()
	r.leave(t, s, hs[2*slots.Batch:]...)
	s.Seal()
	require.Equal(t, 2, s.Batches())
	r.reclaimNow(s)
	require.Equal(t, slots.Batch, s.Pending(), "what was removed under the guard")
	g.Unpin()
	r.reclaim(t, s)
	order, _ := s.Order()
	require.Equal(t, lows(hs), order)
}

// TestQueueKeepsItsOrderWhereACutBatchIsJoined: what is left of a batch that was cut is joined with what is removed
// later. Its end is known, and it is not yet in a queue's order.
func TestQueueKeepsItsOrderWhereACutBatchIsJoined(t *testing.T) {
	const n = 7
	r := newRig[uint64](t, setup[uint64]{slots: n, fifo: true, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	r.leave(t, s, hs[0])
	g := r.arena.Domain.Pin()
	r.leave(t, s, hs[1:4]...)
	r.reclaimNow(s)
	require.Equal(t, 1, s.Free(), "the batch is cut")
	r.leave(t, s, hs[4:]...)
	r.reclaimNow(s)
	require.Equal(t, 1, s.Batches())
	g.Unpin()
	r.reclaim(t, s)
	order, _ := s.Order()
	require.Equal(t, lows(hs), order)
}

// manyGuards pins thousands of guards, so that a search does not pay for a scan.
func (r *rig[T]) manyGuards(t testing.TB) (guards []epoch.Guard) {
	for range 5000 {
		guards = append(guards, r.arena.Domain.Pin())
	}
	require.Greater(t, r.arena.Domain.Scanned(), 5000)
	return guards
}

// TestRoundThatScansMuchVisitsAsMuch: beside the cells of thousands of guards few rounds scan, and each frees what it can.
func TestRoundThatScansMuchVisitsAsMuch(t *testing.T) {
	const n = 3000
	r := newRig(t, setup[*int]{slots: n, zero: true})
	s := r.shards[0]
	r.leave(t, s, r.fill(t, s, n, pointer)...)
	for _, g := range r.manyGuards(t) {
		g.Unpin()
	}
	visits, more := s.Round(nil)
	require.False(t, more)
	require.Equal(t, n, visits)
	require.Equal(t, n, s.Free())
}

// TestRoundSaysThatItLeavesSome of what no removal could seal, since another goroutine had the lock.
func TestRoundSaysThatItLeavesSome(t *testing.T) {
	const n = shard.ReclaimMost + 2
	r := newRig(t, setup[*int]{slots: n, zero: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, pointer)
	s.Lock()
	r.remove(t, s, hs...)
	s.Unlock()
	visits, more := s.Round(s)
	require.Equal(t, shard.ReclaimMost, visits)
	require.True(t, more)
	_, more = s.Round(s)
	require.False(t, more)
	require.Equal(t, n, s.Free())
}

// TestQueuesReclaimForThemselves: what was removed in a queue goes to its end, for whichever shard it is reclaimed. Another
// one's lists are not under the lock that is held.
func TestQueuesReclaimForThemselves(t *testing.T) {
	const n = 2 * slots.Batch
	r := newRig[uint64](t, setup[uint64]{slots: n, shards: 2, fifo: true})
	s, other := r.shards[0], r.shards[1]
	hs := r.fill(t, s, n, number)
	r.leave(t, other, hs...)
	for other.Reclaim(s) {
	}
	require.Zero(t, s.Free())
	order, _ := other.Order()
	require.Equal(t, lows(hs), order)
}

// TestSearchWithoutAScanTakesWhatTheLastOneSpokeOf, before it takes new memory.
func TestSearchWithoutAScanTakesWhatTheLastOneSpokeOf(t *testing.T) {
	const n = shard.ReclaimMost + 2*slots.Batch // too few to pay for a scan
	r := newRig(t, setup[*int]{slots: 2 * n, zero: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, pointer)
	g := r.arena.Domain.Pin()
	r.leave(t, s, hs...)
	s.Seal()
	g.Unpin()
	_, unfinished := s.Round(s)
	require.True(t, unfinished)
	require.NotEmpty(t, drain(s))
	r.manyGuards(t)
	_, h, err := s.Claim()
	require.NoError(t, err)
	require.Contains(t, lows(hs), slots.Low(h))
}

// TestQueuesTakeWhatTheLastScanSpokeOf, before they make another scan, although it is paid for.
func TestQueuesTakeWhatTheLastScanSpokeOf(t *testing.T) {
	const n, later = 8 * shard.ReclaimMost, 1024
	r := newRig(t, setup[*int]{slots: n + later, zero: true, fifo: true})
	s := r.shards[0]
	hs := r.fill(t, s, n+later, pointer)
	r.leave(t, s, hs[:n]...)
	s.Seal()
	r.advance()
	visits, _ := s.Round(s)
	require.Equal(t, shard.ReclaimMost, visits)
	r.manyGuards(t)
	r.leave(t, s, hs[n:]...) // and so a scan is paid for
	s.Seal()
	visits, _ = s.Round(s)
	require.Equal(t, shard.ReclaimMost, visits, "a scan would allow more")
}

// TestSearchWithoutAScanSealsNothing: otherwise each of many such searches makes a batch.
func TestSearchWithoutAScanSealsNothing(t *testing.T) {
	const n = slots.Batch + 1
	r := newRig[uint64](t, setup[uint64]{slots: 3 * n, memory: n})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	r.manyGuards(t)
	r.leave(t, s, hs...)
	_, h, err := s.Claim()
	require.NoError(t, err)
	require.NotContains(t, lows(hs), slots.Low(h))
	require.Zero(t, s.Seals())
	require.Equal(t, n, s.Removed())
}

// TestRemovalsPayForScans: where a search does not pay for a scan, the slots that were removed do.
func TestRemovalsPayForScans(t *testing.T) {
	const n = slots.SealEvery - 1
	for _, set := range []setup[uint64]{{}, {stampPerSlot: true}, {fifo: true}} {
		set.slots = n
		r := newRig(t, set)
		s, d := r.shards[0], r.arena.Domain
		hs := r.fill(t, s, n, number)
		var guards []epoch.Guard
		for d.Scanned() < 4*slots.Batch {
			guards = append(guards, d.Pin())
		}
		for _, g := range guards {
			g.Unpin()
		}
		r.leave(t, s, hs[0])
		s.UnpaidRound()
		require.Equal(t, 1, s.Pending(), "one slot pays for no scan")
		r.leave(t, s, hs[1:]...)
		s.UnpaidRound()
		require.Zero(t, s.Pending())
	}
}

// TestSealedSlotsDoNotPassByAnEarlierScan: a scan finds no guard, and then thousands are pinned, so that
// the next round cannot pay for a scan of their cells. What was removed under them must not pass, whether
// a removal has sealed it or another goroutine, and whether or not a round that found nothing to do came
// before, which may have scanned.
func TestSealedSlotsDoNotPassByAnEarlierScan(t *testing.T) {
	for _, set := range []struct{ stampPerSlot, idleRound bool }{{}, {stampPerSlot: true}, {idleRound: true}, {true, true}} {
		for _, n := range []int{slots.SealEvery / 2, slots.SealEvery} {
			r := newRig[uint64](t, setup[uint64]{slots: 2 * slots.SealEvery, stampPerSlot: set.stampPerSlot})
			s := r.shards[0]
			hs := r.fill(t, s, slots.SealEvery+n, number)
			r.remove(t, s, hs[:slots.SealEvery]...)
			r.reclaim(t, s)
			if set.idleRound {
				s.Round(nil)
			}
			r.manyGuards(t)
			r.leave(t, s, hs[slots.SealEvery:]...)
			if n < slots.SealEvery {
				s.Seal()
			}
			require.Zero(t, s.Removed())
			for range 3 {
				s.UnpaidRound()
				require.Equal(t, n, s.Pending(), "slots passed under guards that were pinned before their removal: %+v", set)
			}
		}
	}
}
