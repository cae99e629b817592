package shard_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// everyKind calls f with each kind of arena that has an order of its own.
func everyKind(t *testing.T, f func(t *testing.T, set setup[*int])) {
	for _, stamps := range []bool{false, true} {
		for _, fifo := range []bool{false, true} {
			for _, reset := range []func(**int){nil, func(v **int) { *v = nil }} {
				for _, pointers := range []bool{false, true} {
					name := fmt.Sprintf("stamps=%t/fifo=%t/reset=%t/pointers=%t", stamps, fifo, reset != nil, pointers)
					t.Run(name, func(t *testing.T) {
						f(t, setup[*int]{stampPerSlot: stamps, fifo: fifo, reset: reset, zero: pointers})
					})
				}
			}
		}
	}
}

func pointer(i int) *int { return &i }

// TestRoundsAreBounded: whatever waits, for guards of different ages, a round visits a bounded
// number of slots, and rounds that a guard's end allows free all that it held back and no other
// guard does.
func TestRoundsAreBounded(t *testing.T) {
	const n, each = 2048, 128
	everyKind(t, func(t *testing.T, set setup[*int]) {
		set.slots = n
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, n, pointer)
		var guards []epoch.Guard
		for i := 0; i < n; i += each {
			guards = append(guards, r.arena.Domain.Pin())
			r.leave(t, s, hs[i:i+each]...) // a large seal now and then
			for more := i%(4*each) == 0; more; {
				var visits int
				visits, more = s.Round(nil)
				require.LessOrEqual(t, visits, shard.ReclaimMost)
			}
		}
		for i := range guards {
			guards[i].Unpin()
			want := (i + 1) * each
			if !set.stampPerSlot {
				// What was sealed together passes together: by a round, or by a removal.
				want = max(each+i/4*4*each, want/slots.SealEvery*slots.SealEvery)
			}
			for more := true; more; {
				var visits int
				visits, more = s.Round(nil)
				require.LessOrEqual(t, visits, shard.ReclaimMost)
			}
			if i < len(guards)-1 {
				require.Equal(t, want, s.Free(), "after %d guards", i+1)
			}
		}
		require.Equal(t, n, s.Free())
		requireFinished(t, s)
	})
}

// TestSmallBatchesAreJoined: beside a guard that stays, others come and go, and each slot that is removed
// under one of them is sealed by itself. The list gives its memory back.
func TestSmallBatchesAreJoined(t *testing.T) {
	const n = 4000
	everyKind(t, func(t *testing.T, set setup[*int]) {
		set.slots = n
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, n, pointer)
		forgotten := r.arena.Domain.Pin()
		most := 0
		for _, h := range hs {
			g := r.arena.Domain.Pin()
			r.leave(t, s, h)
			s.Round(nil) // seals it
			g.Unpin()
			most = max(most, s.Batches())
		}
		require.LessOrEqual(t, most, 2*n/s.MostOwned()+2)
		forgotten.Unpin()
		testkit.Until(t, func() bool { return !s.Reclaim(nil) })
		require.Equal(t, n, s.Free())
		require.Less(t, s.BacklogBytes(), int64(64<<10))
	})
}

// TestBatchesAreJoinedUpToABound: both together have at most as many slots as an operation owns.
func TestBatchesAreJoinedUpToABound(t *testing.T) {
	for want, n := range []int{slots.Batch, slots.Batch + 1} {
		r := newRig[uint64](t, setup[uint64]{slots: n})
		s := r.shards[0]
		hs := r.fill(t, s, n, number)
		for _, part := range [][]uint64{hs[:slots.Batch/2], hs[slots.Batch/2:]} {
			r.leave(t, s, part...)
			s.Seal()
		}
		require.Equal(t, want+1, s.Batches())
	}
}

