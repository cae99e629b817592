package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A pin ends at once if a panic or Goexit leaves a loop or a callback. What loops that remove
// do is in TestLeavingMidwayKeepsWhatWasRemoved.
func TestPanicInLoopGivesThePinBack(t *testing.T) {
	for _, exit := range []bool{false, true} {
		leave := func(pool.Handle[int], *int) {
			if exit {
				runtime.Goexit()
			}
			panic("left")
		}
		p := tiny(t, &pool.Options[int]{Capacity: 10})
		testkit.Fill(t, p, 10, testkit.Number)
		for name, f := range map[string]func(){
			"All": func() {
				for h, v := range p.All() {
					leave(h, v)
				}
			},
			"View": func() { p.View(first(p), func(v *int) { leave(0, v) }) },
			"InsertFunc": func() {
				p.Remove(first(p))
				_, _ = p.InsertFunc(leave)
			},
			"Guard.All": func() {
				g := p.Pin()
				defer g.Unpin()
				for h, v := range g.All() {
					leave(h, v)
				}
			},
		} {
			v := testkit.Apart(f)
			require.Equalf(t, exit, v == nil, "%s: %v", name, v)
			require.Zerof(t, p.Stats().Pinned, "after %s", name)
		}
	}
}

// first returns a live handle.
func first[T any](p *pool.Pool[T]) (h pool.Handle[T]) {
	for h = range p.All() {
		break
	}
	return h
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	p := tiny[int](t, nil)
	testkit.Fill(t, p, 1000, testkit.Number)
	wrong := errors.New("wrong")
	for _, workers := range []int{1, 2, 7, 5000} {
		var calls atomic.Int64
		for range 20 { // the tenth call may be preempted before it returns
			calls.Store(0)
			err := p.Each(context.Background(), workers, func(pool.Handle[int], *int) error {
				if calls.Inc() == 10 {
					return wrong
				}
				runtime.Gosched()
				return nil
			})
			require.ErrorIs(t, err, wrong)
			if calls.Load() < 1000 {
				break
			}
		}
		require.Less(t, calls.Load(), int64(1000))
	}
	calls := 0
	require.ErrorIs(t, p.Each(context.Background(), 1, func(pool.Handle[int], *int) error { calls++; return wrong }), wrong)
	require.Equal(t, 1, calls)
}

func TestEachAnswersToItsContext(t *testing.T) {
	empty, p := tiny[int](t, nil), tiny[int](t, nil)
	testkit.Fill(t, p, 1000, testkit.Number)
	for _, p := range []*pool.Pool[int]{empty, p} {
		err := p.Each(testkit.Done(), 2, func(pool.Handle[int], *int) error { t.Error("called"); return nil })
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, empty.Each(context.Background(), 0, func(pool.Handle[int], *int) error { t.Error("called"); return nil }))

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := p.Each(ctx, 1, func(pool.Handle[int], *int) error { time.Sleep(time.Millisecond); return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Zero(t, p.Stats().Pinned)
}

// Each returns ctx's error also if ctx ends in the last call.
func TestEachSeesAContextThatEndsWithTheLastCall(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.MustInsert(t, p, 1)
	ctx, cancel := context.WithCancel(context.Background())
	err := p.Each(ctx, 1, func(pool.Handle[int], *int) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
}

// workers ≤ 0 takes GOMAXPROCS, and no more than asked for run at once.
func TestEachRunsInParallel(t *testing.T) {
	p := tiny[int](t, nil)
	testkit.Fill(t, p, 400, testkit.Number)
	for workers, want := range map[int]int64{1: 1, 3: 3, 0: int64(runtime.GOMAXPROCS(0)), -5: int64(runtime.GOMAXPROCS(0))} {
		var now, most atomic.Int64
		end := time.Now().Add(20 * time.Second)
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

		v = testkit.Recovered(func() {
			_ = p.Each(context.Background(), workers, func(pool.Handle[int], *int) error { return index([]int{}, 1) })
		})
		_, ok := v.(runtime.Error)
		require.Truef(t, ok, "%v", v)

		v = testkit.Recovered(func() {
			_ = p.Each(context.Background(), workers, func(pool.Handle[int], *int) error { panic(nil) })
		})
		require.IsType(t, new(runtime.PanicNilError), v)

		testkit.Within(t, func() {
			err := p.Each(context.Background(), workers, func(pool.Handle[int], *int) error { runtime.Goexit(); return nil })
			require.ErrorContains(t, err, "Goexit")
		})
		require.Zero(t, p.Stats().Pinned)
	}
}

// Loops may be nested.
func TestLoopsNest(t *testing.T) {
	p := tiny[int](t, nil)
	testkit.Fill(t, p, 3, testkit.Number)
	n := 0
	var nest func(depth int)
	nest = func(depth int) {
		for range p.All() {
			if n++; depth > 0 {
				nest(depth - 1)
				return
			}
		}
	}
	nest(20)
	require.Equal(t, 20+3, n)
	require.Zero(t, p.Stats().Pinned)
}

// index panics, as the runtime does.
func index(s []int, i int) error {
	s[i] = 1
	return nil
}
