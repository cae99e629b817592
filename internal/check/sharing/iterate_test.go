package sharing_test

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

// A value that lives through the whole loop is yielded exactly once; one that comes or goes
// meanwhile, at most once, and never torn.
func TestLoopIsWeaklyConsistentUnderChurn(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[plain]{Shards: 2, Reuse: reuse})
		stay := map[pool.Handle[plain]]bool{}
		for i := range 300 {
			h := testkit.MustInsert(t, p, newPlain(uint64(i)))
			if i%3 == 0 {
				stay[h] = true
			} else {
				defer p.Remove(h)
			}
		}
		var stop atomic.Bool
		var churned atomic.Int64
		var wg sync.WaitGroup
		for k := range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				w := p.Worker()
				defer w.Close()
				for i := uint64(0); !stop.Load(); i++ {
					if k == 0 {
						h, err := w.Insert(newPlain(i))
						if err != nil || !w.Remove(h) {
							t.Errorf("%v %v", h, err)
						}
					} else {
						h, err := p.Insert(newPlain(i))
						if err != nil || !p.Remove(h) {
							t.Errorf("%v %v", h, err)
						}
					}
					churned.Inc()
				}
			}()
		}
		rounds := 0
		for end := time.Now().Add(time.Duration(testkit.Long(600)) * time.Millisecond); time.Now().Before(end) || rounds < 5 || churned.Load() < 100; rounds++ {
			for name, loop := range loops(p) {
				seen := map[pool.Handle[plain]]bool{}
				kept := 0
				loop(func(h pool.Handle[plain], v *plain) bool {
					if seen[h] || h == 0 || h.Generation()%2 == 0 || v.twice != 2*v.id {
						t.Errorf("%s yields %v: twice %v, value %v", name, h, seen[h], *v)
					}
					seen[h] = true
					if stay[h] {
						kept++
					}
					return true
				})
				if kept != len(stay) {
					t.Errorf("%s yields %d of the %d that stay", name, kept, len(stay))
				}
			}
			if n := p.Len(); n < len(stay) {
				t.Errorf("Len is %d, %d stay", n, len(stay))
			}
		}
		stop.Store(true)
		wg.Wait()
	}
}

// Of many Drains, DeleteFuncs and Clears at once, exactly one gets each value.
func TestEachValueIsDrainedOnce(t *testing.T) {
	for range testkit.Long(200) {
		p := testkit.Tiny(t, &pool.Options[int]{Shards: 2})
		const n = 300
		testkit.Fill(t, p, n, testkit.Number)
		var got [n + 1]atomic.Int32
		var counted atomic.Int64
		var wg sync.WaitGroup
		for k := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				switch k {
				case 0, 1:
					for _, v := range p.Drain() {
						got[v].Inc()
						counted.Inc()
					}
				case 2:
					counted.Add(int64(p.DeleteFunc(func(_ pool.Handle[int], v *int) bool { return *v%2 == 0 })))
				case 3:
					counted.Add(int64(p.Clear()))
				}
			}()
		}
		wg.Wait()
		require.EqualValues(t, n, counted.Load())
		for v := range got {
			require.LessOrEqual(t, got[v].Load(), int32(1), "value %d", v)
		}
		require.Zero(t, p.Len())
		testkit.RequireReclaimed(t, p)
	}
}

func TestDrainThatIsLeftKeepsTheRest(t *testing.T) {
	p := testkit.Tiny[int](t, nil)
	testkit.Fill(t, p, 10, testkit.Number)
	n := 0
	for h := range p.Drain() {
		require.False(t, p.Contains(h))
		if n++; n == 4 {
			break
		}
	}
	require.Equal(t, 6, p.Len())
	require.Equal(t, "no", testkit.Apart(func() {
		for range p.Drain() {
			panic("no")
		}
	}))
	require.Equal(t, 5, p.Len())
	require.Zero(t, p.Stats().Pinned)
	testkit.RequireReclaimed(t, p)
}

// The body may do anything to the pool.
func TestLoopBodyMayChangeThePool(t *testing.T) {
	for _, name := range []string{"All", "Guard.All", "Pages", "Each", "DeleteFunc"} {
		t.Run(name, func(t *testing.T) {
			p := testkit.Tiny(t, &pool.Options[stamp]{Shards: 2})
			hs := testkit.Fill(t, p, 200, func(i int) stamp { return stamp{id: uint64(i)} })
			w := p.Worker()
			defer w.Close()
			removed := 0
			loops(p)[name](func(h pool.Handle[stamp], v *stamp) bool {
				if v.id >= 1000 {
					return true // came meanwhile
				}
				id := v.id
				require.True(t, p.Remove(h))
				removed++
				churn(t, p, w, 3)
				_, err := p.Insert(stamp{id: 1000 + id})
				require.NoError(t, err)
				require.Equal(t, id, v.id, "the value changed under the loop's pin")
				return true
			})
			require.Equal(t, 200, removed)
			require.Equal(t, 200, p.Len())
			for _, h := range hs {
				require.False(t, p.Contains(h))
			}
		})
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
