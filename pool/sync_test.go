package pool_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

func TestSynchronizeWithNothingToWaitFor(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[int]{Reuse: reuse})
		require.NoError(t, p.Synchronize(testkit.Done()), "empty")
		testkit.Fill(t, p, 5, testkit.Number)
		require.NoError(t, p.Synchronize(testkit.Done()), "nothing removed")
		g := p.Pin()
		require.NoError(t, p.Synchronize(testkit.Done()), "nothing removed, a guard")
		g.Unpin()
		p.Clear()
		require.NoError(t, p.Synchronize(context.Background()))
		require.NoError(t, p.Synchronize(testkit.Done()), "all reclaimed")
	}
}

func TestSynchronizeWaitsForGuards(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[int]{Reuse: reuse, Shards: 2})
		hs := testkit.Fill(t, p, 100, testkit.Number)
		g := p.Pin()
		p.RemoveBatch(hs)

		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded, "under a guard of one's own")
		cancel()
		require.ErrorIs(t, p.Synchronize(testkit.Done()), context.Canceled)
		require.Equal(t, 100, p.Stats().Limbo)

		ended := make(chan error, 1)
		go func() { ended <- p.Synchronize(context.Background()) }()
		select {
		case err := <-ended:
			t.Fatalf("Synchronize under a guard returns %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		g.Unpin()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(20 * time.Second):
			t.Fatal("Synchronize goes on after the guard has gone")
		}
		require.Zero(t, p.Stats().Limbo)
	}
}

// Guards that are pinned later, one after the other, do not delay Synchronize for ever.
func TestSynchronizeEndsUnderPins(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 2})
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				g := p.Pin()
				// A goroutine that is descheduled here may stall the others.
				if h, err := p.Insert(1); err == nil && !p.Remove(h) {
					t.Errorf("lost %v", h)
				}
				g.Unpin()
				runtime.Gosched()
			}
		}()
	}
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		require.NoError(t, p.Synchronize(ctx))
		cancel()
	}
	stop.Store(true)
	wg.Wait()
	testkit.RequireReclaimed(t, p)
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
