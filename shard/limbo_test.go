package shard_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestManyProcessorsReclaimOften: if a scan visits very many cells, a quarter as many removals
// pay for it.
func TestManyProcessorsReclaimOften(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(128))
	const slots = 1024
	r := newRig[uint64](t, setup[uint64]{slots: slots})
	s := r.shards[0]
	cells := r.arena.Domain.Scanned()
	require.Greater(t, slots, cells/4)
	require.Greater(t, cells/4, shard.Batch)
	for i, h := range r.fill(t, s, cells/4, number) {
		require.Equal(t, i, s.Pending())
		require.True(t, s.Remove(h))
	}
	require.Zero(t, s.Pending())
}

// TestRemoveSucceedsOnce calls each verb with a handle that was removed.
func TestRemoveSucceedsOnce(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8})
	s := r.shards[0]
	for _, h := range r.fill(t, s, 3, number) {
		require.False(t, s.Remove(h+2<<32), "ahead of its time")
		require.False(t, s.Remove(h-1<<32), "even")
		r.remove(t, s, h)
		c := s.Removals()
		_, taken := s.Take(h)
		require.False(t, taken)
		require.False(t, s.Remove(h))
		require.False(t, c.Remove(h))
		require.Zero(t, c.Len())
		r.requireNoSelfLink(t)
	}
}

// TestChainsKeepTheirOrder retires chains of every length between two slots.
func TestChainsKeepTheirOrder(t *testing.T) {
	for n := range 6 {
		r := newRig[uint64](t, setup[uint64]{slots: 8})
		s := r.shards[0]
		hs := r.fill(t, s, n+2, number)
		r.remove(t, s, hs[0])
		c := s.Removals()
		for _, h := range hs[1 : n+1] {
			require.True(t, c.Remove(h))
			r.requireNoSelfLink(t)
		}
		require.Equal(t, n, c.Len())
		c.End()
		require.Zero(t, c.Len())
		c.End() // an empty one
		r.remove(t, s, hs[n+1])
		require.Equal(t, n+2, s.Pending())
		r.requireNoSelfLink(t)
		r.reclaim(t, s)
		for i := n + 1; i >= 0; i-- {
			_, h := s.Pop()
			require.Equal(t, text(shard.Reborn(hs[i])), text(h), "chain of %d", n)
		}
	}
}

// TestGoalsFollowSeals: each goal is the number of the batch with the last removed slot, and
// is reached when that batch is finished.
func TestGoalsFollowSeals(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4})
	s := r.shards[0]
	goal := func() uint32 {
		number, known := s.Goal()
		require.True(t, known)
		return number
	}
	require.True(t, s.Finished(goal()), "nothing waits")
	hs := r.fill(t, s, 2, number)
	g := r.arena.Domain.Pin()
	r.remove(t, s, hs[0])
	first := goal()
	require.False(t, s.Finished(first))
	require.Equal(t, first, goal(), "nothing was removed since")
	require.True(t, s.Finished(first-1))
	r.remove(t, s, hs[1])
	second := goal()
	require.Equal(t, first+1, second)
	g.Unpin()
	for !s.Finished(second) {
		s.Reclaim(s)
	}
	require.True(t, s.Finished(first))
	require.Zero(t, s.Pending())
}
