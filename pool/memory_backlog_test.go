package pool_test

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The backlog of a pool is what was removed and waits for guards. These tests have one of tens of
// thousands of slots, as a guard leaves that is forgotten for a while.

// backlogOptions are those that change how a backlog is kept, each in both orders.
func backlogOptions(slots int) (all []pool.Options[*int]) {
	for _, o := range []pool.Options[*int]{
		{}, {Shards: 1}, {Capacity: slots}, {Capacity: slots, Shards: 1}, {MaxLimbo: slots}, {MaxLimbo: slots, Shards: 1},
		{Reset: resetPointer}, {Capacity: slots, Reset: resetPointer},
	} {
		for _, o.Reuse = range testkit.Reuses {
			all = append(all, o)
		}
	}
	return all
}

func resetPointer(v **int) { *v = nil }

func none(int) *int { return nil }

// describe names the options of a subtest.
func describe[T any](o *pool.Options[T]) string {
	return fmt.Sprintf("Capacity=%d/MaxLimbo=%d/Shards=%d/Reset=%t/Preallocate=%t/%s",
		o.Capacity, o.MaxLimbo, o.Shards, o.Reset != nil, o.Preallocate, testkit.NameOf(o.Reuse))
}

// In a pool with a Capacity or a MaxLimbo, a slot that was removed before a guard was pinned does
// not wait for that guard, however many wait: an insertion takes it, and no new memory.
func TestBacklogDoesNotWaitForLaterGuards(t *testing.T) {
	const old, page = 30_000, 1 << 15
	for _, young := range []int{1, 500, 6000} {
		if testkit.Race && young > 1 {
			continue // it has one goroutine
		}
		for _, o := range backlogOptions(4 * old) {
			if o.Capacity == 0 && o.MaxLimbo == 0 {
				continue
			}
			if o.Capacity > 0 && o.Reuse == pool.FIFO {
				o.Capacity = old + young // or slots that were never used come first
			}
			t.Run(fmt.Sprintf("%s/young=%d", describe(&o), young), func(t *testing.T) {
				p := pool.Must(&o)
				hs := testkit.Fill(t, p, old+young, none)
				first := p.Pin()
				require.Equal(t, old, p.RemoveBatch(hs[:old]))
				second := p.Pin()
				require.Equal(t, young, p.RemoveBatch(hs[old:]))
				first.Unpin()
				before := p.Stats().Allocated
				if o.Shards != 1 {
					before += page // for the test's goroutine may move to another shard
				}
				testkit.Fill(t, p, old, none)
				st := testkit.RequireConserved(t, p)
				require.LessOrEqual(t, st.Allocated, before, "slots with memory after the insertions")
				require.GreaterOrEqual(t, st.Limbo, young, "slots that wait for the second guard")
				second.Unpin()
				testkit.RequireReclaimed(t, p)
			})
		}
	}
}

// countedContext is done from its look-th call of Err on, and then calls over first.
type countedContext struct {
	context.Context
	looks, last int
	over        func()
	cancel      context.CancelFunc
}

func newCountedContext(last int, over func()) *countedContext {
	c := &countedContext{last: last, over: over}
	c.Context, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *countedContext) Err() error {
	if c.looks++; c.looks == c.last {
		c.over()
		c.cancel()
	}
	return c.Context.Err()
}

// Synchronize looks at its context between bounded steps, with a Reset and without one: once the
// context is done, it reclaims few of the slots that are left.
func TestSynchronizeStopsInABacklog(t *testing.T) {
	const waiting, step = 20_000, 2_000
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a cycle reclaims too
	for _, o := range backlogOptions(2 * waiting) {
		for _, last := range []int{1, 2, 7} {
			if testkit.Race && last < 7 {
				continue // it has one goroutine
			}
			t.Run(fmt.Sprintf("%s/look=%d", describe(&o), last), func(t *testing.T) {
				p := pool.Must(&o)
				hs := testkit.Fill(t, p, waiting, none)
				g := p.Pin()
				require.Equal(t, waiting, p.RemoveBatch(hs))
				g.Unpin()
				left := -1
				ctx := newCountedContext(last, func() { left = p.Stats().Limbo })
				require.ErrorIs(t, p.Synchronize(ctx), context.Canceled)
				require.GreaterOrEqual(t, left, waiting-last*step, "slots that waited at look %d", last)
				st := testkit.RequireConserved(t, p)
				require.GreaterOrEqual(t, st.Limbo, left-step, "slots that wait after the end of the context")
				st = testkit.RequireReclaimed(t, p)
				require.Equal(t, st.Allocated, st.Free)
			})
		}
	}
}

// In a FIFO pool slots that were never used come first, but not beyond MaxLimbo: a guard that is
// forgotten costs no more memory than under LIFO.
func TestEvenWearKeepsToMaxLimbo(t *testing.T) {
	var allocated []int
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		p := pool.Must(&pool.Options[int]{Capacity: 1 << 16, MaxLimbo: 100, Shards: 1, Reuse: reuse})
		g := p.Pin()
		for {
			h, err := p.Insert(1)
			if err != nil {
				require.ErrorIs(t, err, pool.ErrStalled)
				break
			}
			p.Remove(h)
		}
		allocated = append(allocated, p.Stats().Allocated)
		g.Unpin()
		testkit.RequireReclaimed(t, p)
	}
	require.Equal(t, allocated[0], allocated[1])
	require.Less(t, allocated[0], 1<<14)
}

// Synchronize ends while others insert and remove, and a Reset is always under way.
func TestSynchronizeEndsBesideResets(t *testing.T) {
	for _, capacity := range []int{0, 1 << 12} {
		p := pool.Must(&pool.Options[int]{Capacity: capacity, Shards: 1, Reset: func(*int) { time.Sleep(20 * time.Microsecond) }})
		stop, group := make(chan struct{}), sync.WaitGroup{}
		for range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					select {
					case <-stop:
						return
					default:
					}
					if h, err := p.Insert(1); err == nil {
						p.Remove(h)
					}
				}
			}()
		}
		for range 5 {
			ctx, cancel := testkit.Limited(t)
			require.NoError(t, p.Synchronize(ctx))
			cancel()
		}
		close(stop)
		testkit.Within(t, group.Wait)
	}
}
