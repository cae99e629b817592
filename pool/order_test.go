package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// With one shard, slots come back in exactly the order of their removal, whichever verbs
// remove them, one by one or several at once, and also if a guard is pinned for a while.
func TestFIFOReusesInOrderOfRemoval(t *testing.T) {
	const capacity = 40
	rnd := testkit.Rand(t)
	all := removers[int]()
	for round := range 5 {
		p := tiny(t, &pool.Options[int]{Capacity: capacity, Reuse: pool.FIFO, Shards: 1})
		w := p.Worker()
		live := testkit.Fill(t, p, capacity, testkit.Number)
		seen := map[uint32]bool{}
		for _, h := range live {
			seen[h.Index()] = true
		}
		var queue []uint32 // removed, in order
		var g *pool.Guard[int]
		unpin := func() {
			if g != nil {
				g.Unpin()
				g = nil
			}
		}
		removals, reused := 0, 0
		for range 4000 {
			if g == nil && rnd.IntN(50) == 0 {
				pinned := p.Pin()
				g = &pinned
			}
			if rnd.IntN(3) == 0 && len(live) > 0 {
				rnd.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
				gone := live[rnd.IntN(len(live)):]
				if len(gone) > 4 {
					gone = gone[len(gone)-rnd.IntN(4)-1:]
				}
				live = live[:len(live)-len(gone)]
				for _, h := range gone {
					queue = append(queue, h.Index())
				}
				names := []string{"Remove", "Take", "Ptr.Remove", "RemoveBatch", "Worker.Remove", "Worker.Take"}
				all[names[rnd.IntN(len(names))]](p, w, gone)
				require.Equal(t, len(live), p.Len())
				removals += len(gone)
				continue
			}
			h, err := p.Insert(1)
			if err != nil {
				if g == nil {
					require.Len(t, live, capacity)
				}
				unpin()
				continue
			}
			live = append(live, h)
			require.Equalf(t, queue[0], h.Index(), "round %d after %d removals", round, removals)
			queue = queue[1:]
			reused++
		}
		unpin()
		w.Close()
		require.Greater(t, reused, 1000)
	}
}
