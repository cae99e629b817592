package pool_test

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Worn is that of the most worn slot: others do not hide it.
func TestStatsTellTheMostWornSlot(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration - 6}) // four lives
	require.Zero(t, p.Stats().Worn)
	testkit.Fill(t, p, 3, testkit.Number)
	require.Equal(t, 0.25, p.Stats().Worn)
	for _, want := range []float64{0.25, 0.5, 0.75, 1} {
		h := testkit.MustInsert(t, p, 1)
		require.Equal(t, want, p.Stats().Worn, "while %v is live", h)
		require.True(t, p.Remove(h), "the value should be live")
		require.NoError(t, p.Synchronize(testkit.Done()))
		require.Equal(t, want, p.Stats().Worn, "after %v", h)
	}
	require.Equal(t, 1, p.Stats().Exhausted)
}

// MaxLimbo is the limit in force, and Capacity that of the slots.
func TestStatsTellTheLimits(t *testing.T) {
	for want, o := range map[int]pool.Options[int]{
		1_000_000: {}, 5: {MaxLimbo: 5}, 7: {Capacity: 7}, 3: {Capacity: 8, MaxLimbo: 3}, 6: {Capacity: 6, MaxLimbo: 30},
	} {
		require.Equal(t, want, pool.Must(&o).Stats().MaxLimbo)
	}
	require.Equal(t, 7, pool.Must(&pool.Options[int]{Capacity: 7}).Stats().Capacity)
	p := pool.Must[int](nil)
	require.Equal(t, []int{pool.MaxCapacity, pool.MaxCapacity}, []int{p.Stats().Capacity, p.Cap()})
	require.Zero(t, p.Stats().Allocated, "no memory before the first insertion")
	testkit.Fill(t, p, 500_001, testkit.Number)
	require.Equal(t, 1_000_002, p.Stats().MaxLimbo)
}

// Each call that is refused counts once, by its error; the looks of an InsertWait that goes on
// do not.
func TestStatsCountRefusals(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 4, Shards: 1, Origin: testkit.LastGeneration - 2}) // two lives
	n := len(inserters[int]())
	refuse := func(want error, counts ...int) {
		requireRefusal(t, p, want, "")
		st := p.Stats()
		require.Equal(t, counts, []int{st.RefusedFull, st.RefusedStalled, st.RefusedExhausted})
	}
	hs := testkit.Fill(t, p, 4, testkit.Number)
	refuse(pool.ErrFull, n, 0, 0)
	g := p.Pin()
	p.RemoveBatch(hs)
	refuse(pool.ErrStalled, n, n, 0)
	time.AfterFunc(5*time.Millisecond, g.Unpin)
	_, err := p.InsertWait(context.Background(), 1)
	require.NoError(t, err)
}

// The text of a refusal has the figures of the moment at which it is asked for, and costs nothing
// before. The age of the oldest pin counts from before that: see TestAgeOfAForgottenGuardGrows of
// package epoch.
func TestStalledErrorTellsFigures(t *testing.T) {
	const text = "pool: full: removed slots wait for a guard that is still pinned, or for a Ref; Pool[int]; "
	p := tiny(t, &pool.Options[int]{Capacity: 8, Shards: 1})
	hs := testkit.Fill(t, p, 8, testkit.Number)
	r, _ := p.Hold(hs[0])
	g := p.Pin()
	p.RemoveBatch(hs)
	var err error
	require.Zero(t, testing.AllocsPerRun(10, func() { _, err = p.Insert(1) }))
	time.Sleep(2 * time.Millisecond)
	require.GreaterOrEqual(t, p.Stats().PinAge, 2*time.Millisecond)
	require.Regexp(t, "^"+regexp.QuoteMeta(text)+`pinned: 1 for \d+ms or longer; Refs: 1; waiting: 8, limit: 8; Pool.ExplainOpen tells more$`, err)
	g.Unpin()
	require.Zero(t, p.Stats().PinAge)
	r.Release()
	testkit.RequireReclaimed(t, p)
	require.EqualError(t, err, text+"pinned: 0; Refs: 0; waiting: 0, limit: 8; Pool.ExplainOpen tells more")
}

