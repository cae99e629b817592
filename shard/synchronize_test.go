package shard_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
)

// TestGoalsAreReachedWhileOthersRemove: a goal is reached after as many steps as what waited before
// needs, and a call that must not wait for a guard gives up after as few, although a value is removed
// between any two steps.
func TestGoalsAreReachedWhileOthersRemove(t *testing.T) {
	const n, most = 1200, 16
	everyKind(t, func(t *testing.T, set setup[*int]) {
		for _, before := range []int{1, 64, 65, 130, 1000} {
			for _, stalls := range []bool{false, true} {
				set.slots = n
				r := newRig(t, set)
				s := r.shards[0]
				hs := r.fill(t, s, n, pointer)
				next := func() {
					r.leave(t, s, hs[0])
					hs = hs[1:]
				}
				g := r.arena.Domain.Pin()
				for range before {
					r.remove(t, s, hs[0])
					hs = hs[1:]
				}
				if !stalls {
					g.Unpin()
				}
				goal := s.NewGoal()
				steps, reached := 0, false
				for more := true; more && !reached; steps++ {
					require.Less(t, steps, most+before/16, "steps, with %d slots that waited", before)
					more, reached = goal.Step()
					next()
				}
				require.Equal(t, !stalls, reached)
				if stalls {
					g.Unpin()
				}
				for s.Reclaim(nil) {
				}
				requireFinished(t, s)
			}
		}
	})
}

// TestSynchronizeStopsAfterAsMuchAsACallReclaims, if its context is done: it looks twice. A Trim goes on.
func TestSynchronizeStopsAfterAsMuchAsACallReclaims(t *testing.T) {
	const n = 4 * shard.ReclaimMost
	r := newRig(t, setup[uint64]{slots: n, reset: func(*uint64) {}})
	s := r.shards[0]
	r.leave(t, s, r.fill(t, s, n, number)...)
	require.ErrorIs(t, r.arena.Synchronize(testkit.Done()), context.Canceled)
	require.Equal(t, n-2*shard.ReclaimMost, s.Pending())
	r.arena.Trim()
	require.Zero(t, s.Pending())
}

// doneOnce is a context that calls a function when it is asked first, and is done.
type doneOnce struct {
	context.Context
	first sync.Once
	call  func()
}

func (c *doneOnce) Err() error {
	c.first.Do(c.call)
	return context.Canceled
}

// TestGoalEndsUnderTheLock: a Synchronize that gives up waits for the lock before it touches the backlog.
func TestGoalEndsUnderTheLock(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4})
	s := r.shards[0]
	hs := r.fill(t, s, 4, number)
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	r.remove(t, s, hs...)
	locked, done := make(chan bool, 1), make(chan error, 1)
	ctx := &doneOnce{Context: t.Context(), call: func() { s.Lock(); locked <- true }}
	go func() { done <- r.arena.Synchronize(ctx) }()
	require.True(t, testkit.Soon(t, locked))
	for range 1000 {
		runtime.Gosched() // it reaches the lock
	}
	require.Empty(t, done)
	s.Unlock()
	require.ErrorIs(t, testkit.Soon(t, done), context.Canceled)
}
