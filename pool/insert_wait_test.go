package pool_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// asleep waits until n calls of InsertWait sleep.
func asleep(t *testing.T, n int) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	testkit.Eventually(t, func() bool {
		found := 0
		for _, one := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if head, rest, _ := strings.Cut(one, "\n"); strings.Contains(head, "[select") && strings.Contains(rest, "ClaimWait") {
				found++
			}
		}
		return found == n
	}, "%d calls sleep", n)
}

// outcome is what a call of InsertWait returned.
type outcome struct {
	h   pool.Handle[int]
	err error
}

// waiting starts a call of InsertWait, and returns when n calls sleep.
func waiting(t *testing.T, p *pool.Pool[int], ctx context.Context, n int) <-chan outcome {
	t.Helper()
	ended := make(chan outcome, 1)
	go func() {
		h, err := p.InsertWait(ctx, n)
		ended <- outcome{h, err}
	}()
	asleep(t, n)
	return ended
}

// woken returns the outcome, which must come soon. If the call sleeps on, that ends all tests, because later ones
// count those that sleep.
func woken(t *testing.T, ended <-chan outcome) outcome {
	t.Helper()
	return testkit.Soon(t, ended)
}

// TestInsertWaitIsWoken tries what frees a slot of a full pool, or uses up the last one, and no
// scenario has. A call that is refused with ErrFull does not poll, so each wake-up that is left out
// leaves a call asleep.
func TestInsertWaitIsWoken(t *testing.T) {
	type (
		P = *pool.Pool[int]
		H = []pool.Handle[int]
	)
	fill := func(t *testing.T, p P) H { return testkit.Fill(t, p, p.Cap(), testkit.Number) }
	twoLives := pool.Options[int]{Capacity: 1024, Shards: 1, Origin: testkit.LastGeneration - 2}
	for name, c := range map[string]struct {
		pool.Options[int]
		prepare func(t *testing.T, p P) (free func())
		want    error
	}{
		"a constructor that fails": {prepare: func(t *testing.T, p P) func() {
			return stalled(t, func(stall func()) {
				_, _ = p.TryInsertFunc(func(pool.Handle[int], *int) error { stall(); return errors.New("no") })
			})
		}},
		"Worker.Flush": {Options: pool.Options[int]{Capacity: 1024, Shards: 1}, prepare: func(t *testing.T, p P) func() {
			hs := fill(t, p)
			w := p.Worker()
			w.Remove(hs[0])
			return w.Flush
		}},
		"Worker.Flush of slots that it took": {Options: pool.Options[int]{Capacity: 1024, Shards: 1}, prepare: func(t *testing.T, p P) func() {
			return cachedRest(t, p, p.Worker())
		}},
		"Worker.Flush of last lives": {Options: twoLives, prepare: func(t *testing.T, p P) func() {
			p.RemoveBatch(fill(t, p))
			w := p.Worker()
			return cachedRest(t, p, w)
		}},
		"Remove of the last life": {
			Options: pool.Options[int]{Capacity: 1, Origin: testkit.LastGeneration},
			prepare: func(t *testing.T, p P) func() {
				h := fill(t, p)[0]
				return func() { p.Remove(h) }
			},
		},
	} {
		_ = !t.Failed() && t.Run(name, func(t *testing.T) {
			if c.Capacity == 0 {
				c.Capacity = 1
			}
			p := pool.Must(&c.Options)
			free := c.prepare(t, p)
			ended := waiting(t, p, t.Context(), 1)
			free()
			o := woken(t, ended)
			require.Equal(t, c.want, o.err)
			require.Equal(t, c.want == nil, p.Contains(o.h))
		})
	}
	if t.Failed() {
		return // each failure takes 20 seconds
	}
	for name, remove := range removers[int]() {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(&pool.Options[int]{Capacity: 8})
			hs := fill(t, p)
			ended := waiting(t, p, t.Context(), 1)
			w := p.Worker() // keeps no slots of so small a pool
			remove(p, w, hs)
			require.NoError(t, woken(t, ended).err)
			w.Close()
		})
	}
}