// TestFullListJoinsBatches: with Preallocate the list of batches never grows. When it is full, batches are joined two
// by two, also where a guard stands between two, which then delays both.
func TestFullListJoinsBatches(t *testing.T) {
	const n, each = 18_000, 40 // too many to be joined before
	for _, fifo := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: n, capacity: n, fixed: true, fifo: fifo})
		s := r.shards[0]
		hs := r.fill(t, s, n, number)
		bytes, most := s.BacklogBytes(), 0
		early := r.arena.Domain.Pin()
		var between epoch.Guard
		for k := range n / each {
			if k == n/each/2 {
				between = r.arena.Domain.Pin()
			}
			r.leave(t, s, hs[k*each:(k+1)*each]...)
			s.Seal()
			most = max(most, s.Batches())
		}
		require.Less(t, s.Batches(), most, "they are joined")
		require.False(t, s.KeepsTaken())
		require.True(t, s.Ordered())
		require.Equal(t, bytes, s.BacklogBytes())
		early.Unpin()
		r.reclaimNow(s)
		require.Equal(t, n/2, s.Pending(), "what was removed under the other guard waits, and nothing else")
		between.Unpin()
		r.reclaim(t, s)
		if fifo {
			order, _ := s.Order()
			require.Equal(t, lows(hs), order)
		}
	}
}

// TestFullListStaysWhereItIsCut: with Preallocate a list of batches that is full does not grow where one is cut.
func TestFullListStaysWhereItIsCut(t *testing.T) {
	const n, each = 18_000, 40 // too many to be joined before
	for _, fifo := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: n, capacity: n, fixed: true, fifo: fifo})
		s := r.shards[0]
		hs := r.fill(t, s, n, number)
		bytes := s.BacklogBytes()
		early := r.arena.Domain.Pin()
		r.leave(t, s, hs[:each/2]...)
		between := r.arena.Domain.Pin()
		removed := each / 2
		for ; !s.Full(); removed += each {
			r.leave(t, s, hs[removed:removed+each]...)
			s.Seal()
		}
		seals := s.Seals()
		r.remove(t, s, hs[removed:removed+slots.SealEvery]...)
		removed += slots.SealEvery
		require.Equal(t, seals, s.Seals(), "a removal makes no room")
		early.Unpin()
		r.reclaimNow(s)
		require.Equal(t, removed-each/2, s.Pending(), "what was removed under the other guard waits, and nothing else")
		require.Equal(t, bytes, s.BacklogBytes())
		require.True(t, s.Ordered())
		between.Unpin()
		r.reclaim(t, s)
		if fifo {
			order, _ := s.Order()
			require.Equal(t, lows(hs[:removed]), order)
		}
	}
}

// TestFullListIsCutAnew: where a full list joins what has passed to what has not, after it was cut by a guard, it is cut by that
// guard again.
func TestFullListIsCutAnew(t *testing.T) {
	const n, each = 24_000, 40
	for _, early := range []int{20 * each, 21 * each} { // the last that has passed is joined to another one of these, or not
		r := newRig(t, setup[*int]{slots: n, capacity: n, fixed: true, zero: true})
		s := r.shards[0]
		hs := r.fill(t, s, n, pointer)
		first := r.arena.Domain.Pin()
		for k := range early / each {
			r.leave(t, s, hs[k*each:(k+1)*each]...)
			s.Seal()
		}
		guard := r.arena.Domain.Pin()
		removed := early
		leave := func() {
			r.leave(t, s, hs[removed:removed+each]...)
			s.Seal()
			removed += each
		}
		for range 2 { // so that what comes later has later stamps for certain
			leave()
		}
		first.Unpin()
		_, more := s.Round(nil)
		require.True(t, more, "some have passed, and are left")
		for before := 0; s.Batches() >= before; leave() {
			before = s.Batches()
		}
		r.reclaimNow(s)
		require.Equal(t, removed-early, s.Pending())
		guard.Unpin()
	}
}

