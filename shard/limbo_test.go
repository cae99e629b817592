package shard_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/shard"
)

// budget is how long a storm of this package lasts.
func budget(t testing.TB) time.Duration {
	t.Helper()
	if testing.Short() {
		return 300 * time.Millisecond
	}
	return time.Second
}

// TestGoalIsReached asks for goals while a batch is sealed. When nothing waits
// any more, every goal must have been reached, or Synchronize would wait for a
// seal that never comes. It catches a goal that counts a seal twice which has
// begun and not yet taken.
func TestGoalIsReached(t *testing.T) {
	const least = 1_000
	r := newRig(t, setup[uint64]{slots: 8})
	s := r.shards[0]
	var stop atomic.Bool
	var asked, highest atomic.Uint64
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for !stop.Load() {
			highest.Store(max(highest.Load(), s.Goal()))
			if asked.Inc()%256 == 0 {
				runtime.Gosched() // nothing here can be preempted but by a signal
			}
		}
	}()
	defer wg.Wait()
	defer stop.Store(true)
	for round, end := 0, time.Now().Add(budget(t)); round < least || time.Now().Before(end); round++ {
		slot, h := s.Pop()
		if slot == nil {
			slot, h = s.Refill(1)
		}
		require.NotNil(t, slot)
		live(slot, h, 1)
		require.True(t, s.Remove(slot, h))
		s.Reclaim(s) // while somebody asks
		for n := asked.Load() + 2; asked.Load() < n; {
			runtime.Gosched() // until whoever asked meanwhile has his answer
		}
		s.Reclaim(s) // as Synchronize would
		require.Zero(t, s.Pending())
		require.GreaterOrEqual(t, s.Done(), highest.Load(), "batch %d: nothing waits, and a goal was not reached", round)
	}
}

// TestRemoveSucceedsOnce offers each verb a handle that another has removed.
func TestRemoveSucceedsOnce(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8})
	s := r.shards[0]
	for _, h := range r.fill(t, s, 3, number) {
		slot := r.arena.Slot(shard.Low(h))
		require.False(t, s.Remove(slot, h+2<<32), "ahead of its time")
		require.False(t, s.Remove(slot, h-1<<32), "even")
		r.remove(t, s, h)
		c := s.Removals()
		_, taken := s.Take(slot, h)
		require.False(t, taken)
		require.False(t, s.Remove(slot, h))
		require.False(t, c.Remove(slot, h))
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
			require.True(t, c.Remove(r.arena.Slot(shard.Low(h)), h))
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

// TestSealCountsBeforeItTakes: a goal is never below what a seal that is under
// way will finish.
func TestSealCountsBeforeItTakes(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4})
	s := r.shards[0]
	require.Equal(t, s.Done(), s.Goal(), "nothing waits")
	hs := r.fill(t, s, 2, number)
	g := r.arena.Domain.Pin()
	r.remove(t, s, hs[0])
	goal := s.Goal()
	require.Greater(t, goal, s.Done())
	s.Reclaim(s) // seals the first
	require.Equal(t, goal, s.Goal())
	r.remove(t, s, hs[1])
	require.Equal(t, goal+1, s.Goal(), "the second waits for the next seal")
	g.Unpin()
	s.Reclaim(s)
	require.Equal(t, goal, s.Done())
	s.Reclaim(s)
	require.Equal(t, goal+1, s.Done())
	require.Equal(t, s.Done(), s.Goal())
}
