package command_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// TestStormAppliesOnce lets goroutines record, apply, discard and remove at once. Every
// command is done exactly once, and no slot is lost. The schedules judge each result; here
// the race detector looks on.
func TestStormAppliesOnce(t *testing.T) {
	for _, o := range []pool.Options[value]{{}, {Capacity: 24, Shards: 1}, {Capacity: 64, Shards: 2, Reuse: pool.FIFO}} {
		t.Run(fmt.Sprintf("capacity=%d", o.Capacity), func(t *testing.T) {
			seed, steps := testkit.Seed(t), testkit.Long(10_000)
			var recorded, inserted, removed, outside atomic.Int64
			p := pool.Must(&o)
			buffers := []*buffer{command.New(p), command.New(p)}
			apply := func(first int) {
				i, r := command.Apply(buffers[first], buffers[1-first])
				inserted.Add(int64(i))
				removed.Add(int64(r))
			}
			testkit.Together(4, func(k int) {
				rnd := rand.New(rand.NewPCG(seed, uint64(k)))
				var mine []handle
				for i := range steps {
					b := buffers[rnd.IntN(2)]
					switch what := rnd.IntN(8); {
					case what < 3:
						if h, err := b.Insert(valueOf(uint64(1 + i))); err == nil {
							recorded.Add(1)
							mine = append(mine, h)
						}
					case what == 3:
						apply(rnd.IntN(2))
					case what == 4: // the removal of what is discarded finds nothing
						scrap := command.New(p)
						if h, err := scrap.Insert(valueOf(1)); err == nil {
							b.Remove(h)
							scrap.Discard()
						}
					case len(mine) > 0:
						if what == 5 && p.Remove(mine[0]) { // while it waits, it is not live
							outside.Add(1)
						}
						b.Remove(mine[0])
						b.Remove(mine[0])
						mine = mine[1:]
					}
				}
				for _, h := range mine {
					buffers[0].Remove(h)
				}
			})
			apply(0)
			require.NotZero(t, removed.Load())
			require.Equal(t, recorded.Load(), inserted.Load(), "insertions recorded, and made")
			require.Equal(t, recorded.Load(), removed.Load()+outside.Load(), "removals recorded, and made")
			requireNoneLost(t, p)
		})
	}
}
