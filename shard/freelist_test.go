package shard_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

func TestStackHandsOutTheLastFirst(t *testing.T) {
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

// TestReturnBurnsTheGeneration: a slot that goes back unused never enters the
// freelist with its generation again (I5).
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

func TestReturnRetiresTheSpent(t *testing.T) {
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

// TestAbandonNeverIssuesAHandleAgain gives every slot up that is handed out.
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
		r.reclaim(t, b) // b's stack is not empty now
		n, more := a.Reclaim(b)
		require.Equal(t, 3, n)
		require.False(t, more)
		assert.Zero(t, a.Free())
		assert.Equal(t, 6, b.Free())
		assert.Len(t, b.PopRun(100), 6)
	}
}
