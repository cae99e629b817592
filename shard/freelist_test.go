package shard_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

func TestStackIsLIFO(t *testing.T) {
	for _, zero := range []bool{false, true} { // spliced and visited
		r := newRig[uint64](t, setup[uint64]{slots: 10, zero: zero})
		s := r.shards[0]
		hs := r.fill(t, s, 10, number)
		r.remove(t, s, hs...)
		require.Equal(t, 10, s.Pending())
		slot, _ := s.Pop()
		require.Nil(t, slot, "none is reclaimed")
		r.reclaim(t, s)
		r.requireNoSelfLink(t)
		assert.Equal(t, 10, s.Free())
		slices.Reverse(hs)
		for _, h := range hs {
			_, got := s.Pop()
			require.Equal(t, text(shard.Reborn(h)), text(got))
		}
		slot, _ = s.Pop()
		require.Nil(t, slot)
		assert.Zero(t, s.Free())
	}
}

func TestPopRunTakesTheFirst(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 7})
	s := r.shards[0]
	require.Empty(t, s.PopRun(3))
	hs := r.fill(t, s, 7, number)
	r.remove(t, s, hs...)
	r.reclaim(t, s)
	want := lows(hs)
	slices.Reverse(want)
	for _, most := range []int{1, 3, 100} {
		got := s.PopRun(most)
		n := min(most, len(want))
		require.Equal(t, want[:n], lows(got))
		for _, h := range got {
			require.Equal(t, shard.Generation(r.word(shard.Low(h)))+1, shard.Generation(h))
		}
		want = want[n:]
	}
	require.Empty(t, want)
}

// TestReturnBurnsTheGeneration: a slot that goes back unused does not enter the freelist with
// its generation again (I5).
func TestReturnBurnsTheGeneration(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 4, number)...)
	r.reclaim(t, s)
	seen := map[uint64]bool{}
	for range 100 {
		slot, h := s.Pop()
		require.NotNil(t, slot)
		require.False(t, seen[h], "%s was handed out before", text(h))
		seen[h] = true
		s.Return(slot, h)
		r.requireNoSelfLink(t)
		require.Equal(t, 4, s.Free())
	}
}

func TestReturnExhaustsTheLastLife(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1, first: shard.LastGeneration})
	s := r.shards[0]
	slot, h := r.take(t, s)
	s.Return(slot, h)
	assert.EqualValues(t, 1, r.arena.Exhausted())
	assert.EqualValues(t, 1, r.arena.Spent())
	assert.EqualValues(t, uint32(shard.Spent), shard.Generation(r.word(0)))
	slot, _ = r.tryTake(s)
	assert.Nil(t, slot, "it has no life left")
	r.requireNoSelfLink(t)
}

func TestReturnFreshKeepsTheFirstGeneration(t *testing.T) {
	const first = 41
	r := newRig[uint64](t, setup[uint64]{slots: 4, first: first})
	s := r.shards[0]
	_, h := s.Refill(1)
	require.Equal(t, shard.Pack(first, 0), h)
	s.ReturnFresh(shard.Low(h))
	_, again := s.Pop()
	assert.Equal(t, text(h), text(again), "it was never in a list with this generation")
}

// TestAbandonNeverIssuesAHandleAgain abandons every slot that is handed out.
func TestAbandonNeverIssuesAHandleAgain(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 5, fifo: fifo, reserve: 1, zero: true})
		s := r.shards[0]
		seen := map[uint64]bool{}
		for range 200 {
			slot, h := r.take(t, s)
			require.False(t, seen[h], "%s was handed out before", text(h))
			seen[h] = true
			s.Abandon(slot, h)
			require.False(t, s.Remove(h), "it never lived")
			r.requireNoSelfLink(t)
			r.reclaim(t, s)
		}
	}
}

// TestSlotsFlowBetweenShards reclaims one shard's limbo onto another's stack.
func TestSlotsFlowBetweenShards(t *testing.T) {
	for _, zero := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 6, shards: 2, zero: zero})
		a, b := r.shards[0], r.shards[1]
		r.remove(t, a, r.fill(t, a, 3, number)...)
		r.remove(t, b, r.fill(t, a, 3, number)...)
		r.reclaim(t, b) // so b's stack is not empty
		n, more := a.Reclaim(b)
		require.Equal(t, 3, n)
		require.False(t, more)
		assert.Zero(t, a.Free())
		assert.Equal(t, 6, b.Free())
		assert.Len(t, b.PopRun(100), 6)
	}
}

