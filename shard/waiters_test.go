package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestCallThatCannotWaitIsNotCounted: where all slots are exhausted, nobody waits.
func TestCallThatCannotWaitIsNotCounted(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1, stampPerSlot: true, first: slots.LastGeneration})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 1, number)...)
	r.reclaim(t, s)
	m := r.arena.NewMagazine()
	_, _, err := r.arena.ClaimWait(t.Context(), 0)
	require.ErrorIs(t, err, shard.ErrExhausted)
	_, _, err = m.ClaimWait(t.Context())
	require.ErrorIs(t, err, shard.ErrExhausted)
	c := r.arena.Count()
	require.Equal(t, []int64{0, 2}, []int64{int64(c.Waited), c.Spent})
}