// cachedRest inserts through w, which keeps some slots, and fills the rest of the pool. It
// returns a function that flushes w.
func cachedRest(t *testing.T, p *pool.Pool[int], w *pool.Worker[int]) (flush func()) {
	for range 100 {
		if _, err := w.Insert(0); err != nil || p.Stats().Cached > 0 {
			break
		}
	}
	require.NotZero(t, p.Stats().Cached)
	for err := error(nil); err == nil; {
		_, err = p.Insert(0)
	}
	return w.Flush
}

// TestInsertWaitEndsWithItsContext requires both errors, wherever in the queue a call is, and
// that the calls behind it are not forgotten.
func TestInsertWaitEndsWithItsContext(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	h, err := p.InsertWait(testkit.Done(), 1)
	require.NoError(t, err, "a slot is free")
	_, err = p.InsertWait(testkit.Done(), 2)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, pool.ErrFull)
	require.NotErrorIs(t, err, pool.ErrStalled)

	first, cancelFirst := context.WithCancelCause(context.Background())
	second, cancelSecond := context.WithCancel(context.Background())
	calls := []<-chan outcome{
		waiting(t, p, first, 1), waiting(t, p, second, 2), waiting(t, p, t.Context(), 3),
	}
	cancelSecond()
	require.ErrorIs(t, woken(t, calls[1]).err, context.Canceled, "it waited for its turn")
	why := errors.New("why")
	cancelFirst(why)
	o := woken(t, calls[0])
	require.ErrorIs(t, o.err, context.Canceled)
	require.ErrorIs(t, o.err, why)
	require.ErrorIs(t, o.err, pool.ErrFull)
	require.Zero(t, o.h)
	asleep(t, 1)
	p.Remove(h)
	o = woken(t, calls[2])
	require.NoError(t, o.err)

	g := p.Pin()
	p.Remove(o.h)
	short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = p.InsertWait(short, 4)
	require.ErrorIs(t, err, pool.ErrStalled, "under a guard of one's own")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	g.Unpin()
}

// TestInsertWaitIsInOrder frees one slot after the other, and each goes to the call that has
// waited longest.
func TestInsertWaitIsInOrder(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	h := testkit.MustInsert(t, p, 0)
	var calls []<-chan outcome
	for n := range 8 {
		calls = append(calls, waiting(t, p, t.Context(), n+1))
	}
	for n, call := range calls {
		p.Remove(h)
		h = woken(t, call).h
		require.Equal(t, n+1, p.MustGet(h))
	}
}

// A pool of buffers that waits makes each buffer once: InsertFuncWait and ReserveWait find what
// Reset kept.
func TestWaitingForBuffersKeepsThem(t *testing.T) {
	const buffers, uses = 4, 1000
	type buffer struct{ b []byte }
	for name, insert := range map[string]func(p *pool.Pool[buffer], build func(*buffer)) (pool.Handle[buffer], error){
		"InsertFuncWait": func(p *pool.Pool[buffer], build func(*buffer)) (pool.Handle[buffer], error) {
			return p.InsertFuncWait(t.Context(), func(_ pool.Handle[buffer], v *buffer) { build(v) })
		},
		"ReserveWait": func(p *pool.Pool[buffer], build func(*buffer)) (pool.Handle[buffer], error) {
			r, err := p.ReserveWait(t.Context())
			if err != nil {
				return 0, err
			}
			build(r.Pointer())
			return r.Commit(), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int64
			p := pool.Must(&pool.Options[buffer]{Capacity: buffers, Reset: func(v *buffer) { v.b = v.b[:0] }})
			testkit.Together(2*buffers, func(k int) {
				for range uses {
					h, err := insert(p, func(v *buffer) {
						if v.b == nil {
							made.Inc()
							v.b = make([]byte, 0, 64)
						}
						v.b = append(v.b, byte(k))
					})
					if !assert.NoError(t, err) {
						return
					}
					assert.True(t, p.View(h, func(v *buffer) { assert.Equal(t, []byte{byte(k)}, v.b) }), "the value should be live")
					assert.True(t, p.Remove(h), "the value should be live")
				}
			})
			require.EqualValues(t, buffers, made.Load(), "buffers")
			testkit.RequireReclaimed(t, p)
		})
	}
}

