package pool_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// first returns a live handle.
func first[T any](p *pool.Pool[T]) (h pool.Handle[T]) {
	for h = range p.All() {
		break
	}
	return h
}

// Each returns the first error of f, and ctx's error, also if ctx ends in the last call.
func TestEachReturnsErrors(t *testing.T) {
	wrong := errors.New("wrong")
	p := tiny[int](t, nil)
	none := func(pool.Handle[int], *int) error { t.Error("called"); return nil }
	require.NoError(t, p.Each(t.Context(), 0, none))
	require.ErrorIs(t, p.Each(testkit.Done(), 2, none), context.Canceled)
	for _, p := range []*pool.Pool[int]{p, pool.Must[int](nil)} { // pages of two slots, and of many
		testkit.MustInsert(t, p, 1)
		require.ErrorIs(t, p.Each(testkit.Done(), 2, none), context.Canceled)
		ctx, cancel := context.WithCancel(t.Context())
		require.ErrorIs(t, p.Each(ctx, 1, func(pool.Handle[int], *int) error { cancel(); return nil }), context.Canceled)
	}

	testkit.Fill(t, p, 1000, testkit.Number)
	for _, workers := range []int{1, 2, 7, 5000} {
		var calls atomic.Int64
		require.ErrorIs(t, p.Each(t.Context(), workers, func(pool.Handle[int], *int) error {
			if calls.Inc() == 10 {
				return wrong
			}
			return nil
		}), wrong)
		require.True(t, workers > 1 || calls.Load() == 10, "one worker should make ten calls")
	}
	require.Zero(t, p.Stats().Pinned)
}

// workers ≤ 0 takes GOMAXPROCS, and no more than asked for run at once.
func TestEachRunsInParallel(t *testing.T) {
	p := tiny[int](t, nil)
	testkit.Fill(t, p, 400, testkit.Number)
	for workers, want := range map[int]int64{1: 1, 3: 3, 0: int64(runtime.GOMAXPROCS(0)), -5: int64(runtime.GOMAXPROCS(0))} {
		var now, most atomic.Int64
		end := time.Now().Add(testkit.Patience())
		seen := make([]atomic.Int32, 401)
		require.NoError(t, p.Each(context.Background(), workers, func(_ pool.Handle[int], v *int) error {
			n := now.Inc()
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			seen[*v].Inc()
			for want > 1 && most.Load() == 1 && time.Now().Before(end) {
				time.Sleep(10 * time.Microsecond) // until a second one runs
			}
			now.Dec()
			return nil
		}))
		for v := 1; v <= 400; v++ {
			require.EqualValues(t, 1, seen[v].Load())
		}
		require.LessOrEqual(t, most.Load(), want, "workers %d", workers)
		if want > 1 {
			require.Greater(t, most.Load(), int64(1), "workers %d", workers)
		}
	}
}

// However many workers a caller allows, a small pool needs a few.
func TestEachTakesNoMoreWorkersThanSlots(t *testing.T) {
	p := tiny[int](t, nil)
	testkit.Fill(t, p, 4, testkit.Number)
	require.Less(t, testkit.Allocated(func() {
		require.NoError(t, p.Each(t.Context(), 1<<16, func(pool.Handle[int], *int) error { return nil }))
	}), uint64(1<<20))
}

// A few values run at once, as many as there are workers: those of a small pool, and those that lie
// side by side in a large one.
func TestEachSpreadsFewValues(t *testing.T) {
	for _, slots := range []int{8, 100, 50_000} {
		for workers := 2; workers <= 16; workers *= 2 {
			t.Run(fmt.Sprintf("slots=%d/workers=%d", slots, workers), func(t *testing.T) {
				p := pool.Must(&pool.Options[int]{Shards: 1})
				hs := testkit.Fill(t, p, max(slots, workers), testkit.Number)
				p.RemoveBatch(hs[workers:])
				var together sync.WaitGroup
				together.Add(workers)
				testkit.Within(t, func() {
					assert.NoError(t, p.Each(t.Context(), workers, func(pool.Handle[int], *int) error {
						together.Done()
						together.Wait() // for all others
						return nil
					}))
				})
			})
		}
	}
}

