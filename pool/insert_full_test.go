package pool_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// While a guard is pinned, removed slots wait, Insert returns ErrStalled, and Synchronize waits if
// anything was removed. After Unpin all of them come back at once, however often that happens.
func TestStallRecovers(t *testing.T) {
	for _, o := range capacityConfigs() {
		name := fmt.Sprintf("%+v", o)
		p := tiny(t, &o)
		for round := range 3 {
			hs := testkit.Fill(t, p, o.Capacity, testkit.Number)
			g := p.Pin()
			requireRefusal(t, p, pool.ErrFull, name) // nothing waits
			require.NoError(t, p.Synchronize(testkit.Done()), name)
			half := (o.Capacity + 1) / 2
			require.Equal(t, half, p.RemoveBatch(hs[:half]))
			requireRefusal(t, p, pool.ErrStalled, name)
			requireRefusal(t, p, pool.ErrStalled, name)
			for i, h := range hs[half:] {
				require.True(t, p.Remove(h), "the value should be live")
				if round%2 == 0 && (i < 8 || i%64 == 0) {
					requireRefusal(t, p, pool.ErrStalled, name)
				}
			}
			require.ErrorIs(t, p.Synchronize(testkit.Done()), context.Canceled, name)
			st := testkit.RequireConserved(t, p)
			require.Equal(t, o.Capacity, st.Limbo)
			require.Equal(t, 1, st.Pinned)
			g.Unpin()
			if round == 1 {
				require.NoError(t, p.Synchronize(testkit.Done()), name)
				require.Zero(t, p.Stats().Limbo, name)
			}
			testkit.Fill(t, p, o.Capacity, testkit.Number) // all of them, at once
			requireRefusal(t, p, pool.ErrFull, name)
			require.Equal(t, o.Capacity, p.Clear())
		}
		testkit.RequireReclaimed(t, p)
	}
}

// The default of MaxLimbo is bounded too.
func TestDefaultMaxLimboStopsGrowth(t *testing.T) {
	if testkit.Watched {
		t.Skip("a million removals")
	}
	p := pool.Must(&pool.Options[struct{}]{Shards: 1})
	g := p.Pin()
	for n := 0; ; n++ {
		require.LessOrEqual(t, n, 1_100_000)
		h, err := p.Insert(struct{}{})
		if err != nil {
			require.ErrorIs(t, err, pool.ErrStalled)
			require.GreaterOrEqual(t, n, 900_000)
			break
		}
		if !p.Remove(h) {
			t.Fatalf("Remove(%v)", h)
		}
	}
	g.Unpin()
	testkit.MustInsert(t, p, struct{}{})
}

// An insertion is not refused while a slot is free, or waits for no guard, although there are
// more goroutines than processors, preempted anywhere. Tokens bound how many values live or
// are being inserted. A pool that may grow does not grow because a goroutine was preempted.
func TestRefusalsAreTrueUnderLoad(t *testing.T) {
	for _, c := range []struct {
		name              string
		capacity, tokens  int
		procs, goroutines int
		keep              int  // the most values that a goroutine keeps
		workers           bool // of every second goroutine
		guards            bool // now and then, so that ErrStalled may be true
	}{
		{name: "grows", tokens: 8, procs: 2, goroutines: 8, keep: 1},
		{name: "half", capacity: 64, tokens: 32, procs: 2, goroutines: 8, keep: 8},
		{name: "half, Workers", capacity: 1024, tokens: 512, procs: 2, goroutines: 8, keep: 128, workers: true},
		{name: "guards", capacity: 64, tokens: 32, procs: 2, goroutines: 8, keep: 8, guards: true},
		{name: "one", capacity: 1, tokens: 1, procs: 2, goroutines: 16, keep: 1},
		{name: "all", capacity: 64, tokens: 64, procs: 2, goroutines: 64, keep: 4},
		{name: "all, one processor", capacity: 1000, tokens: 1000, procs: 1, goroutines: 64, keep: 32},
		{name: "all, 16 processors", capacity: 256, tokens: 256, procs: 16, goroutines: 64, keep: 8},
	} {
		for _, reuse := range testkit.Reuses {
			t.Run(fmt.Sprintf("%s, %s", c.name, testkit.NameOf(reuse)), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
				p := pool.Must(&pool.Options[int]{Capacity: c.capacity, Reuse: reuse})
				tokens := make(chan struct{}, c.tokens)
				var done atomic.Int64
				var refused atomic.Error
				end := time.Now().Add(testkit.Long(500 * time.Millisecond))
				testkit.Together(c.goroutines, func(k int) {
					insert, remove := p.Insert, p.Remove
					if c.workers && k%2 == 0 {
						w := p.Worker()
						defer w.Close()
						insert, remove = w.Insert, w.Remove
					}
					var hs []pool.Handle[int]
					for n := 0; refused.Load() == nil && (done.Load() < 2000 || n%64 > 0 || time.Now().Before(end)); n++ {
						var g pool.Guard[int]
						pinned := c.guards && n%16 == 0
						if pinned {
							g = p.Pin()
						}
						select {
						case tokens <- struct{}{}:
							if h, err := insert(n); err == nil {
								hs = append(hs, h)
								done.Inc()
							} else if <-tokens; !c.guards || !errors.Is(err, pool.ErrStalled) {
								refused.Store(err)
							}
						default:
							runtime.Gosched() // to the goroutines that have the tokens
						}
						if n%7 == 0 && len(hs) > 0 {
							p.Get(hs[0])
						}
						if len(hs) == c.keep || n%3 == 0 && len(hs) > 0 {
							remove(hs[0])
							hs = hs[1:]
							<-tokens
						}
						if pinned {
							g.Unpin()
						}
					}
					for _, h := range hs {
						remove(h)
						<-tokens
					}
				})
				require.NoError(t, refused.Load(), "after %d", done.Load())
				require.Less(t, testkit.RequireConserved(t, p).Allocated, 100_000)
			})
		}
	}
}

