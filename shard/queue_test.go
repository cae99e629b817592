package shard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestQueueHandsOutTheOldestFirst removes more slots than one call reclaims, in
// many batches, and takes them again: in the order in which they were removed.
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

// TestQueueKeepsItsDummy pops until nothing is left: one slot stays, and serves
// as dummy for what is appended later.
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

// TestReserveIsNeverHandedOut pops whatever can be popped after each way to give slots
// back: so many rest as the reserve is.
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

// TestReserveIsWornFirst uses a queue's generations up: for each slot that is
// retired one of the reserve stands in, until none is left.
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

// TestQueueEndsWithASlotThatLives has the last slot of a batch used up, while another holds
// the queue. The queue must end with a slot that is in it, or what comes behind is lost.
func TestQueueEndsWithASlotThatLives(t *testing.T) {
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
	require.Zero(t, r.arena.Exhausted(), "who holds the queue reclaims")
	s.LeaveList()
	r.reclaim(t, s)
	require.Equal(t, []uint32{shard.Low(hs[3]) + 1, shard.Low(hs[0])}, s.Order())

	slot, more := s.Refill(1)
	live(slot, more, 1)
	r.remove(t, s, more)
	r.reclaim(t, s)
	require.Equal(t, []uint32{shard.Low(hs[3]) + 1, shard.Low(hs[0]), shard.Low(more)}, s.Order())
}
