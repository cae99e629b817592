package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/check/testkit"
)

// TestQueueEndsOnceEveryWorkerIsIdle: workers grow a binary tree of jobs. The queue must
// end when the tree is complete, not sooner, and hand out each job once.
func TestQueueEndsOnceEveryWorkerIsIdle(t *testing.T) {
	const depth = 12
	for _, workers := range []int{1, 2, 3, 16} {
		q := newQueue[int](workers)
		q.push(depth)
		var taken atomic.Int32
		var group errgroup.Group
		testkit.Within(t, func() {
			for range workers {
				group.Go(func() error {
					for {
						d, ok := q.take()
						if !ok {
							return nil
						}
						taken.Inc()
						if d > 0 {
							q.push(d-1, d-1)
						}
					}
				})
			}
			require.NoError(t, group.Wait())
		})
		require.EqualValues(t, 1<<(depth+1)-1, taken.Load(), "%d workers", workers)
	}
}

func TestQueueCloseWakesParked(t *testing.T) {
	q := newQueue[int](3)
	var group errgroup.Group
	for range 2 { // the third never calls take, so the queue does not end by itself
		group.Go(func() error {
			_, ok := q.take()
			require.False(t, ok)
			return nil
		})
	}
	require.Eventually(t, func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.parked == 2
	}, time.Minute, time.Millisecond)
	q.close()
	testkit.Within(t, func() { require.NoError(t, group.Wait()) })
	q.push(1)
	_, ok := q.take()
	require.False(t, ok, "a closed queue drops its jobs")
}
