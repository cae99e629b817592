package pending_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/pending"
)

func TestCallsAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates, and so do records")
	}
	calls := pending.New[[4]int](nil)
	ctx := context.Background()
	for name, do := range map[string]func(k pending.Call[[4]int]){
		"Wait":        func(k pending.Call[[4]int]) { calls.Deliver(k.ID(), [4]int{1}); _, _ = k.Wait(ctx) },
		"WaitTimeout": func(k pending.Call[[4]int]) { calls.Deliver(k.ID(), [4]int{1}); _, _ = k.WaitTimeout(time.Minute) },
		"late":        func(k pending.Call[[4]int]) { _, _ = k.WaitTimeout(0); calls.Deliver(k.ID(), [4]int{1}) },
		"Fail":        func(k pending.Call[[4]int]) { calls.Fail(k.ID(), errFailed); _, _ = k.Wait(ctx) },
		"FailAll":     func(k pending.Call[[4]int]) { calls.FailAll(errLost); _, _ = k.Wait(ctx) },
		"Cancel":      func(k pending.Call[[4]int]) { k.Cancel(); _, _ = k.Wait(ctx) },
	} {
		once := func() {
			k, err := calls.Start()
			require.NoError(t, err)
			do(k)
		}
		for range 1000 { // the pages and the waiters
			once()
		}
		require.Zero(t, testing.AllocsPerRun(1000, once), name)
	}
}

// TestWaitThatBlocksEnds: every end reaches a Wait that is blocked. The others are made
// before their Wait, so that they cannot block a test.
func TestWaitThatBlocksEnds(t *testing.T) {
	for want, end := range map[error]func(*pending.Calls[int], pending.Call[int]){
		nil:              func(c *pending.Calls[int], k pending.Call[int]) { c.Deliver(k.ID(), 7) },
		errFailed:        func(c *pending.Calls[int], k pending.Call[int]) { c.Fail(k.ID(), errFailed) },
		errLost:          func(c *pending.Calls[int], k pending.Call[int]) { c.FailAll(errLost) },
		errShut:          func(c *pending.Calls[int], k pending.Call[int]) { c.Close(errShut) },
		pending.ErrEnded: func(_ *pending.Calls[int], k pending.Call[int]) { k.Cancel() },
	} {
		calls := pending.New[int](nil)
		k, err := calls.Start()
		require.NoError(t, err)
		got := make(chan error)
		go func() {
			_, err := k.Wait(context.Background())
			got <- err
		}()
		time.Sleep(time.Millisecond)
		end(calls, k)
		select {
		case err := <-got:
			require.Equal(t, want, err)
		case <-time.After(5 * time.Second):
			t.Fatalf("a Wait does not end with %v", want)
		}
	}
}

// TestMisuse: the panics say what is wrong.
func TestMisuse(t *testing.T) {
	require.ErrorContains(t, testkit.Recovered(func() { pending.New[int](&pending.Options{Capacity: -1}) }).(error), "Capacity is -1")
	testkit.RequirePanicText(t, func() { _, _ = new(pending.Calls[int]).Start() }, "pending: ", "New")
}