// A guard delays what is removed while it is pinned, and not what was removed before,
// however few slots there are.
func TestGuardDelaysOnlyWhatIsRemovedUnderIt(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{1, 2, 10, 63, 64, 1000} {
			for _, before := range []int{1, capacity / 2, capacity - 1, capacity} {
				for _, worker := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %d of %d Worker %v", testkit.NameOf(reuse), before, capacity, worker), func(t *testing.T) {
						p := pool.Must[int](&pool.Options[int]{Capacity: capacity, Reuse: reuse})
						insert, remove := p.Insert, p.Remove
						if worker {
							w := p.Worker()
							defer w.Close()
							insert, remove = w.Insert, w.Remove
						}
						hs := testkit.Fill(t, p, capacity, testkit.Number)
						for _, h := range hs[:before] {
							require.True(t, remove(h), "the value should be live")
						}
						g := p.Pin()
						defer g.Unpin()
						for _, h := range hs[before:] {
							require.True(t, remove(h), "the value should be live")
						}
						for i := range before {
							_, err := insert(i)
							require.NoErrorf(t, err, "insertion %d", i)
						}
						_, err := insert(0)
						if before < capacity {
							require.ErrorIs(t, err, pool.ErrStalled)
						} else {
							require.ErrorIs(t, err, pool.ErrFull)
							require.NotErrorIs(t, err, pool.ErrStalled)
						}
					})
				}
			}
		}
	}
}

// Refusals that were not true, each found by a reader of the engine before this one.

// A slot whose Reset failed does not wait for guards that were pinned after the removal.
func TestSlotKeepsItsStamp(t *testing.T) {
	fails := false
	p := pool.Must(&pool.Options[int]{Capacity: 64, Shards: 1, Reset: func(*int) {
		if fails {
			fails = false
			panic("meant")
		}
	}})
	hs := testkit.Fill(t, p, 64, testkit.Number)
	p.RemoveBatch(hs[:32])
	g := p.Pin()
	fails = true
	require.Panics(t, func() { testkit.Fill(t, p, 32, testkit.Number) })
	for p.Len() < 64 {
		testkit.MustInsert(t, p, 1)
	}
	g.Unpin()
}

// Reclaiming a value of more than 128 KiB allocates nothing.
func TestLargeValueIsClearedInPlace(t *testing.T) {
	if testkit.Watched {
		t.Skip("records allocate")
	}
	type large [200 << 10 / 8]*int
	p := pool.Must(&pool.Options[large]{Capacity: 64, Preallocate: true})
	w := p.Worker()
	defer w.Close()
	require.Zero(t, testing.AllocsPerRun(20, func() {
		h, err := p.InsertFunc(func(pool.Handle[large], *large) {})
		require.NoError(t, err)
		require.True(t, p.Remove(h), "the value should be live")
		h, err = w.InsertFunc(func(pool.Handle[large], *large) {})
		require.NoError(t, err)
		require.True(t, w.Remove(h), "the value should be live")
	}))
}
