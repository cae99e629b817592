//go:build go1.25

package pending_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool/pending"
)

// TestBubblesShareCalls: one after the other, calls of each wait, for answers and for room.
func TestBubblesShareCalls(t *testing.T) {
	calls := pending.Must[int](&pending.Options{Capacity: 1})
	round := func(t *testing.T) {
		for name, wait := range map[string]func(k pending.Call[int]) (int, error){
			"Wait":        func(k pending.Call[int]) (int, error) { return k.Wait(t.Context()) },
			"WaitTimeout": func(k pending.Call[int]) (int, error) { return k.WaitTimeout(time.Hour) },
			"Done":        func(k pending.Call[int]) (int, error) { <-k.Done(); return k.Wait(t.Context()) },
		} {
			k, err := calls.Start()
			require.NoError(t, err, name)
			go func() {
				time.Sleep(time.Millisecond)
				calls.Deliver(k.ID(), 7)
			}()
			v, err := wait(k)
			require.NoError(t, err, name)
			require.Equal(t, 7, v, name)
		}
		k, err := calls.Start()
		require.NoError(t, err)
		_, err = k.WaitTimeout(time.Millisecond)
		require.Equal(t, context.DeadlineExceeded, err)

		k, err = calls.Start()
		require.NoError(t, err)
		go func() {
			time.Sleep(time.Millisecond)
			calls.Deliver(k.ID(), 7)
		}()
		other, err := calls.StartWait(t.Context())
		require.NoError(t, err)
		_, err = k.Wait(t.Context())
		require.NoError(t, err)
		require.True(t, other.Cancel())
	}
	round(t)
	for range 3 {
		synctest.Test(t, round)
	}
	round(t)
}

// TestAgesGrow from the Start of each call on, also in a waiter that has served another.
func TestAgesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := pending.Must[int](&pending.Options{Ages: true, Shards: 1})
		ages := func() (all []time.Duration) {
			for k, age := range calls.All() {
				require.NotZero(t, k.ID())
				all = append(all, age)
			}
			slices.Sort(all)
			oldest, ok := calls.OldestAge()
			require.Equal(t, len(all) > 0, ok)
			require.Equal(t, slices.Max(append(all, 0)), oldest)
			return all
		}
		require.Empty(t, ages())
		time.Sleep(time.Hour)
		first, _ := calls.Start()
		require.Equal(t, []time.Duration{0}, ages())
		time.Sleep(time.Minute)
		second, _ := calls.Start()
		time.Sleep(time.Second)
		require.Equal(t, []time.Duration{time.Second, time.Minute + time.Second}, ages())
		first.Cancel()
		require.Equal(t, []time.Duration{time.Second}, ages())
		_, _ = calls.Start()
		require.Equal(t, []time.Duration{0, time.Second}, ages())
		calls.Deliver(second.ID(), 1)
		_, _ = second.Wait(t.Context())
		require.Equal(t, []time.Duration{0}, ages())
	})
}
