package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
)

// TestPartsOfAReserveShrinkOneByOne: when one shard's part shrinks, no other part grows.
func TestPartsOfAReserveShrinkOneByOne(t *testing.T) {
	for parts := 1; parts <= 33; parts++ {
		for n := range 100 {
			sum, less := 0, 0
			for i := range parts {
				was, is := shard.Share(n+1, i, parts), shard.Share(n, i, parts)
				require.LessOrEqual(t, is, was, "part %d of %d", i, parts)
				sum += is
				less += was - is
			}
			require.Equal(t, n, sum)
			require.Equal(t, 1, less)
		}
	}
}

// TestCapacityOfAQueueIsExactWhileItWears fills pools whose slots live once, and replaces
// values until the last slot is exhausted. Exactly Capacity values live while the reserve
// replaces exhausted slots, however many shards share it.
func TestCapacityOfAQueueIsExactWhileItWears(t *testing.T) {
	const capacity = 64
	for _, shards := range []int{1, 3, 5, 8, 16} {
		for minFree := 1; minFree <= 20; minFree++ {
			var a shard.Arena[uint64]
			a.Init(shard.Config[uint64]{
				Domain: epoch.New(), Slots: uint64(capacity + minFree + shards), Shift: tinyShift, Shards: shards,
				Capacity: capacity, FIFO: true, MinFree: minFree, First: shard.LastGeneration,
			})
			var hs []uint64
			most, ever := 0, 0
			for {
				slot, h, err := a.Claim()
				if err != nil {
					require.ErrorIs(t, err, shard.ErrFull)
					if most == 0 {
						require.Len(t, hs, capacity)
					}
					most = max(most, len(hs))
					if len(hs) == 0 {
						break
					}
					require.True(t, a.Shard(ever%shards).Remove(hs[0]))
					hs = hs[1:]
					continue
				}
				live(slot, h, 1)
				hs = append(hs, h)
				ever++
			}
			require.Equal(t, capacity, most, "%d shards, a reserve of %d", shards, minFree)
			require.Equal(t, capacity+minFree, ever)
		}
	}
}

// TestRefillMakesARange checks both results of Refill.
func TestRefillMakesARange(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1000})
	s := r.shards[0]
	_, h := s.Refill(8)
	require.EqualValues(t, 0, shard.Low(h))
	require.Equal(t, 7, s.Free())
	_, h = s.Refill(8)
	require.EqualValues(t, 8, shard.Low(h), "past the range that is there")
	require.Equal(t, 7, s.Free())
	i, n := s.FreshRun(100)
	require.EqualValues(t, 1, i)
	require.Equal(t, 7, n)
	slot, _ := s.Fresh()
	require.Nil(t, slot)
	for want := uint32(9); want < 1000; want++ {
		_, h := r.take(t, s)
		require.Equal(t, want, shard.Low(h))
	}
	slot, _ = s.Refill(8)
	require.Nil(t, slot, "all were given away")
}
