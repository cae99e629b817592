package shard_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
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
			asked.Inc()
		}
	}()
	defer wg.Wait()
	defer stop.Store(true)
	for round, end := 0, time.Now().Add(budget(t)); round < least || time.Now().Before(end); round++ {
		slot, h := s.Pop(r.space.Table.Pages())
		if slot == nil {
			slot, h = s.Refill(1)
		}
		require.NotNil(t, slot)
		live(slot, h, 1)
		require.True(t, s.Remove(slot, h))
		s.Reclaim(s, true) // while somebody asks
		for n := asked.Load() + 2; asked.Load() < n; {
			runtime.Gosched() // until whoever asked meanwhile has his answer
		}
		s.Reclaim(s, true) // as Synchronize would
		require.Zero(t, s.Pending())
		require.GreaterOrEqual(t, s.Done(), highest.Load(), "batch %d: nothing waits, and a goal was not reached", round)
	}
}
