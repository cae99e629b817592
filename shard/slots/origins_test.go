//go:build !race

package slots_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard/slots"
)

// TestNeighborsBeginFarApart: as many lives as the comment of Origins says, wherever the pool begins.
func TestNeighborsBeginFarApart(t *testing.T) {
	rnd := testkit.Rand(t)
	o := slots.OriginsOf(slots.DrawOrigin(rnd.Uint32()))
	least := uint32(1 << 31)
	i := rnd.Uint32()
	for d := uint32(1); d < 2048; d++ {
		apart := (o.First(i+d) - o.First(i)) % (1 << 31)
		least = min(least, apart/2, (1<<31-apart)/2)
	}
	require.EqualValues(t, 298_489, least)
}

// TestOrigins: generations are odd, stages begin with 1 everywhere, and each slot can live in LastStage.
func TestOrigins(t *testing.T) {
	rnd := testkit.Rand(t)
	for range testkit.Long(1000) {
		code := slots.DrawOrigin(rnd.Uint32())
		if rnd.IntN(2) == 0 {
			code = min(rnd.Uint32(), slots.LastGeneration) | 1
		}
		require.True(t, slots.IsOrigin(code))
		o := slots.OriginsOf(code)
		rank, bound := o.Ranking(), uint32(1+2*rnd.IntN(1<<20))
		for range 20 {
			i := rnd.Uint32()
			first := o.First(i)
			require.True(t, first%2 == 1 && first <= o.Latest() && first <= slots.LastGeneration, "%d", first)
			require.EqualValues(t, 1, o.Stage(i, first))
			require.Equal(t, uint32(slots.Spent), o.Generation(i, o.SpentStage(i)))
			last := o.Generation(i, o.LastStage())
			require.True(t, last%2 == 1 && last >= first && last <= slots.LastGeneration, "%d after %d", last, first)
			if code%2 == 1 {
				require.Equal(t, code, first)
			} else {
				j := rnd.Uint32()
				require.Equal(t, o.First(j), slots.Counterpart(j, i, first))
			}
			// A handle ranks below the bound if its stage is up to it.
			stage := min(1+2*uint32(rnd.IntN(1<<21)), o.LastStage())
			require.Equal(t, stage <= bound, rank.Rank(slots.Pack(o.Generation(i, stage), i)) < slots.RankBound(bound), "stage %d of slot %d", stage, i)
		}
		i := rnd.Uint32()
		require.Less(t, rank.Rank(slots.Pack(slots.LastGeneration, i)), slots.RankBound(1<<31-1), "whatever it is")
	}
	for _, code := range []uint32{1<<32 - 1, 1 << 31, 1<<32 - 2} {
		require.False(t, slots.IsOrigin(code))
	}
}
