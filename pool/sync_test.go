package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Synchronize waits for guards from before it, if anything was removed.
func TestSynchronizeWaitsForGuards(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[int]{Reuse: reuse, Shards: 2})
		require.NoError(t, p.Synchronize(testkit.Done()), "empty")
		hs := testkit.Fill(t, p, 100, testkit.Number)
		g := p.Pin()
		require.NoError(t, p.Synchronize(testkit.Done()), "nothing removed")
		p.RemoveBatch(hs)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded, "under a guard of one's own")
		cancel()
		require.ErrorIs(t, p.Synchronize(testkit.Done()), context.Canceled)
		require.Equal(t, 100, p.Stats().Limbo)

		var unpinned atomic.Bool
		time.AfterFunc(20*time.Millisecond, func() { unpinned.Store(true); g.Unpin() })
		testkit.Within(t, func() { require.NoError(t, p.Synchronize(t.Context())) })
		require.True(t, unpinned.Load())
		require.Zero(t, p.Stats().Limbo)
		require.NoError(t, p.Synchronize(testkit.Done()), "all reclaimed")
	}
}

// Synchronize waits for what a running DeleteFunc has removed so far, and so for its pin.
func TestSynchronizeWaitsForADeleteFuncUnderWay(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := pool.Must[int](&pool.Options[int]{Reuse: reuse})
		testkit.Fill(t, p, 10, testkit.Number)
		n := 0
		p.DeleteFunc(func(pool.Handle[int], *int) bool {
			if n++; n > 1 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				require.Equal(t, n-1, p.Stats().Limbo)
				require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded)
			}
			return true
		})
		require.Equal(t, 10, n)
		testkit.RequireReclaimed(t, p)
	}
}
