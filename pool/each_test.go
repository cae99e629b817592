package pool_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/pool"
)

// Each worker looks at ctx itself: a fast f leaves no processor to a goroutine that
// would tell it.
func TestEachMakesFewCallsAfterCancel(t *testing.T) {
	large, small := pool.Must[int](nil), tiny[int](t, nil) // whose pieces of work are shorter than eachCalls
	fill(t, large, 100_000, number)
	fill(t, small, 200, number)
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
			require.LessOrEqual(t, after.Load(), int64(workers*pool.EachCalls), "%d workers", workers)
			if p == large {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
	}
}

// A slow f is not called so often again as a fast one.
func TestEachStopsSlowCallsEarlier(t *testing.T) {
	p := pool.Must[int](nil)
	fill(t, p, 1000, number)
	ctx, cancel := context.WithCancel(t.Context())
	after := 0
	err := p.Each(ctx, 1, func(pool.Handle[int], *int) error {
		if ctx.Err() != nil {
			after++
		}
		cancel()
		time.Sleep(10 * time.Millisecond)
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, after, pool.EachCalls/2)
}

// What f removes is reclaimed while Each goes on.
func TestEachPinsForFewCalls(t *testing.T) {
	for _, reuse := range reuses {
		reclaimed := false
		p, err := pool.New(&pool.Options[int]{Shards: 1, Reuse: reuse, Reset: func(v *int) {
			reclaimed = reclaimed || *v == 7
			*v = 0
		}})
		require.NoError(t, err)
		fill(t, p, 10_000, number)
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
		require.True(t, reclaimed)
		require.LessOrEqual(t, calls-removed, 2*pool.EachCalls, "calls of f while a removed value waited")
		require.Equal(t, 9_999, p.Len())
	}
}

// BenchmarkEach calls a function for each value, on one goroutine, against a loop
// under one guard that does so.
func BenchmarkEach(b *testing.B) {
	for _, live := range []int{10_000, 200_000} {
		f := fillAll(live, false)
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		sum := uint64(0)
		call := func(_ pool.Handle[small], v *small) error {
			sum += v.twice
			return nil
		}
		b.Run(fmt.Sprintf("impl=each/base=guard/live=%d", live), func(b *testing.B) {
			versus(b, func(n int) {
				for range n {
					_ = f.p.Each(ctx, 1, call)
				}
				sink.Add(sum)
			}, func(n int) {
				for range n {
					g := f.p.Pin()
					for h, v := range g.All() {
						if call(h, v) != nil {
							break
						}
					}
					g.Unpin()
				}
				sink.Add(sum)
			})
		})
	}
}