// TestRoomIsForTheCapacity: a small pool with Preallocate has no room for more batches than it may have slots.
func TestRoomIsForTheCapacity(t *testing.T) {
	bytes := func(n int) int64 {
		return newRig[uint64](t, setup[uint64]{slots: n, capacity: n, fixed: true}).shards[0].BacklogBytes()
	}
	require.Positive(t, bytes(14)-bytes(4))
	require.Equal(t, bytes(14)-bytes(4), bytes(24)-bytes(14))
}

// TestListsKeepNothing that was taken out of them, whatever joins, cuts or takes it.
func TestListsKeepNothing(t *testing.T) {
	const n = 1000
	everyKind(t, func(t *testing.T, set setup[*int]) {
		set.slots = n
		r := newRig(t, set)
		s := r.shards[0]
		require.False(t, s.KeepsTaken())
		for round := range 3 {
			hs := r.claim(t, s, n)
			require.False(t, s.KeepsTaken())
			for k, some := range slices.Collect(slices.Chunk(hs, 150)) {
				g := r.arena.Domain.Pin()
				r.leave(t, s, some...)
				s.Reclaim([]*shard.Shard{s, nil}[k%2])
				require.False(t, s.KeepsTaken())
				g.Unpin()
			}
			for s.Pending() > 0 {
				s.Reclaim(nil)
				require.False(t, s.KeepsTaken())
			}
			if round == 1 {
				r.arena.TrimAll()
			}
			require.False(t, s.KeepsTaken())
		}
	})
}

// reclaimNow reclaims all that has passed.
func (r *rig[T]) reclaimNow(s *shard.Shard) {
	for s.Reclaim(nil) {
	}
}

// TestGuardsHoldBackWhatIsRemovedUnderThem: each guard holds back what was removed after it was pinned, and its
// end frees just that.
func TestGuardsHoldBackWhatIsRemovedUnderThem(t *testing.T) {
	const n = 1000
	everyKind(t, func(t *testing.T, set setup[*int]) {
		if !set.stampPerSlot {
			return
		}
		set.slots = n
		r := newRig(t, set)
		s := r.shards[0]
		var guards []epoch.Guard
		for _, h := range r.fill(t, s, n, pointer) {
			guards = append(guards, r.arena.Domain.Pin())
			r.remove(t, s, h)
		}
		for i := range guards {
			guards[i].Unpin()
			slot, h, err := s.Claim()
			require.NoError(t, err, "the slot that guard %d held back is free", i)
			live(slot, h, pointer(0))
			_, _, err = s.Claim()
			if i < n-1 {
				require.ErrorIs(t, err, shard.ErrStalled)
			} else {
				require.ErrorIs(t, err, shard.ErrFull)
			}
		}
	})
}

// TestSearchesScanNowAndThen: beside the cells of thousands of guards an insertion mostly goes on without a scan,
// and in time it scans.
func TestSearchesScanNowAndThen(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8})
	s := r.shards[0]
	h := r.fill(t, s, 1, number)[0]
	for _, g := range r.manyGuards(t) {
		g.Unpin()
	}
	cells := r.arena.Domain.Scanned()
	require.Greater(t, cells, 4000)
	r.leave(t, s, h)
	s.Seal()
	rounds := 0
	for ; s.Pending() > 0; rounds++ {
		require.Less(t, rounds, cells)
		s.Round(s)
	}
	require.InDelta(t, cells/shard.CellsASlot, rounds, 2)
	require.Less(t, r.arena.Domain.Scanned(), cells, "the scan has found that the guards have gone")
}

// TestAheadDoesNotWaitForMemory: a shard that would take new memory although another shard has a slot
// takes that slot, if another goroutine is adding memory.
func TestAheadDoesNotWaitForMemory(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, memory: 2, shards: 2})
	r.remove(t, r.shards[1], r.fill(t, r.shards[1], 1, number)...)
	r.shards[1].Reclaim(r.shards[1])
	_ = r.fill(t, r.shards[0], 1, number) // the last slot with memory
	r.arena.Table.Lock()
	defer r.arena.Table.Unlock()
	claimed := make(chan error, 1)
	go func() {
		_, _, err := r.shards[0].Claim()
		claimed <- err
	}()
	require.NoError(t, testkit.Soon(t, claimed))
}

