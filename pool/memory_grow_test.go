package pool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// After Grow as many insertions as it was told of find memory, whichever goroutines make them: in
// a new pool, in one that is in use, and in one whose pages Trim gave up. No slot has used up a life.
func TestGrowMakesMemoryAhead(t *testing.T) {
	const n = 5000
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{0, 2*n + 500} {
			t.Run(fmt.Sprintf("%s/Capacity=%d", testkit.NameOf(reuse), capacity), func(t *testing.T) {
				p := tiny8(t, &pool.Options[int]{Capacity: capacity, Reuse: reuse, Shards: 4, Origin: 101})
				insert := func(goroutines int) (hs []pool.Handle[int]) {
					t.Helper()
					p.Grow(n)
					before := p.Stats()
					p.Grow(n)
					all := make([][]pool.Handle[int], goroutines)
					testkit.Together(goroutines, func(k int) {
						for i := range n / goroutines {
							h, err := p.Insert(i)
							assert.NoError(t, err)
							all[k] = append(all[k], h)
						}
					})
					after := p.Stats()
					require.Equal(t, before.Bytes, after.Bytes, "insertions allocated, or the second Grow did")
					require.LessOrEqual(t, after.Allocated, after.Live+n+4*100)
					for _, part := range all {
						hs = append(hs, part...)
					}
					return hs
				}
				first := insert(1)
				second := insert(5)
				for _, h := range append(second, first...) {
					require.EqualValues(t, 101, h.Generation())
				}
				require.Equal(t, len(second), p.RemoveBatch(second))
				testkit.RequireReclaimed(t, p)
				full := p.Stats()
				require.Positive(t, p.Trim())
				insert(5)
				require.LessOrEqual(t, p.Stats().Allocated, full.Allocated, "what Trim gave up did not come back")
				for _, h := range first {
					require.True(t, p.Contains(h), "the value should be live")
				}
				for _, h := range second {
					require.False(t, p.Contains(h), "%v is live again", h)
				}
				testkit.RequireReclaimed(t, p)
			})
		}
	}
}

// A pool with a Capacity gets memory for as many values at most, also where each slot has but one
// life, and others take over.
func TestGrowKeepsToTheCapacity(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 10, Shards: 1, Origin: testkit.LastGeneration})
	for range 3 {
		p.Grow(1000)
		testkit.RequireConserved(t, p)
		hs := testkit.Fill(t, p, 10, testkit.Number)
		_, err := p.Insert(1)
		require.ErrorIs(t, err, pool.ErrFull)
		require.Equal(t, 10, p.RemoveBatch(hs))
		testkit.RequireReclaimed(t, p)
	}
	require.Equal(t, 30, p.Stats().Exhausted)
	testkit.RequirePanicText(t, func() { p.Grow(-1) }, "pool: Grow: n is -1")
}

// Grow makes memory for the values that it is told of, however many shards there may be.
func TestGrowOfOneIsSmall(t *testing.T) {
	type large [4 << 10]byte
	for _, shards := range []int{0, 1, 1024} {
		p := pool.Must(&pool.Options[large]{Shards: shards})
		empty := p.Stats().Bytes
		p.Grow(1)
		require.Less(t, p.Stats().Bytes, empty+16<<10, "bytes for one value of 4 KB, with Shards: %d", shards)
		p.Grow(4)
		require.Less(t, p.Stats().Bytes, empty+2<<20, "bytes for 4 values of 4 KB, with Shards: %d", shards)
	}
}