// TestQueueHandsOutTheOldestFirst removes more slots than one call reclaims, in many batches.
// They are handed out in the order in which they were removed.
func TestQueueHandsOutTheOldestFirst(t *testing.T) {
	const reserve = 3
	for _, n := range []int{1, 2, 5, shard.ReclaimMost - 1, shard.ReclaimMost, shard.ReclaimMost + 1, 3*shard.ReclaimMost + 7} {
		r := newRig[uint64](t, setup[uint64]{slots: n + reserve + 1, fifo: true, reserve: reserve})
		s := r.shards[0]
		hs := r.fill(t, s, n, number)
		require.True(t, s.Bare())
		slot, _ := r.tryTake(s)
		require.Nil(t, slot, "the reserve stays")
		g := r.arena.Domain.Pin() // all in few batches
		r.remove(t, s, hs...)
		g.Unpin()
		for more := true; more; {
			_, more = s.Reclaim(s)
			r.requireNoSelfLink(t)
		}
		require.Zero(t, s.Pending())
		require.Equal(t, n+reserve+1, s.Free(), "the dummy included")
		var got []uint32
		for slot, h := s.Pop(); slot != nil; slot, h = s.Pop() {
			got = append(got, shard.Low(h))
		}
		require.Len(t, got, n)
		// First the dummy and the reserve, which have waited longest.
		require.Equal(t, []uint32{0, 1, 2, 3}[:min(n, reserve+1)], got[:min(n, reserve+1)])
		if n > reserve+1 {
			require.Equal(t, lows(hs)[:n-reserve-1], got[reserve+1:], "of %d", n)
		}
	}
}

// TestQueueKeepsItsDummy pops until the queue is empty: one slot stays, and is the dummy for
// slots that are appended later.
func TestQueueKeepsItsDummy(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 3, fifo: true})
	s := r.shards[0]
	for round := range 50 {
		var hs []uint64
		for {
			slot, h := r.tryTake(s)
			if slot == nil {
				break
			}
			live(slot, h, 1)
			hs = append(hs, h)
		}
		require.Len(t, hs, 2, "round %d", round)
		require.Equal(t, 1, s.Free())
		r.remove(t, s, hs...)
		r.reclaim(t, s)
		require.Equal(t, 3, s.Free())
		r.requireNoSelfLink(t)
	}
}

// TestReserveIsNeverHandedOut pops all slots after each way to give slots back: as many stay
// as the reserve has.
func TestReserveIsNeverHandedOut(t *testing.T) {
	const reserve, values = 3, 5
	r := newRig[uint64](t, setup[uint64]{slots: values + reserve + 1, fifo: true, reserve: reserve})
	s := r.shards[0]
	for round := range 40 {
		var hs []uint64
		for slot, h := r.tryTake(s); slot != nil; slot, h = r.tryTake(s) {
			live(slot, h, 1)
			hs = append(hs, h)
		}
		require.Len(t, hs, values, "round %d", round)
		require.True(t, s.Bare())
		require.Equal(t, reserve+1, s.Free())
		for i, h := range hs {
			if i <= round%values {
				r.remove(t, s, h)
			} else {
				s.Remove(h)
				r.reclaim(t, s) // one by one
			}
		}
		r.reclaim(t, s)
	}
}

// TestReserveIsWornFirst uses up a queue's generations. A slot of the reserve replaces each
// exhausted slot, until the reserve is empty.
func TestReserveIsWornFirst(t *testing.T) {
	const reserve, values, lives = 3, 2, 4
	r := newRig[uint64](t, setup[uint64]{
		slots: values + reserve + 1, fifo: true, reserve: reserve, first: shard.LastGeneration - 2*(lives-1),
	})
	s := r.shards[0]
	used := 0
	for {
		slot, h := r.tryTake(s)
		if slot == nil {
			break
		}
		live(slot, h, 1)
		r.remove(t, s, h)
		r.reclaim(t, s)
		used++
	}
	assert.GreaterOrEqual(t, used, (values+reserve)*lives)
	assert.LessOrEqual(t, used, (values+reserve+1)*lives)
	assert.Zero(t, r.arena.Reserve())
	assert.EqualValues(t, values+reserve, r.arena.Exhausted())
}

// TestQueueEndsWithAUsableSlot exhausts the last slot of a batch while another goroutine holds
// the queue. The queue must end with a slot that is in it, or slots behind are lost.
func TestQueueEndsWithAUsableSlot(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 6, fifo: true, first: shard.LastGeneration - 2})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 4, number)...)
	r.reclaim(t, s)
	var hs []uint64
	for slot, h := s.Pop(); slot != nil; slot, h = s.Pop() {
		live(slot, h, 1)
		hs = append(hs, h)
	}
	require.Len(t, hs, 4)
	require.False(t, shard.LastLife(hs[0]), "the first dummy")
	require.True(t, shard.LastLife(hs[1]))

	r.remove(t, s, hs[0], hs[1])
	require.True(t, s.EnterList())
	s.Reclaim(s)
	require.Zero(t, r.arena.Exhausted(), "the holder of the queue reclaims")
	s.LeaveList()
	r.reclaim(t, s)
	require.Equal(t, []uint32{shard.Low(hs[3]) + 1, shard.Low(hs[0])}, s.Order())

	slot, more := s.Refill(1)
	live(slot, more, 1)
	r.remove(t, s, more)
	r.reclaim(t, s)
	require.Equal(t, []uint32{shard.Low(hs[3]) + 1, shard.Low(hs[0]), shard.Low(more)}, s.Order())
}
