package ordinary_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/inside"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// loops are all loops over the values, each as a function that stops when yield returns false.
func loops[T any](p *pool.Pool[T]) map[string]func(yield func(pool.Handle[T], *T) bool) {
	guarded := func(f func(g *pool.Guard[T]) iter.Seq2[pool.Handle[T], *T]) func(func(pool.Handle[T], *T) bool) {
		return func(yield func(pool.Handle[T], *T) bool) {
			g := p.Pin()
			defer g.Unpin()
			f(&g)(yield)
		}
	}
	return map[string]func(yield func(pool.Handle[T], *T) bool){
		"All":       p.All(),
		"Guard.All": guarded((*pool.Guard[T]).All),
		"Pages": guarded(func(g *pool.Guard[T]) iter.Seq2[pool.Handle[T], *T] {
			return func(yield func(pool.Handle[T], *T) bool) {
				next := 0
				for k, page := range g.Pages() {
					if k != next {
						panic(fmt.Sprintf("page %d, want %d", k, next))
					}
					next++
					for h, v := range page {
						if !yield(h, v) {
							return
						}
					}
				}
			}
		}),
		"Each": func(yield func(pool.Handle[T], *T) bool) {
			var mu sync.Mutex
			stop := errors.New("enough")
			stopped := false
			_ = p.Each(context.Background(), 3, func(h pool.Handle[T], v *T) error {
				mu.Lock()
				defer mu.Unlock()
				if stopped || !yield(h, v) {
					stopped = true
					return stop
				}
				return nil
			})
		},
		"DeleteFunc": func(yield func(pool.Handle[T], *T) bool) {
			more := true
			p.DeleteFunc(func(h pool.Handle[T], v *T) bool {
				more = more && yield(h, v)
				return false
			})
		},
	}
}

func TestLoopYieldsEachValueOnce(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, shift := range []uint32{0, 1, 3, 13} {
		for _, n := range []int{0, 1, 2, 3, 100, 5000} {
			p, err := inside.NewTiny(&pool.Options[int]{Shards: 2}, shift)
			require.NoError(t, err)
			want := map[pool.Handle[int]]int{}
			for i, h := range testkit.Fill(t, p, n, testkit.Number) {
				want[h] = i + 1
			}
			for h := range want {
				if rnd.IntN(3) == 0 {
					require.True(t, p.Remove(h))
					delete(want, h)
				}
			}
			require.Equal(t, len(want), p.Len())
			for name, loop := range loops(p) {
				got := map[pool.Handle[int]]int{}
				loop(func(h pool.Handle[int], v *int) bool {
					_, twice := got[h]
					require.Falsef(t, twice, "%s yields %v twice", name, h)
					got[h] = *v
					return true
				})
				require.Equal(t, want, got, name)

				steps := 0
				loop(func(pool.Handle[int], *int) bool { steps++; return steps < 2 })
				require.Equalf(t, min(2, len(want)), steps, "%s goes on after a break", name)
			}
			require.Zero(t, p.Stats().Pinned)
			got := map[pool.Handle[int]]int{}
			for h, v := range p.Drain() {
				got[h] = v
			}
			require.Equal(t, want, got)
			require.Zero(t, p.Len())
		}
	}
}

// A pin that a panic or Goexit leaves behind comes back: with the next garbage
// collection, or at once where no loop of the caller's is in between.
func TestPanicInLoopGivesThePinBack(t *testing.T) {
	for _, exit := range []bool{false, true} {
		leave := func(pool.Handle[int], *int) bool {
			if exit {
				runtime.Goexit()
			}
			panic("left")
		}
		p := testkit.Tiny(t, &pool.Options[int]{Capacity: 10})
		hs := testkit.Fill(t, p, 10, testkit.Number)
		for range 20 {
			v := testkit.Apart(func() {
				for h, v := range p.All() {
					leave(h, v)
				}
			})
			require.Equal(t, exit, v == nil)
		}
		testkit.Eventually(t, func() bool { return p.Stats().Pinned == 0 }, "pins of loops that were left")
		require.Equal(t, 10, p.RemoveBatch(hs))
		testkit.RequireReclaimed(t, p)
		testkit.Fill(t, p, 10, testkit.Number)
		n := 0
		for range p.All() {
			n++
		}
		require.Equal(t, 10, n, "loops still work")

		for name, f := range map[string]func(){
			"View": func() { p.View(first(p), func(v *int) { leave(0, v) }) },
			"Each": func() {
				_ = p.Each(context.Background(), 2, func(h pool.Handle[int], v *int) error { leave(h, v); return nil })
			},
			"DeleteFunc": func() { p.DeleteFunc(leave) },
			"InsertFunc": func() {
				p.Remove(first(p))
				_, _ = p.InsertFunc(func(h pool.Handle[int], v *int) { leave(h, v) })
			},
			"Drain": func() {
				for h, v := range p.Drain() {
					leave(h, &v)
				}
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
	p := testkit.Tiny[int](t, nil)
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
	empty, p := testkit.Tiny[int](t, nil), testkit.Tiny[int](t, nil)
	testkit.Fill(t, p, 1000, testkit.Number)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range []*pool.Pool[int]{empty, p} {
		err := p.Each(done, 2, func(pool.Handle[int], *int) error { t.Error("called"); return nil })
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, empty.Each(context.Background(), 0, func(pool.Handle[int], *int) error { t.Error("called"); return nil }))

	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int64
	err := p.Each(ctx, 2, func(pool.Handle[int], *int) error {
		if calls.Inc() == 3 {
			cancel()
		}
		time.Sleep(time.Millisecond)
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, calls.Load(), int64(900))

	ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err = p.Each(ctx, 1, func(pool.Handle[int], *int) error { time.Sleep(time.Millisecond); return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Zero(t, p.Stats().Pinned)
}

// workers ≤ 0 takes GOMAXPROCS, and no more than asked for run at once.
func TestEachRunsInParallel(t *testing.T) {
	p := testkit.Tiny[int](t, nil)
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
	p := testkit.Tiny[int](t, nil)
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

// Loops may be nested deeper than the number of loops that a pool keeps ready.
func TestLoopsNest(t *testing.T) {
	p := testkit.Tiny[int](t, nil)
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