// A pool that Workers have emptied says so.
func TestFullErrorTellsFigures(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 4096, Shards: 1})
	testkit.Fill(t, p, 4096, testkit.Number)
	var err error
	require.Zero(t, testing.AllocsPerRun(10, func() { _, err = p.Insert(1) }))
	require.EqualError(t, err, "pool: full; Pool[int]; capacity: 4096; Pool.Stats tells more")
	w := p.Worker()
	require.Regexp(t, `^pool: full; Pool\[int\]; capacity: 4096, kept by open Workers: up to \d+; Pool.Stats tells more$`, err)
	w.Close()
	require.EqualError(t, err, "pool: full; Pool[int]; capacity: 4096; Pool.Stats tells more")
}

// Printing a pool or its Stats gives a line, and reads nothing that others write.
func TestPoolsAreLines(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Capacity: 4})
	require.Equal(t, "*pool.Pool[int]: 0 live of 0 slots and at most 4", fmt.Sprint(p))
	hs := testkit.Fill(t, p, 4, testkit.Number)
	_, _ = p.Insert(5)
	g := p.Pin()
	r := mustHold(t, p, hs[0])
	require.True(t, p.Remove(hs[1]), "the value should be live")
	require.Regexp(t, `^3 live of 4 slots and at most 4, 1 in limbo, 1 pinned, 1 held, 1 refused as full(, oldest pin .* or more ago)?$`, p.Stats().String())
	require.Equal(t, "0 live of 0 slots", fmt.Sprint(pool.Must[int](nil).Stats()))
	g.Unpin()
	r.Release()
	testkit.Together(2, func(k int) {
		for range 100 {
			if k == 0 {
				_ = fmt.Sprint(p)
			} else if h, err := p.Insert(1); err == nil {
				p.Remove(h)
			}
		}
	})
	require.Contains(t, fmt.Sprint(new(pool.Pool[int])), "zero Pool")
	require.Equal(t, "<nil>", fmt.Sprint((*pool.Pool[int])(nil)))
}

// While others move slots from one place to another, no figure of Stats is impossible: the slots in all
// places together are never more than those that have memory.
func TestStatsUnderLoadArePossible(t *testing.T) {
	const n, each = 1 << 14, 4
	for _, o := range []pool.Options[int]{{Shards: 8}, {Capacity: n, Shards: 8}} {
		p := pool.Must(&o)
		stop, churn := make(chan struct{}), sync.WaitGroup{}
		for range each {
			churn.Add(1)
			go func() {
				defer churn.Done()
				for !testkit.IsClosed(stop) {
					var hs []pool.Handle[int]
					for range n / each {
						if h, err := p.Insert(1); err == nil {
							hs = append(hs, h)
						}
					}
					p.RemoveBatch(hs)
					runtime.Gosched()
				}
			}()
		}
		for range testkit.Long(300) {
			st := p.Stats()
			sum := 0
			for _, k := range []int{st.Live, st.Free, st.Limbo, st.Cached, st.Reserved, st.Exhausted} {
				assert.GreaterOrEqual(t, k, 0, "%+v", st)
				sum += k
			}
			if !assert.LessOrEqual(t, sum, st.Allocated, "the sum of %+v", st) {
				break
			}
			runtime.Gosched()
		}
		close(stop)
		testkit.Within(t, churn.Wait)
		testkit.RequireReclaimed(t, p)
	}
}

// Each figure is in the line for people, or in this list.
func TestLineHasEachFigure(t *testing.T) {
	elsewhere := map[string]bool{ // in metrics and on the page; a line has no room for more
		"Inserted": true, "Bytes": true, "MaxLimbo": true, "Epoch": true, "OldestPin": true, "Worn": true,
	}
	line := func(change func(v reflect.Value)) string {
		st := pool.Stats{Capacity: 1000}
		change(reflect.ValueOf(&st).Elem())
		return st.String()
	}
	before := line(func(reflect.Value) {})
	for i := range reflect.TypeFor[pool.Stats]().NumField() {
		name := reflect.TypeFor[pool.Stats]().Field(i).Name
		changed := line(func(v reflect.Value) {
			if f := v.Field(i); f.CanInt() {
				f.SetInt(7)
			} else if f.CanUint() {
				f.SetUint(7)
			} else {
				f.SetFloat(0.7)
			}
		})
		require.Equal(t, elsewhere[name], before == changed, "%s: %q", name, changed)
	}
}
