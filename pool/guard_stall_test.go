package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// stalled starts f on a goroutine of its own and returns when f stalls. The function that it
// returns lets f go on, and waits for its end.
func stalled(t *testing.T, f func(stall func())) (release func()) {
	t.Helper()
	entered, gate, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		f(func() { close(entered); <-gate })
	}()
	testkit.Within(t, func() { <-entered })
	return func() { close(gate); testkit.Within(t, func() { <-left }) }
}

// A pin that does not end costs a bounded number of slots. Then insertions return ErrStalled,
// Stats shows the pin, and all other operations go on. After Unpin the pool is as before.
func TestStalledReaderIsBoundedAndNamed(t *testing.T) {
	const live, most = 8, 200
	for _, reuse := range testkit.Reuses {
		t.Run(testkit.NameOf(reuse), func(t *testing.T) {
			// One shard: of two, one may take new memory although the other has slots.
			p := tiny(t, &pool.Options[int]{MaxLimbo: most, Shards: 1, Reuse: reuse, Origin: testkit.ReuseOrigin})
			testkit.Fill(t, p, 10*most, testkit.Number)
			p.Clear()
			require.Positive(t, p.Trim()) // what comes back counts as new
			hs := testkit.Fill(t, p, live, testkit.Number)
			churn := func(n int, via verbs.Shared[int]) error {
				for range n {
					h, err := via.Insert(0)
					if err != nil {
						return err
					}
					require.True(t, via.Remove(h), "the value should be live")
				}
				return nil
			}
			allocated := 0
			for round := range 3 {
				w := p.Worker()
				by := [...]verbs.Shared[int]{p, w}
				g := p.Pin()
				begin := p.Stats()
				require.Equal(t, 1, begin.Pinned)
				require.ErrorIs(t, churn(most+1000, by[round%2]), pool.ErrStalled)
				w.Close()
				requireRefusal(t, p, pool.ErrStalled, "a guard is pinned")
				st := testkit.RequireConserved(t, p)
				require.LessOrEqual(t, st.Limbo, most+64, "limbo, round %d", round)
				require.LessOrEqual(t, st.Allocated, live+most+128)
				require.Equal(t, st.Epoch-begin.Epoch, st.OldestPin, "the age of the pin, in epochs")
				require.Positive(t, st.OldestPin)
				for i, h := range hs {
					require.Equal(t, i+1, p.MustGet(h))
				}
				require.True(t, p.Remove(hs[0]), "the value should be live")
				g.Unpin()
				st = testkit.RequireReclaimed(t, p)
				require.Zero(t, st.OldestPin)
				require.Equal(t, live-1, st.Live)
				hs[0] = testkit.MustInsert(t, p, 1)
				require.NoError(t, churn(1000, p))
				if allocated == 0 {
					allocated = p.Stats().Allocated
				}
			}
			// Each stall finds the slots of the one before.
			require.LessOrEqual(t, p.Stats().Allocated, allocated+128)
		})
	}
}

// A constructor that does not return keeps its own slot and delays nothing else.
func TestStalledConstructorHoldsItsSlotAlone(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		const capacity = 8
		p := tiny(t, &pool.Options[int]{Capacity: capacity, Shards: 2, Reuse: reuse})
		var built pool.Handle[int]
		release := stalled(t, func(stall func()) {
			built, _ = p.InsertFunc(func(_ pool.Handle[int], v *int) { stall(); *v = 7 })
		})
		for range 100 {
			hs := testkit.Fill(t, p, capacity-1, testkit.Number)
			requireRefusal(t, p, pool.ErrFull, "the last slot is under construction")
			require.Equal(t, capacity-1, p.RemoveBatch(hs))
		}
		require.Zero(t, p.Stats().Pinned)
		release()
		require.Equal(t, 7, p.MustGet(built))
		require.Equal(t, capacity-1, p.Clear()+len(testkit.Fill(t, p, capacity-2, testkit.Number)))
		p.Clear()
		testkit.RequireReclaimed(t, p)
	}
}

// A Reset that does not return keeps the slots that were taken with its own, and delays
// neither insertions nor removals by others. Synchronize waits for it.
func TestStalledResetBlocksNoCall(t *testing.T) {
	const most, mark = 300, -1
	for _, reuse := range testkit.Reuses {
		entered, gate := make(chan struct{}), make(chan struct{})
		p := tiny(t, &pool.Options[int]{Shards: 1, Reuse: reuse, MaxLimbo: most, Reset: func(v *int) {
			if *v == mark {
				close(entered)
				<-gate
			}
			*v = 0
		}})
		stale := testkit.MustInsert(t, p, mark)
		require.True(t, p.Remove(stale), "the value should be live")
		left := make(chan error, 1)
		go func() { left <- p.Synchronize(context.Background()) }()
		testkit.Within(t, func() {
			<-entered
			w := p.Worker()
			for n := range 10 * most {
				h, err := p.Insert(1)
				require.NoError(t, err)
				require.True(t, p.Contains(h), "the value should be live")
				if n%2 == 0 {
					require.True(t, p.Remove(h), "the value should be live")
				} else {
					require.True(t, w.Remove(h), "the value should be live")
				}
			}
			for _, remove := range removers[int]() { // nothing is live
				remove(p, w, []pool.Handle[int]{stale})
			}
			require.False(t, p.Contains(stale), "the value should be gone")
			w.Close()
			require.LessOrEqual(t, testkit.RequireConserved(t, p).Limbo, most)
			require.ErrorIs(t, p.Synchronize(testkit.Done()), context.Canceled)
		})
		close(gate)
		require.NoError(t, testkit.Soon(t, left))
		st := testkit.RequireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free)
		testkit.MustInsert(t, p, 1)
	}
}