// pinStale pins as a Pin does that loaded the clock when the epoch was e.
func (r *rig[T]) pinStale(e uint64) epoch.Guard {
	clock := (*atomic.Uint64)(unsafe.Pointer(r.arena.Domain))
	now := clock.Swap(e)
	g := r.arena.Domain.Pin()
	clock.Store(now)
	return g
}

// TestCutLeavesNoEmptyBatch: the stamp of slots that were enqueued as a whole may be above all of
// theirs. If a pin that was under way makes a refusal cut them in two, and all have passed, nothing
// is left that would be taken for a slot.
func TestCutLeavesNoEmptyBatch(t *testing.T) {
	const n = 4 * shard.ReclaimMost
	for _, reset := range []func(*int){nil, func(*int) {}} {
		r := newRig(t, setup[int]{slots: n, stampPerSlot: true, reset: reset})
		s := r.shards[0]
		hs := r.fill(t, s, n, func(i int) int { return i })
		hold, _ := r.arena.Hold(hs[0]) // so that each slot is visited
		r.leave(t, s, hs[1:3*shard.ReclaimMost]...)
		for range 10 {
			r.advance()
		}
		s.Reclaim(nil)
		g := r.pinStale(r.arena.Domain.Epoch() - 5)
		for range len(hs[1 : 3*shard.ReclaimMost]) {
			slot, h, err := s.Claim()
			require.NoError(t, err)
			live(slot, h, 0)
		}
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrFull)
		r.arena.Drop(hold)
		g.Unpin()
		_, h, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrFull, "%s was handed out, and is live", text(h))
		require.True(t, s.Goal().Reached(), "the goal should be reached")
	}
}

// TestStaleGuardDelaysWithoutStamps: where slots have no stamps, a guard whose pin was under way
// while batches were joined delays all of a batch, and an insertion is refused.
func TestStaleGuardDelaysWithoutStamps(t *testing.T) {
	const n = 128
	r := newRig[int](t, setup[int]{slots: n})
	s := r.shards[0]
	first := r.arena.Domain.Epoch()
	early := r.arena.Domain.Pin()
	for _, h := range r.fill(t, s, n, func(i int) int { return i }) {
		r.leave(t, s, h)
		s.Round(nil)
		s.Round(nil)
		r.advance()
	}
	require.Less(t, s.Batches(), n)
	stale := r.pinStale(first + shard.ApartMost + 2)
	early.Unpin()
	var err error
	claimed := 0
	for ; err == nil; claimed++ {
		_, _, err = s.Claim()
	}
	require.ErrorIs(t, err, shard.ErrStalled)
	require.Equal(t, shard.ApartMost, claimed, "the last of those that stay apart waits with what was joined to it")
	stale.Unpin()
	_, _, err = s.Claim()
	require.NoError(t, err)
}

// TestFewBatchesWaitForNoLaterGuard: each guard is pinned before the last one ends. What was removed before it does not
// wait for it, although whoever reclaims seals less than is worth a batch.
func TestFewBatchesWaitForNoLaterGuard(t *testing.T) {
	const n = 40
	everyKind(t, func(t *testing.T, set setup[*int]) {
		set.slots = n
		r := newRig(t, set)
		s := r.shards[0]
		last := r.arena.Domain.Pin()
		for _, h := range r.fill(t, s, n, pointer) {
			r.leave(t, s, h)
			r.reclaimNow(s)
			g := r.arena.Domain.Pin()
			last.Unpin()
			last = g
			require.LessOrEqual(t, s.Pending(), 2, "what was removed under the guard before, and was sealed since")
		}
		last.Unpin()
		r.reclaim(t, s)
	})
}