// However pieces are divided, each value comes once.
func TestEachDividesItsPieces(t *testing.T) {
	rnd := testkit.Rand(t)
	for range testkit.Long(200) {
		n := 1 + rnd.IntN(3000)
		p := tiny8(t, &pool.Options[int]{Shards: 1})
		hs := testkit.Fill(t, p, n, testkit.Number)
		live := n
		for i := range hs {
			if rnd.IntN(3) > 0 && p.Remove(hs[i]) {
				live--
			}
		}
		seen := make([]atomic.Int32, n+1)
		slow := 1 + rnd.IntN(200)
		var calls atomic.Int32
		require.NoError(t, p.Each(t.Context(), 1+rnd.IntN(8), func(_ pool.Handle[int], v *int) error {
			seen[*v].Inc()
			if *v%slow == 0 {
				time.Sleep(10 * time.Microsecond)
			}
			calls.Inc()
			return nil
		}))
		require.EqualValues(t, live, calls.Load())
		for v := range seen {
			require.LessOrEqual(t, seen[v].Load(), int32(1))
		}
	}
}

// When ctx is done, each goroutine comes to the end of its call, and makes no other.
func TestEachStopsBetweenSlowCalls(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.Fill(t, p, 1000, testkit.Number)
	for _, workers := range []int{1, 4} {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls atomic.Int32
		err := p.Each(ctx, workers, func(pool.Handle[int], *int) error {
			calls.Inc()
			cancel(why)
			time.Sleep(50 * time.Millisecond) // in which the end of ctx comes to Each
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, why)
		require.LessOrEqual(t, calls.Load(), int32(20*workers), "a busy machine may be late to tell Each, but not for a second")
	}
}

// TestEachClaimsOnlyLiveSlots: a goroutine of Each claims no slot before it has seen a value there. A claim costs a locked
// instruction, and most slots of a pool may be vacant.
func TestEachClaimsOnlyLiveSlots(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Shards: 1})
	hs := testkit.Fill(t, p, 1000, testkit.Number)
	live := hs[100]
	require.Equal(t, 999, p.RemoveBatch(slices.DeleteFunc(hs, func(h pool.Handle[int]) bool { return h == live })))
	calls := 0
	claimed := pool.ClaimedByEach(p, func(pool.Handle[int], *int) error { calls++; return nil })
	require.Equal(t, 1, calls)
	require.Equal(t, live.Index()+1, claimed)
}

// TestEachClaimsMoreIfCallsAreQuick: and one slot again once they are slow, so that others can take those behind.
func TestEachClaimsMoreIfCallsAreQuick(t *testing.T) {
	p := pool.Must[int](nil)
	for limit, more := range map[uint32]uint32{1: 4, 4: 16, 16: 64, 32: 64} {
		require.Equal(t, more, pool.EachLimit(p, limit, -time.Hour))
		require.EqualValues(t, 1, pool.EachLimit(p, limit, time.Hour))
	}
	require.EqualValues(t, 1, pool.EachLimit(p, 4, -time.Hour, time.Minute), "what was quick before makes up for nothing")
	require.EqualValues(t, 64, pool.EachLimit(p, 64, time.Hour), "it looks at the clock less often")
}

// TestEachPinsForFewSlots: vacant ones too. It looks at ctx as often as it pins.
func TestEachPinsForFewSlots(t *testing.T) {
	const n, most = 100_000, 4096
	p := pool.Must[int](nil)
	hs := testkit.Fill(t, p, n, testkit.Number)
	require.Equal(t, n-1, p.RemoveBatch(hs[:n-1]))
	ctx := &counting{Context: t.Context()}
	require.NoError(t, p.Each(ctx, 1, func(pool.Handle[int], *int) error { return nil }))
	require.GreaterOrEqual(t, ctx.looks, n/most)
}

// counting is a context that counts who asks whether it is done.
type counting struct {
	context.Context
	looks int
}

func (c *counting) Err() error {
	c.looks++
	return c.Context.Err()
}

