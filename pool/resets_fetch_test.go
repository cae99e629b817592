//go:build !race

package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// TestInsertionRunsFewResets: an insertion runs at most one run of 16 Resets, however many are due, and no
// other call than Synchronize and Trim runs any.
func TestInsertionRunsFewResets(t *testing.T) {
	const n = 3000
	for name, o := range map[string]pool.Options[int]{
		"default": {Shards: 1}, "Capacity": {Shards: 1, Capacity: n}, "MaxLimbo": {Shards: 1, MaxLimbo: 100},
		"FIFO": {Shards: 1, Reuse: pool.FIFO}, "FIFO, Capacity": {Shards: 1, Reuse: pool.FIFO, Capacity: n},
		"FIFO, Capacity, MaxLimbo": {Shards: 1, Reuse: pool.FIFO, Capacity: 2 * n, MaxLimbo: 100},
		"shards":                   {Shards: 8}, "shards, Capacity": {Shards: 8, Capacity: n}, "replay": {Shards: 1, Origin: 1},
	} {
		resets := 0
		o.Reset = func(*int) { resets++ }
		p := pool.Must(&o)
		hs, w := testkit.Fill(t, p, n, testkit.Number), p.Worker()
		g := p.Pin()
		r, ok := p.Hold(hs[1])
		require.True(t, ok)
		for i, h := range hs {
			if i%3 == 0 {
				w.Remove(h)
			} else {
				p.Remove(h)
			}
			if i == n/2 {
				w.Flush()
			}
		}
		r.Release()
		g.Unpin()
		w.Close()
		require.Zerof(t, resets, "%s: none but insertions, Synchronize and Trim run Resets", name)
		for range n / 2 {
			before := resets
			testkit.MustInsert(t, p, 1)
			require.LessOrEqualf(t, resets-before, 16, "%s: Resets in one insertion", name)
		}
		require.Positive(t, resets, name)
		due, before := p.Stats().Limbo, resets
		if testkit.Quarantine == 0 { // or insertions that find a slot reclaim too
			require.Positivef(t, due, "%s: what waits for others", name)
		}
		require.NoError(t, p.Synchronize(context.Background()))
		require.Equalf(t, due, resets-before, "%s: Synchronize runs all", name)
	}
}
