package pool_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

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
			seen[k][i], _ = g.Pointer(h)
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
	p := pool.Must(&pool.Options[int]{MaxLimbo: 1000, Shards: 1})
	var refs []*pool.Ref[int]
	for i := 0; ; i++ {
		h, err := p.Insert(i)
		if err != nil {
			require.ErrorIs(t, err, pool.ErrStalled)
			break
		}
		require.Less(t, i, 1_000_000, "MaxLimbo has no effect")
		refs = append(refs, mustHold(t, p, h))
		require.True(t, p.Remove(h), "the value should be live")
	}
	st := testkit.RequireConserved(t, p)
	require.GreaterOrEqual(t, st.Limbo, 1000)
	for i, r := range refs {
		require.Equal(t, i, *r.Pointer())
		r.Release()
	}
	testkit.RequireReclaimed(t, p)
}

// A loop visits what is live when it runs, not when All was called: values that came meanwhile, in
// pages that the pool did not have.
func TestLoopsSeeThePagesOfTheirRun(t *testing.T) {
	p := tiny[int](t, nil)
	g := p.Pin()
	defer g.Unpin()
	loops := map[string]iter.Seq2[pool.Handle[int], *int]{"Guard.All": g.All(), "Pool.All": p.All()}
	testkit.Fill(t, p, 1000, testkit.Number)
	for name, loop := range loops {
		n := 0
		for range loop {
			n++
		}
		require.Equal(t, 1000, n, name)
	}
}