// A call that waits for a slot with a constructor, for a Reservation, or through a Worker ends as
// InsertWait does, and is woken as it is.
func TestEveryVerbThatWaits(t *testing.T) {
	for name, insert := range map[string]func(p *pool.Pool[int], ctx context.Context) (pool.Handle[int], error){
		"InsertWait": func(p *pool.Pool[int], ctx context.Context) (pool.Handle[int], error) { return p.InsertWait(ctx, 7) },
		"InsertFuncWait": func(p *pool.Pool[int], ctx context.Context) (pool.Handle[int], error) {
			return p.InsertFuncWait(ctx, func(_ pool.Handle[int], v *int) { *v = 7 })
		},
		"ReserveWait": func(p *pool.Pool[int], ctx context.Context) (pool.Handle[int], error) {
			r, err := p.ReserveWait(ctx)
			if err != nil {
				return 0, err
			}
			*r.Pointer() = 7
			return r.Commit(), nil
		},
		"Worker.InsertWait": func(p *pool.Pool[int], ctx context.Context) (pool.Handle[int], error) {
			w := p.Worker()
			defer w.Close()
			return w.InsertWait(ctx, 7)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(&pool.Options[int]{Capacity: 1})
			h := testkit.MustInsert(t, p, 1)
			_, err := insert(p, testkit.Done())
			require.ErrorIs(t, err, pool.ErrFull)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 1, p.Stats().RefusedFull)

			ended := make(chan outcome, 1)
			go func() {
				h, err := insert(p, t.Context())
				ended <- outcome{h, err}
			}()
			asleep(t, 1)
			p.Remove(h)
			o := woken(t, ended)
			require.NoError(t, o.err)
			require.Equal(t, 7, p.MustGet(o.h))
		})
	}
}

// A Worker that waits keeps nothing: what it had removed serves the call that waits before it.
func TestWorkerThatWaitsKeepsNothing(t *testing.T) {
	const slots = 1024
	p := pool.Must(&pool.Options[int]{Capacity: slots, Shards: 1})
	hs := testkit.Fill(t, p, slots, testkit.Number)
	w := p.Worker()
	require.True(t, w.Remove(hs[0]), "the value should be live")
	require.Equal(t, 1, p.Stats().Cached)
	ended := waiting(t, p, t.Context(), 1)
	_, err := w.InsertWait(testkit.Done(), 1)
	if err == nil {
		// It may take its own slot. Then the other call waits on.
		require.True(t, p.Remove(hs[1]), "the value should be live")
	}
	require.NoError(t, woken(t, ended).err)
	require.Zero(t, p.Stats().Cached)
	w.Close()
}

// By a real clock too: what a call has waited grows while it waits, and stays when it has ended.
func TestWaitsOfARealClock(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	h := testkit.MustInsert(t, p, 1)
	ended := waiting(t, p, t.Context(), 1)
	before := p.Stats()
	require.Equal(t, 1, before.Waiting)
	testkit.Eventually(t, func() bool { return p.Stats().WaitedFor > before.WaitedFor }, "the clock goes on")
	p.Remove(h)
	require.NoError(t, woken(t, ended).err)
	after := p.Stats()
	require.Zero(t, after.Waiting)
	require.Equal(t, 1, after.Waited)
	require.Greater(t, after.WaitedFor, before.WaitedFor)
	require.Equal(t, after.WaitedFor, p.Stats().WaitedFor)
}

// The goroutine that waits runs OnInsert: its exit ends that one, and not the goroutine whose removal woke it.
func TestWaiterRunsOnInsert(t *testing.T) {
	exits := false
	p := tiny(t, &pool.Options[int]{Capacity: 1, OnInsert: func(pool.Handle[int], *int) {
		if exits {
			runtime.Goexit()
		}
	}})
	h, err := p.Insert(1)
	require.NoError(t, err)
	exits = true
	returned, ended := false, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = p.InsertWait(context.Background(), 2)
		returned = true
	}()
	testkit.Eventually(t, func() bool { return p.Stats().Waiting == 1 }, "a call that waits")
	require.True(t, p.Remove(h))
	testkit.Soon(t, ended)
	require.False(t, returned)
	require.Zero(t, p.Len())
	exits = false
	_, err = p.Insert(3)
	require.NoError(t, err)
}
