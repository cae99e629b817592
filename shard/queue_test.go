package shard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
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
		require.Zero(t, s.Credit())
		slot, _ := r.tryTake(s)
		require.Nil(t, slot, "the reserve stays")
		g := r.space.Domain.Pin() // all in few batches
		r.remove(t, s, hs...)
		g.Unpin()
		for s.Pending() > 0 {
			s.Reclaim(s, shard.Scan)
			r.requireNoSelfLink(t)
		}
		require.EqualValues(t, n, s.Credit())
		require.Equal(t, n+reserve+1, s.Free(), "the dummy included")
		var got []uint32
		for s.TakeCredit() {
			_, h := s.Pop()
			require.NotZero(t, h)
			got = append(got, shard.Low(h))
		}
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
	r := newRig[uint64](t, setup[uint64]{slots: 4, fifo: true, reserve: 2})
	s := r.shards[0]
	for round := range 50 {
		var hs []uint64
		for {
			slot, h := s.Pop()
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

func TestInitQueueWantsMemoryInOnePiece(t *testing.T) {
	var sp shard.Space[uint64]
	sp.Domain, sp.First, sp.FIFO = epoch.New(), 1, true
	sp.Table.Init(3, tinyShift, false)
	sp.Table.Provide(3)
	assert.False(t, new(shard.Shard[uint64]).Init(&sp, 0, 3), "four slots of three")
}

func TestCreditIsNeverOverdrawn(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4, fifo: true, reserve: 1})
	s := r.shards[0]
	assert.False(t, s.TakeCredit())
	s.GiveCredit(2)
	assert.True(t, s.TakeCredit())
	assert.True(t, s.TakeCredit())
	assert.False(t, s.TakeCredit())
	assert.Zero(t, s.Credit())
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
	assert.Zero(t, r.space.Reserve.Load())
	assert.EqualValues(t, values+reserve, r.space.Exhausted.Load())
}