// A panic in f reaches Each's caller with its value, after the other calls have ended.
func TestEachLetsPanicsUp(t *testing.T) {
	p := tiny[int](t, nil)
	testkit.Fill(t, p, 500, testkit.Number)
	type own struct{ n int }
	value := &own{7}
	for _, workers := range []int{1, 4} {
		var running atomic.Int64
		v := testkit.Recovered(func() {
			_ = p.Each(context.Background(), workers, func(_ pool.Handle[int], v *int) error {
				running.Inc()
				defer running.Dec()
				if *v == 50 {
					panic(value)
				}
				time.Sleep(time.Microsecond)
				return nil
			})
			t.Error("Each returned")
		})
		require.Same(t, value, v)
		require.Zero(t, running.Load(), "calls go on after Each")
		require.Zero(t, p.Stats().Pinned)

		for _, f := range []func(){func() { index([]int{}, 1) }, func() { panic(nil) }} {
			v = testkit.Recovered(func() { _ = p.Each(t.Context(), workers, func(pool.Handle[int], *int) error { f(); return nil }) })
			_, ok := v.(runtime.Error)
			require.Truef(t, ok, "%v", v)
		}

		testkit.Within(t, func() {
			err := p.Each(context.Background(), workers, func(pool.Handle[int], *int) error { runtime.Goexit(); return nil })
			require.ErrorContains(t, err, "Goexit")
		})
		require.Zero(t, p.Stats().Pinned)
	}
}

// index panics, as the runtime does.
func index(s []int, i int) { s[i] = 1 }

// eachCalls is how many calls of f Each may make before it looks at ctx, see its
// documentation, and under one pin.
const eachCalls = 32

// Each worker looks at ctx itself: a fast f may leave no processor to another goroutine.
func TestEachMakesFewCallsAfterCancel(t *testing.T) {
	large, small := pool.Must[int](nil), tiny[int](t, nil) // whose pieces of work are shorter than eachCalls
	testkit.Fill(t, large, 100_000, testkit.Number)
	testkit.Fill(t, small, 200, testkit.Number)
	for _, p := range []*pool.Pool[int]{large, small} {
		for _, workers := range []int{1, 2, 8} {
			ctx, cancel := context.WithCancel(t.Context())
			var calls, after atomic.Int64
			err := p.Each(ctx, workers, func(pool.Handle[int], *int) error {
				if ctx.Err() != nil {
					after.Inc()
				}
				if calls.Inc() == 10 {
					cancel()
				}
				return nil
			})
			require.LessOrEqual(t, after.Load(), int64(workers*eachCalls), "%d workers", workers)
			if p == large {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
	}
}

// Slots that f removes are reclaimed while Each goes on.
func TestEachPinsForFewCalls(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		reclaimed := false
		p := pool.Must(&pool.Options[int]{Shards: 1, Reuse: reuse, Reset: func(v *int) {
			reclaimed = reclaimed || *v == 7
			*v = 0
		}})
		testkit.Fill(t, p, 10_000, testkit.Number)
		calls, removed := 0, 0
		require.NoError(t, p.Each(t.Context(), 1, func(h pool.Handle[int], v *int) error {
			if reclaimed {
				return nil
			}
			calls++
			if *v == 7 {
				p.Remove(h)
				removed = calls
			}
			for range 100 {
				k, err := p.Insert(-1)
				if err != nil || !p.Remove(k) {
					return fmt.Errorf("%v: %w", k, err)
				}
			}
			return nil
		}))
		require.True(t, reclaimed, "the slots should be reclaimed")
		require.LessOrEqual(t, calls-removed, 2*eachCalls, "calls of f while a removed value waited")
		require.Equal(t, 9_999, p.Len())
	}
}

// A body or callback that exits its goroutine ends the pin at once. The model's panic.
func TestExitEndsThePin(t *testing.T) {
	p := tiny[int](t, nil)
	h := testkit.Fill(t, p, 3, testkit.Number)[1]
	exit := func(*int) { runtime.Goexit() }
	for name, leave := range map[string]func(){
		"View":       func() { p.View(h, exit) },
		"DeleteFunc": func() { p.DeleteFunc(func(_ pool.Handle[int], v *int) bool { exit(v); return true }) },
		"All": func() {
			for _, v := range p.All() {
				exit(v)
			}
		},
	} {
		testkit.Apart(leave)
		require.Zero(t, p.Stats().Pinned, name)
		require.Equal(t, 3, p.Len(), name)
	}
	for range 2 {
		testkit.Apart(func() {
			for _, v := range p.Drain() {
				exit(&v)
			}
		})
	}
	require.Equal(t, 1, p.Len(), "what was yielded is gone")
	testkit.RequireReclaimed(t, p)
}
