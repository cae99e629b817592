package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard/slots"
)

// TestGrowIsEnoughAndNoMore: after Grow(n), n insertions by any shards find memory, and so they do
// after a second Grow. The memory is that of n slots and of what other shards may have taken ahead,
// which are no more than the insertions.
func TestGrowIsEnoughAndNoMore(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		most := 1 + rnd.IntN(8)
		r := newRig[uint64](t, setup[uint64]{slots: 1 << 14, memory: 1, shards: most, fifo: rnd.IntN(2) == 0})
		for range 5 {
			n := rnd.IntN(4)
			if rnd.IntN(2) == 0 {
				n = rnd.IntN(200)
			}
			before := r.arena.Table.Resident()
			r.arena.Grow(uint64(n))
			grown := r.arena.Table.Resident()
			ahead := max(0, min(n, most)-1) * (slots.Batch - 1)
			require.LessOrEqual(t, grown, before+n+ahead+8, "seed %d: slots with memory after Grow(%d), with %d shards", seed, n, most)
			for i := range n {
				slot, h, err := r.shards[rnd.IntN(most)].Claim()
				require.NoError(t, err)
				live(slot, h, uint64(i))
			}
			require.Equal(t, grown, r.arena.Table.Resident(), "seed %d: slots with memory after %d insertions by %d shards", seed, n, most)
		}
	}
}

// TestBytesCountWhatHoldsTake: the first Hold in a page makes counts for its slots.
func TestBytesCountWhatHoldsTake(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 16})
	hs := r.fill(t, r.shards[0], 16, number)
	before := r.arena.Count().Bytes
	n := int64(0)
	for _, h := range hs {
		m, j := r.arena.Table.Pages().Meta(slots.Low(h))
		_, ok := r.arena.Hold(slots.Reborn(h))
		require.False(t, ok)
		require.Equal(t, before+n, r.arena.Count().Bytes, "a handle that is not live makes none")
		k, ok := r.arena.Hold(h)
		require.True(t, ok)
		if j == 0 {
			n += 4 * int64(m.N)
		}
		require.Equal(t, before+n, r.arena.Count().Bytes, "slot %d is held", slots.Low(h))
		defer r.arena.Drop(k)
	}
}
