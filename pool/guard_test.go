package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
