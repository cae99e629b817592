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

// TestReserveIsNeverHandedOut pops all slots after each way to give slots back: as many stay
// as the reserve has, and the dummy.
func TestReserveIsNeverHandedOut(t *testing.T) {
	const values = 5
	for _, reserve := range []int{0, 3} {
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
				r.remove(t, s, h)
				if i > round%values {
					r.reclaim(t, s) // one by one
				}
			}
			r.reclaim(t, s)
			r.requireNoSelfLink(t)
		}
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
