package pending_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/pending"
)

func TestCallsAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates, and so do records")
	}
	calls := pending.Must[[4]int](nil)
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
		calls := pending.Must[int](nil)
		k, err := calls.Start()
		require.NoError(t, err)
		got := make(chan error)
		go func() {
			_, err := k.Wait(context.Background())
			got <- err
		}()
		time.Sleep(time.Millisecond)
		end(calls, k)
		require.Equal(t, want, testkit.Soon(t, got))
	}
}

// TestMisuse: the panics say what is wrong.
func TestMisuse(t *testing.T) {
	_, err := pending.New[int](&pending.Options{Capacity: -1})
	require.ErrorContains(t, err, "pending: Options.Capacity is -1;") // and not package pool's
	require.ErrorContains(t, testkit.Recovered(func() { pending.Must[int](&pending.Options{Shards: -1}) }).(error), "pending: Options.Shards is -1;")
	zero := new(pending.Calls[int])
	for _, f := range []func(){
		func() { _, _ = zero.Start() }, func() { _, _ = zero.StartWait(t.Context()) }, func() { zero.Deliver(1, 1) }, func() { zero.Fail(1, nil) },
		func() { zero.FailAll(nil) }, func() { zero.Close(nil) }, func() { zero.Len() },
	} {
		testkit.RequirePanicText(t, f, "pending: use of a zero Calls; get one from New or Must")
	}
	var none pending.Call[int]
	require.True(t, testkit.IsClosed(none.Done()), "a zero call's channel should be closed")
	require.False(t, none.Cancel(), "a zero call should have ended before")
	_, err = none.Wait(t.Context())
	require.Equal(t, pending.ErrEnded, err)
}

// StartWait waits for room: until a call ends, its context does, or the Calls are closed.
func TestStartWaitWaits(t *testing.T) {
	type started struct {
		call pending.Call[int]
		err  error
	}
	why := errors.New("why")
	for name, c := range map[string]struct {
		end  func(calls *pending.Calls[int], first pending.Call[int], cancel func(error))
		want []error
	}{
		"Deliver":   {func(calls *pending.Calls[int], first pending.Call[int], _ func(error)) { calls.Deliver(first.ID(), 1) }, nil},
		"Cancel":    {func(_ *pending.Calls[int], first pending.Call[int], _ func(error)) { first.Cancel() }, nil},
		"FailAll":   {func(calls *pending.Calls[int], _ pending.Call[int], _ func(error)) { calls.FailAll(nil) }, nil},
		"Wait ends": {func(_ *pending.Calls[int], first pending.Call[int], _ func(error)) { _, _ = first.WaitTimeout(0) }, nil},
		"Close":     {func(calls *pending.Calls[int], _ pending.Call[int], _ func(error)) { calls.Close(why) }, []error{why}},
		"context": {func(_ *pending.Calls[int], _ pending.Call[int], cancel func(error)) { cancel(why) },
			[]error{why, context.Canceled, pool.ErrFull}},
	} {
		t.Run(name, func(t *testing.T) {
			calls := pending.Must[int](&pending.Options{Capacity: 1})
			first, err := calls.StartWait(t.Context())
			require.NoError(t, err)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			got := make(chan started, 1)
			go func() {
				call, err := calls.StartWait(ctx)
				got <- started{call, err}
			}()
			time.Sleep(time.Millisecond)
			require.Empty(t, got)
			c.end(calls, first, cancel)
			s := testkit.Soon(t, got)
			for _, want := range c.want {
				require.ErrorIs(t, s.err, want)
			}
			if c.want == nil {
				require.NoError(t, s.err)
				require.True(t, calls.Deliver(s.call.ID(), 1), "the call should be outstanding")
			}
		})
	}
}

// watched is a context that counts what waits for its end.
type watched struct {
	context.Context
	waits atomic.Int64
}

func (*watched) Value(any) any { return nil } // or package context would not ask AfterFunc

func (w *watched) AfterFunc(f func()) func() bool {
	w.waits.Add(1)
	stop := context.AfterFunc(w.Context, f)
	return func() bool { w.waits.Add(-1); return stop() }
}

// TestStartWaitThatSleptLeavesNothing, in the Calls or in its context, which may live on for long.
func TestStartWaitThatSleptLeavesNothing(t *testing.T) {
	ctx := &watched{Context: t.Context()}
	calls := pending.Must[int](&pending.Options{Capacity: 1})
	first, err := calls.Start()
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := calls.StartWait(ctx)
		done <- err
	}()
	testkit.Until(t, func() bool { return pending.Sleepers(calls) == 1 && ctx.waits.Load() == 1 })
	first.Cancel()
	require.NoError(t, testkit.Soon(t, done))
	require.Zero(t, pending.Sleepers(calls))
	require.Zero(t, ctx.waits.Load())
}

