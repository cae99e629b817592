package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// After Flush a Worker keeps no pointer to a slot, so that Trim can give back the
// memory of all that was in its reach.
func TestFlushKeepsNoSlot(t *testing.T) {
	p := pool.Must[int](nil)
	w := p.Worker()
	defer w.Close()
	var hs []pool.Handle[int]
	for i := range 1000 {
		h, err := w.Insert(i)
		require.NoError(t, err)
		hs = append(hs, h)
	}
	for _, h := range hs {
		require.True(t, w.Remove(h))
	}
	require.Positive(t, pool.Kept(w))
	w.Flush()
	require.Zero(t, pool.Kept(w))
}

// At most 4,096 slots are in a Worker's reach, an eighth of a small Capacity, few with a
// Reset, and none under FIFO.
func TestWorkersReachIsBounded(t *testing.T) {
	for _, c := range []struct {
		opts pool.Options[int]
		most int
	}{
		{pool.Options[int]{Shards: 1}, 4096},
		{pool.Options[int]{Shards: 3}, 4096},
		{pool.Options[int]{Shards: 1, Capacity: 100_000}, 4096},
		{pool.Options[int]{Shards: 1, Capacity: 1000}, 125},
		{pool.Options[int]{Shards: 1, Capacity: 200}, 25},
		{pool.Options[int]{Shards: 1, Capacity: 4}, 1},
		{pool.Options[int]{Shards: 1, Reuse: pool.FIFO}, 0},
		{pool.Options[int]{Shards: 1, Reset: func(*int) {}}, 128},
		{pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration - 20}, 4096},
	} {
		p := tiny(t, &c.opts)
		w := p.Worker()
		live := 5000
		if c.opts.Capacity > 0 {
			live = min(live, c.opts.Capacity/2)
		}
		greatest := 0
		every := 1 + live/16 // Stats reads all slots
		check := func(i int) {
			if i%every == 0 || i < 8 || i == live-1 {
				greatest = max(greatest, p.Stats().Cached)
			}
		}
		for range 4 {
			hs := make([]pool.Handle[int], live)
			for i := range hs {
				var err error
				hs[i], err = w.Insert(1)
				require.NoError(t, err)
				check(i)
			}
			for i, h := range hs {
				require.True(t, w.Remove(h))
				check(i)
			}
		}
		require.LessOrEqual(t, greatest, c.most, "%+v", c.opts)
		if c.most > 4 && c.opts.Origin == 0 && c.opts.Reset == nil {
			require.Greaterf(t, greatest, min(c.most, 128)/3, "the Worker kept nearly nothing: %+v", c.opts)
		}
		w.Close()
		testkit.RequireReclaimed(t, p)
	}
}
