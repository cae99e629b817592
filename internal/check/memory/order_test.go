package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// With one shard, slots come back in exactly the order of their removal.
func TestFIFOReusesInOrderOfRemoval(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, minFree := range []int{1, 2, 5, 64, 200} {
		const capacity = 40
		p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Reuse: pool.FIFO, MinFree: minFree, Shards: 1})
		live := testkit.Fill(t, p, capacity, testkit.Number)
		seen := map[uint32]bool{}
		for _, h := range live {
			seen[h.Index()] = true
		}
		var queue []uint32 // removed, in order
		removals, reused := 0, 0
		for range 4000 {
			if rnd.IntN(2) == 0 && len(live) > 0 {
				k := rnd.IntN(len(live))
				queue = append(queue, live[k].Index())
				require.True(t, p.Remove(live[k]))
				live = append(live[:k], live[k+1:]...)
				removals++
				continue
			}
			h, err := p.Insert(1)
			if err != nil {
				require.Len(t, live, capacity)
				continue
			}
			live = append(live, h)
			if !seen[h.Index()] { // one of the reserve, which never lived
				seen[h.Index()] = true
				continue
			}
			require.Equalf(t, queue[0], h.Index(), "MinFree %d after %d removals", minFree, removals)
			queue = queue[1:]
			reused++
			require.GreaterOrEqual(t, len(queue), minFree, "reused while fewer were free")
		}
		require.Greater(t, reused, 1000)
		require.GreaterOrEqual(t, len(seen), capacity+minFree)
	}
}

// Batches and Workers keep the order too.
func TestFIFOKeepsOrderOfBatches(t *testing.T) {
	const capacity, minFree = 300, 7
	for name, remove := range map[string]func(p *pool.Pool[int], hs []pool.Handle[int]){
		"RemoveBatch": func(p *pool.Pool[int], hs []pool.Handle[int]) { p.RemoveBatch(hs) },
		"Worker": func(p *pool.Pool[int], hs []pool.Handle[int]) {
			w := p.Worker()
			testkit.Each(hs, func(h pool.Handle[int]) { w.Remove(h) })
			w.Close()
		},
		"Take": func(p *pool.Pool[int], hs []pool.Handle[int]) {
			testkit.Each(hs, func(h pool.Handle[int]) { p.Take(h) })
		},
		"under a guard": func(p *pool.Pool[int], hs []pool.Handle[int]) {
			g := p.Pin()
			p.RemoveBatch(hs)
			_, _ = p.Insert(0)
			g.Unpin()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Reuse: pool.FIFO, MinFree: minFree, Shards: 1})
			seen := map[uint32]bool{}
			var queue []uint32
			reused := 0
			for round := range 6 {
				hs := testkit.Fill(t, p, capacity, testkit.Number)
				for _, h := range hs {
					if seen[h.Index()] {
						require.Equalf(t, queue[0], h.Index(), "round %d", round)
						queue = queue[1:]
						reused++
					}
					seen[h.Index()] = true
				}
				for _, h := range hs {
					queue = append(queue, h.Index())
				}
				remove(p, hs)
			}
			require.Greater(t, reused, 4*capacity)
		})
	}
}

// MinFree slots rest under every load, with several shards too.
func TestMinFreeRests(t *testing.T) {
	for _, shards := range []int{1, 2, 4} {
		for _, minFree := range []int{1, 10, 64} {
			t.Run(fmt.Sprintf("shards=%d MinFree=%d", shards, minFree), func(t *testing.T) {
				const capacity = 16
				p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Reuse: pool.FIFO, MinFree: minFree, Shards: shards})
				for range 50 {
					hs := testkit.Fill(t, p, capacity, testkit.Number)
					st := testkit.RequireConserved(t, p)
					require.GreaterOrEqual(t, st.Free, minFree)
					p.RemoveBatch(hs)
				}
			})
		}
	}
}

// FIFO spreads wear: with one live value, all slots are used about equally often.
func TestFIFOSpreadsWear(t *testing.T) {
	const capacity, minFree, rounds = 8, 64, 7300
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Reuse: pool.FIFO, MinFree: minFree, Shards: 1, Origin: 1})
	used := map[uint32]int{}
	for range rounds {
		h := testkit.MustInsert(t, p, 1)
		used[h.Index()]++
		require.True(t, p.Remove(h))
	}
	require.GreaterOrEqual(t, len(used), capacity+minFree)
	for i, n := range used {
		require.InDeltaf(t, rounds/(capacity+minFree+1), n, 0.1*rounds/(capacity+minFree), "slot %d", i)
	}
}
