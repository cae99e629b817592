package shard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestTrimKeepsTheOrderOfEachList trims shards with mixed lists. Some slots live and some are
// owned, so some pages go, some are not wanted, and some wanted ones stay. Each list keeps the
// rest of its slots in their order. A queue keeps its dummy and its reserve, if need be of
// others' slots.
func TestTrimKeepsTheOrderOfEachList(t *testing.T) {
	const slots, needs = 120, 2
	for _, fifo := range []bool{false, true} {
		for _, shards := range []int{1, 3} {
			for seed := range uint64(100) {
				rnd := rand.New(rand.NewPCG(seed, uint64(shards)))
				what := fmt.Sprintf("fifo %v, %d shards, seed %d", fifo, shards, seed)
				r := newRig[uint64](t, setup[uint64]{slots: slots, shards: shards, fifo: fifo, reserve: 1})
				all := r.shards
				var hs, owned []uint64
				for {
					slot, h := r.tryTake(all[rnd.IntN(shards)])
					if slot == nil {
						break
					}
					live(slot, h, 1)
					hs = append(hs, h)
				}
				rnd.Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
				lives := rnd.IntN(4)
				for _, h := range hs[lives:] {
					r.remove(t, all[rnd.IntN(shards)], h)
				}
				for _, s := range all {
					r.reclaim(t, s)
				}
				for range rnd.IntN(8) {
					if slot, h := r.tryTake(all[rnd.IntN(shards)]); slot != nil {
						owned = append(owned, h) // vacant, and in no list
					}
				}
				before := make([][]uint32, shards)
				for k, s := range all {
					before[k] = s.Order()
				}
				freed := r.arena.TrimAll()
				gone := func(i uint32) bool { _, gone := r.arena.Table.Pages().Floor(i); return gone }
				require.Equal(t, freed > 0, slices.ContainsFunc(slices.Concat(before...), gone), what)
				given := 0
				for k, s := range all {
					want, got := slices.DeleteFunc(before[k], gone), s.Order()
					if fifo && len(want) < needs {
						require.Len(t, got, needs, what)
						require.Equal(t, want, got[:len(want):len(want)], what)
						given -= needs - len(want)
						continue
					}
					// A queue may have given its first slots to others.
					require.LessOrEqual(t, len(got), len(want), what)
					given += len(want) - len(got)
					require.Equal(t, want[len(want)-len(got):], append([]uint32{}, got...), what) // not nil
				}
				require.Zero(t, given, what)
				for _, h := range append(owned, hs[:lives]...) {
					require.False(t, gone(shard.Low(h)), what)
				}
			}
		}
	}
}
