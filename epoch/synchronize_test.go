package epoch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
)

func TestSynchronizeWaitsForGuards(t *testing.T) {
	d := epoch.New()
	g := d.Pin()
	var unpinned atomic.Bool
	time.AfterFunc(20*time.Millisecond, func() {
		unpinned.Store(true)
		g.Unpin()
	})
	require.NoError(t, d.Synchronize(context.Background()))
	assert.True(t, unpinned.Load())
}

func TestSynchronizeEndsWithItsContext(t *testing.T) {
	d := epoch.New()
	require.NoError(t, d.Synchronize(testkit.Done()), "there is nothing to wait for")
	g := d.Pin()
	defer g.Unpin()
	require.ErrorIs(t, d.Synchronize(testkit.Done()), context.Canceled)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	begin := time.Now()
	require.ErrorIs(t, d.Synchronize(ctx), context.DeadlineExceeded)
	assert.Less(t, time.Since(begin), 5*time.Second)
}

// TestSynchronizeDoesNotWaitForLaterGuards keeps a later guard pinned. Next tells when
// Synchronize has taken its stamp.
func TestSynchronizeDoesNotWaitForLaterGuards(t *testing.T) {
	d := epoch.New()
	early := d.Pin()
	result := make(chan error)
	go func() { result <- d.Synchronize(context.Background()) }()
	for d.Next() == d.Epoch() {
		time.Sleep(time.Millisecond) // until it has begun
	}
	later := d.Pin()
	early.Unpin()
	select {
	case err := <-result:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("Synchronize waits for a guard that was pinned after the call")
	}
	later.Unpin()
}

func TestWaitAsksOnceMoreWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	calls := 0
	err := epoch.Wait(ctx, func() bool {
		if calls++; calls == 30 { // in the sleeping half
			cancel(errors.New("cause"))
		}
		return calls > 30
	})
	require.NoError(t, err)
	require.Equal(t, 31, calls)
	require.ErrorIs(t, epoch.Wait(testkit.Done(), func() bool { return false }), context.Canceled)
	require.NoError(t, epoch.Wait(testkit.Done(), func() bool { return true }))
}
