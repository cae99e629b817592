package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestMagazineEndsSlotsThatSkipTheirLives: slots that a magazine removes and reuses, and that have no
// life after those that they skip, are exhausted. No handle has a generation beyond the last, and an
// exhausted slot keeps no value.
func TestMagazineEndsSlotsThatSkipTheirLives(t *testing.T) {
	const total, ending = 600, 40
	for _, stampPerSlot := range []bool{false, true} {
		r := newRig[*int](t, setup[*int]{slots: total, stampPerSlot: stampPerSlot, zero: true})
		m := r.arena.NewMagazine()
		var hs []uint64
		for range total {
			slot, h, err := next(m)
			require.NoError(t, err)
			live(slot, h, new(int))
			hs = append(hs, h)
		}
		for i := range uint32(ending) {
			r.arena.RestoreSkip(i, shard.Spent/2)
		}
		for range 3 {
			for _, h := range hs {
				require.True(t, m.Remove(h), "Remove(%s)", text(h))
			}
			hs = hs[:0]
			for {
				slot, h, err := next(m)
				if err != nil {
					break
				}
				require.LessOrEqual(t, shard.Generation(h), uint32(shard.LastGeneration), "%s is issued", text(h))
				live(slot, h, new(int))
				hs = append(hs, h)
			}
		}
		require.Len(t, hs, total-ending)
		require.EqualValues(t, ending, r.arena.Exhausted())
		for i := range uint32(ending) {
			require.Nil(t, *shard.ValueOf[*int](r.arena.Slot(i)), "slot %d is exhausted, and keeps its value", i)
		}
	}
}
