package pool_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

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

// After a cancellation a slow f is called less often than a fast one.
func TestEachStopsSlowCallsEarlier(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.Fill(t, p, 1000, testkit.Number)
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
	require.Less(t, after, eachCalls/2)
}

// Slots that f removes are reclaimed while Each goes on.
func TestEachPinsForFewCalls(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		reclaimed := false
		p, err := pool.New(&pool.Options[int]{Shards: 1, Reuse: reuse, Reset: func(v *int) {
			reclaimed = reclaimed || *v == 7
			*v = 0
		}})
		require.NoError(t, err)
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
		require.True(t, reclaimed)
		require.LessOrEqual(t, calls-removed, 2*eachCalls, "calls of f while a removed value waited")
		require.Equal(t, 9_999, p.Len())
	}
}

// A body without a way back to its loop keeps its pin. The bodies stand here in full,
// because the compiler must see that they never return before it drops what the code behind
// them would have used.
func TestPinOutlastsABodyWithoutAWayBack(t *testing.T) {
	type removed func(pool.Handle[stamp])
	type done func(*stamp) bool
	for name, loop := range map[string]func(p *pool.Pool[stamp], remove removed, look done){
		"All": func(p *pool.Pool[stamp], remove removed, look done) {
			for h, v := range p.All() {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			}
		},
		"Guard.All": func(p *pool.Pool[stamp], remove removed, look done) {
			g := p.Pin()
			defer g.Unpin()
			for h, v := range g.All() {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			}
		},
		"View": func(p *pool.Pool[stamp], remove removed, look done) {
			h := first(p)
			p.View(h, func(v *stamp) {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			})
		},
		"Each": func(p *pool.Pool[stamp], remove removed, look done) {
			_ = p.Each(context.Background(), 1, func(h pool.Handle[stamp], v *stamp) error {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			})
		},
		"DeleteFunc": func(p *pool.Pool[stamp], remove removed, look done) {
			p.DeleteFunc(func(h pool.Handle[stamp], v *stamp) bool {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tiny(t, &pool.Options[stamp]{Shards: 1})
			testkit.MustInsert(t, p, stamp{id: 7})
			w := p.Worker()
			looks, reused := 0, false
			require.Nil(t, testkit.Apart(func() {
				loop(p, func(h pool.Handle[stamp]) { p.Remove(h) }, func(v *stamp) bool {
					runtime.GC() // a finalizer may run
					churn(t, p, w, 10)
					looks++
					reused = reused || v.id != 7
					return looks == 20
				})
			}))
			require.Equal(t, 20, looks)
			require.False(t, reused)
			w.Close()
			testkit.RequireReclaimed(t, p) // and the pin is back
		})
	}
}
