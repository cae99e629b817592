package pool_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// woken returns the outcome, for which it waits for 20 seconds. A call that sleeps on must end with
// its test, because later ones count those that sleep.
func woken(t *testing.T, ended <-chan outcome) outcome {
	t.Helper()
	select {
	case o := <-ended:
		return o
	case <-time.After(20 * time.Second):
		require.FailNow(t, "InsertWait is not woken")
		return outcome{}
	}
}

// TestInsertWaitIsWoken tries what frees a slot of a full pool, or uses up the last one, and no
// scenario has. A call that is refused with ErrFull does not poll, so each wake-up that is left out leaves
// a call asleep.
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
	cancelFirst(errors.New("why"))
	o := woken(t, calls[0])
	require.ErrorIs(t, o.err, context.Canceled)
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