// leaveApart removes values before a call of Synchronize, whose goal it returns, and others after it.
// A guard was pinned meanwhile, so all their slots are in batches.
func (r *rig[T]) leaveApart(t testing.TB, s *shard.Shard, before, after []uint64) *shard.Goal {
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	leave := func(hs []uint64) {
		r.leave(t, s, hs...)
		for range 3 {
			s.Round(nil) // into a batch
		}
	}
	leave(before)
	goal := s.NewGoal()
	goal.Step()
	leave(after)
	return goal
}

// TestWhatSynchronizeWaitsForDoesNotGrow: slots that are removed later, in the same epoch, come
// into a batch of their own, and Synchronize does not wait for their Resets.
func TestWhatSynchronizeWaitsForDoesNotGrow(t *testing.T) {
	const n = shard.ResetRun - 1 // few enough to be joined
	for _, stamps := range []bool{false, true} {
		r := newRig(t, setup[uint64]{slots: 3 * n, stampPerSlot: stamps, reset: func(*uint64) {}})
		s := r.shards[0]
		hs := r.fill(t, s, 3*n, number)
		goal := r.leaveApart(t, s, hs[:n], hs[n:])
		require.False(t, goal.Reached(), "the goal should not be reached yet")
		s.Round(nil) // one run of Resets
		require.True(t, goal.Reached(), "the goal should be reached")
		require.Equal(t, n, s.Free())
	}
}

// TestWhatTwoCallsOfSynchronizeWaitForDoesNotGrow: what is removed after a call comes into no batch
// that the call waits for, also when another call began meanwhile.
func TestWhatTwoCallsOfSynchronizeWaitForDoesNotGrow(t *testing.T) {
	const n = shard.ResetRun
	for _, stamps := range []bool{false, true} {
		r := newRig(t, setup[uint64]{slots: 3 * n, stampPerSlot: stamps, reset: func(*uint64) {}})
		s := r.shards[0]
		hs := r.fill(t, s, 3*n, number)
		g := r.arena.Domain.Pin()
		var goals []*shard.Goal
		for i := 0; i < 3*n; i += n {
			r.leave(t, s, hs[i:i+n]...)
			for range 3 {
				s.Round(nil) // into a batch
			}
			if i < 2*n {
				goals = append(goals, s.NewGoal())
				goals[len(goals)-1].Step()
			}
		}
		g.Unpin()
		require.Equal(t, 3, s.Batches())
		for i, goal := range goals {
			require.False(t, goal.Reached(), "the goal should not be reached yet")
			s.Round(nil) // one run of Resets
			require.True(t, goal.Reached(), "call %d", i)
		}
	}
}

// TestCallsOfSynchronizeLeaveFewBatches: each call that gives up beside a guard ends an epoch, and so does a
// Trim. The batches of these epochs are joined, also in the last of the shards that a call waits for.
func TestCallsOfSynchronizeLeaveFewBatches(t *testing.T) {
	const n = 96
	for _, end := range []func(a *shard.Arena){
		func(a *shard.Arena) { require.ErrorIs(t, a.Synchronize(testkit.Done()), context.Canceled) },
		func(a *shard.Arena) { a.Trim() },
	} {
		r := newRig[uint64](t, setup[uint64]{slots: n + 1, shards: 2, stampPerSlot: true})
		first, s := r.shards[0], r.shards[1]
		waits, hs := r.fill(t, first, 1, number), r.fill(t, s, n, number)
		g := r.arena.Domain.Pin()
		r.leave(t, first, waits...)
		for _, h := range hs {
			r.leave(t, s, h)
			end(&r.arena)
		}
		s.Round(nil)
		require.LessOrEqual(t, s.Batches(), 2*n/s.MostOwned()+1)
		g.Unpin()
		r.reclaim(t, first)
		r.reclaim(t, s)
	}
}
