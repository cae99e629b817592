package pool_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The second Unpin of two copies panics, and ends no other guard's pin: another
// guard may have the cell by then.
func TestCopysSecondUnpinPanics(t *testing.T) {
	p := pool.Must[int](nil)
	const n = 64
	copies := make([]pool.Guard[int], n)
	for i := range copies {
		g := p.Pin()
		copyGuard(&copies[i], &g)
		g.Unpin()
	}
	others := make([]pool.Guard[int], n)
	for i := range others {
		others[i] = p.Pin()
	}
	for i := range copies {
		misuse := copies[i].Unpin
		if i%2 == 1 {
			misuse = copies[i].Repin
		}
		testkit.RequirePanicText(t, misuse, "pool: Unpin of a guard that is not pinned")
	}
	require.Equal(t, n, p.Stats().Pinned)
	for i := range others {
		others[i].Unpin()
	}
	require.Zero(t, p.Stats().Pinned)
}

// Many goroutines look up and loop under one guard while others replace the values. What the
// guard returned stays as it was for all of them, and is reused after Unpin. It catches a
// guard that a look-up writes to (by the race detector), and one that protects only the
// goroutine that pinned it.
func TestOneGuardServesManyGoroutines(t *testing.T) {
	const goroutines, n = 8, 64
	p := tiny[stamp](t, &pool.Options[stamp]{Shards: 2})
	hs := testkit.Fill(t, p, n, func(i int) stamp { return stamp{id: uint64(i + 1)} })
	g := p.Pin()
	var seen [goroutines][n]*stamp
	testkit.Together(goroutines, func(k int) {
		for i, h := range hs {
			seen[k][i], _ = g.Get(h)
		}
	})
	testkit.Together(goroutines+1, func(k int) {
		if k == goroutines {
			assert.Equal(t, n, p.RemoveBatch(hs))
			testkit.Fill(t, p, n, func(i int) stamp { return stamp{id: uint64(n + i + 1)} })
			return
		}
		for i, v := range seen[k] {
			if assert.NotNilf(t, v, "%v was live when goroutine %d looked", hs[i], k) {
				assert.EqualValuesf(t, i+1, v.id, "%v is reused under goroutine %d", hs[i], k)
			}
		}
		for h, v := range g.All() {
			assert.NotZero(t, v.id, h)
		}
	})
	require.GreaterOrEqual(t, p.Stats().Limbo, n)
	g.Unpin()
	testkit.RequireReclaimed(t, p)
}

// Slots that Refs keep count as waiting: a pool whose Refs are never released does not grow
// without end.
func TestRefsCountForMaxLimbo(t *testing.T) {
	p, err := pool.New(&pool.Options[int]{MaxLimbo: 1000, Shards: 1})
	require.NoError(t, err)
	var refs []*pool.Ref[int]
	for i := 0; ; i++ {
		h, err := p.Insert(i)
		if err != nil {
			require.ErrorIs(t, err, pool.ErrStalled)
			break
		}
		require.Less(t, i, 1_000_000, "MaxLimbo has no effect")
		refs = append(refs, mustHold(t, p, h))
		require.True(t, p.Remove(h))
	}
	st := testkit.RequireConserved(t, p)
	require.GreaterOrEqual(t, st.Limbo, 1000)
	for i, r := range refs {
		require.Equal(t, i, *r.Value())
		r.Release()
	}
	testkit.RequireReclaimed(t, p)
}

// A value that is taken while a Ref holds it stays readable, is zeroed later, and never Reset.
func TestRefOfATakenValue(t *testing.T) {
	resets := 0
	p, err := pool.New(&pool.Options[[]byte]{Capacity: 1, Reset: func(v *[]byte) { resets++; *v = (*v)[:0] }})
	require.NoError(t, err)
	h := testkit.MustInsert(t, p, []byte{1, 2, 3})
	r := mustHold(t, p, h)
	v, ok := p.Take(h)
	require.True(t, ok)
	require.NoError(t, p.Synchronize(context.Background()))
	require.Equal(t, v, *r.Value())
	r.Release()
	_, err = p.InsertFunc(func(_ pool.Handle[[]byte], v *[]byte) { require.Nil(t, *v) })
	require.NoError(t, err)
	require.Zero(t, resets)
}

// A Reset runs after the last Release, not under it, and one that panics then
// leaves the slot zeroed and free.
func TestResetWaitsForRefs(t *testing.T) {
	resets := 0
	p, err := pool.New(&pool.Options[int]{Capacity: 1, Reset: func(v *int) { resets++; panic("reset") }})
	require.NoError(t, err)
	h := testkit.MustInsert(t, p, 1)
	r := mustHold(t, p, h)
	p.Remove(h)
	require.NoError(t, p.Synchronize(context.Background()))
	require.Zero(t, resets)
	r.Release()
	require.Equal(t, "reset", testkit.Recovered(func() { p.Synchronize(context.Background()) }))
	require.Equal(t, 1, resets)
	_, err = p.InsertFunc(func(_ pool.Handle[int], v *int) { require.Zero(t, *v) })
	require.NoError(t, err)
}

// A Ref that is dropped is not released automatically: Stats shows it.
func TestDroppedRefIsCounted(t *testing.T) {
	p := pool.Must[*int](nil)
	v := new(int)
	h := testkit.MustInsert(t, p, v)
	testkit.Apart(func() { mustHold(t, p, h) })
	require.True(t, p.Remove(h))
	for range 3 {
		runtime.GC()
	}
	require.NoError(t, p.Synchronize(context.Background()))
	st := testkit.RequireConserved(t, p)
	require.Equal(t, 1, st.Held)
	require.Equal(t, 1, st.Limbo)
}

// Synchronize waits for guards from before it, if anything was removed.
func TestSynchronizeWaitsForGuards(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[int]{Reuse: reuse, Shards: 2})
		require.NoError(t, p.Synchronize(testkit.Done()), "empty")
		hs := testkit.Fill(t, p, 100, testkit.Number)
		g := p.Pin()
		require.NoError(t, p.Synchronize(testkit.Done()), "nothing removed")
		p.RemoveBatch(hs)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded, "under a guard of one's own")
		cancel()
		require.ErrorIs(t, p.Synchronize(testkit.Done()), context.Canceled)
		require.Equal(t, 100, p.Stats().Limbo)

		var unpinned atomic.Bool
		time.AfterFunc(20*time.Millisecond, func() { unpinned.Store(true); g.Unpin() })
		testkit.Within(t, func() { require.NoError(t, p.Synchronize(t.Context())) })
		require.True(t, unpinned.Load())
		require.Zero(t, p.Stats().Limbo)
		require.NoError(t, p.Synchronize(testkit.Done()), "all reclaimed")
	}
}

// Synchronize waits for what a running DeleteFunc has removed so far, and so for its pin.
func TestSynchronizeWaitsForADeleteFuncUnderWay(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := pool.Must[int](&pool.Options[int]{Reuse: reuse})
		testkit.Fill(t, p, 10, testkit.Number)
		n := 0
		p.DeleteFunc(func(pool.Handle[int], *int) bool {
			if n++; n > 1 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				require.Equal(t, n-1, p.Stats().Limbo)
				require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded)
			}
			return true
		})
		require.Equal(t, 10, n)
		testkit.RequireReclaimed(t, p)
	}
}