// TestAnswerStaysWithItsCall: an answer for which nobody waits yet reaches no other call, and is not
// lost. A Deliver that let the waiter serve another call would also block in the next one.
func TestAnswerStaysWithItsCall(t *testing.T) {
	calls := pending.Must[int](nil)
	for want := range 10 {
		first, err := calls.Start()
		require.NoError(t, err)
		require.True(t, calls.Deliver(first.ID(), want), "the call should be outstanding")
		second, err := calls.Start()
		require.NoError(t, err)
		_, err = second.Wait(testkit.Done())
		require.ErrorIs(t, err, context.Canceled)
		got, err := first.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestRefusalSpeaksOfCalls, and not of the table, which a caller of Start does not have.
func TestRefusalSpeaksOfCalls(t *testing.T) {
	calls := pending.Must[int](&pending.Options{Capacity: 1})
	_, err := calls.Start()
	require.NoError(t, err)
	_, err = calls.Start()
	require.ErrorIs(t, err, pool.ErrFull)
	require.EqualError(t, err, "pending: full; outstanding calls: 1, as many as Capacity")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errLost)
	_, err = calls.StartWait(ctx)
	require.ErrorIs(t, err, pool.ErrFull)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "pending: full; outstanding calls: 1, as many as Capacity: "+errLost.Error())
}

// A goroutine selects on calls. Each way to end one closes its channel.
func TestDoneIsClosed(t *testing.T) {
	calls := pending.Must[int](nil)
	for name, end := range map[string]func(k pending.Call[int]){
		"Deliver": func(k pending.Call[int]) { calls.Deliver(k.ID(), 7) },
		"Fail":    func(k pending.Call[int]) { calls.Fail(k.ID(), errFailed) },
		"FailAll": func(k pending.Call[int]) { calls.FailAll(errLost) },
		"Cancel":  func(k pending.Call[int]) { k.Cancel() },
		"Wait":    func(k pending.Call[int]) { _, _ = k.Wait(testkit.Done()) },
		"Timeout": func(k pending.Call[int]) { _, _ = k.WaitTimeout(0) },
	} {
		k, err := calls.Start()
		require.NoError(t, err)
		done := k.Done()
		require.Equal(t, done, k.Done())
		other, err := calls.Start()
		require.NoError(t, err)
		require.False(t, testkit.IsClosed(done), name)
		go end(k)
		testkit.Soon(t, done)
		require.Equal(t, name == "FailAll", testkit.IsClosed(other.Done()))
		_, _ = k.WaitTimeout(0)
		_, _ = other.WaitTimeout(0)
		again, err := calls.Start() // by a waiter that served before
		require.NoError(t, err)
		require.True(t, testkit.IsClosed(k.Done()), name)
		require.False(t, testkit.IsClosed(again.Done()), name)
		again.Cancel()
	}
	require.Zero(t, calls.Len())
}

// A timer of GODEBUG=asynctimerchan=1, which programs with go 1.22 in their go.mod have, may leave a
// tick behind. It must not end a later call.
func TestStaleTicksEndNothing(t *testing.T) {
	t.Setenv("GODEBUG", "asynctimerchan=1")
	calls := pending.Must[int](nil)
	for range 50 {
		k, err := calls.Start()
		require.NoError(t, err)
		calls.Deliver(k.ID(), 7)
		_, _ = k.WaitTimeout(1) // has an answer and a tick, and takes either
		k, err = calls.Start()
		require.NoError(t, err)
		time.AfterFunc(time.Millisecond, func() { calls.Deliver(k.ID(), 8) })
		v, err := k.WaitTimeout(time.Hour)
		require.NoError(t, err)
		require.Equal(t, 8, v)
	}
}

// TestCallsArePrintedBesideCalls: without a race.
func TestCallsArePrintedBesideCalls(t *testing.T) {
	c := pending.Must[int](nil)
	require.Equal(t, "*pending.Calls[int]: a zero Calls", fmt.Sprint(new(pending.Calls[int])))
	testkit.Together(2, func(k int) {
		for range 100 {
			if k == 0 {
				require.Regexp(t, `^\*pending\.Calls\[int\]: [0-9]+ calls$`, fmt.Sprintf("%v", c))
				continue
			}
			_, _ = c.Start()
		}
	})
	require.Equal(t, "*pending.Calls[int]: 100 calls", fmt.Sprint(c))
}

// TestCloseEndsAStartWaitBesideAnOpenLoop, which keeps the places of the calls that Close ends. Until the loop
// ends, a Start is refused, and its error does not tell of calls that have ended.
func TestCloseEndsAStartWaitBesideAnOpenLoop(t *testing.T) {
	c := pending.Must[int](&pending.Options{Capacity: 4, Shards: 1})
	for range 4 {
		_, err := c.Start()
		require.NoError(t, err)
	}
	_, err := c.Start()
	require.EqualError(t, err, "pending: full; outstanding calls: 4, as many as Capacity")
	for k := range c.All() {
		k.Cancel()
		c.FailAll(nil)
		require.Zero(t, c.Len())
		_, err := c.Start()
		require.ErrorIs(t, err, pool.ErrFull)
		require.EqualError(t, err, "pending: full until a loop of All ends, which keeps the places of calls that have ended; Capacity: 4")

		ended := make(chan error)
		for range 3 {
			go func() {
				_, err := c.StartWait(t.Context())
				ended <- err
			}()
		}
		testkit.Until(t, func() bool { return c.Stats().Waiting == 3 })
		closing := errors.New("closing")
		c.Close(closing)
		testkit.Within(t, func() {
			for range 3 {
				require.ErrorIs(t, <-ended, closing)
			}
		})
		break
	}
}

// TestRefusedStartsKeepTheirWaiter: a Start that is refused allocates its error, and no waiter each time.
func TestRefusedStartsKeepTheirWaiter(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	c := pending.Must[string](&pending.Options{Capacity: 1})
	_, err := c.Start()
	require.NoError(t, err)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { _, _ = c.Start() }), 1.0)
}
