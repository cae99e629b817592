package pool_test

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// After Grow as many insertions as it was told of find memory, whichever goroutine makes
// them: in a new pool, in one that is in use, and in one whose pages Trim gave up.
func TestGrowMakesMemoryAhead(t *testing.T) {
	const n = 5000
	for _, reuse := range reuses {
		for _, capacity := range []int{0, 2 * n} {
			t.Run(fmt.Sprint(reuse, capacity), func(t *testing.T) {
				p := tiny(t, &pool.Options[int]{Capacity: capacity, Reuse: reuse, Shards: 4})
				insert := func(goroutines int) (hs []pool.Handle[int]) {
					t.Helper()
					require.NoError(t, p.Grow(n))
					before := p.Stats()
					require.NoError(t, p.Grow(n))
					var mu sync.Mutex
					var wg sync.WaitGroup
					for range goroutines {
						wg.Add(1)
						go func() {
							defer wg.Done()
							for i := range n / goroutines {
								h, err := p.Insert(i)
								if err != nil {
									t.Error(err)
								}
								mu.Lock()
								hs = append(hs, h)
								mu.Unlock()
							}
						}()
					}
					wg.Wait()
					after := p.Stats()
					require.Equal(t, before.Bytes, after.Bytes, "insertions allocated, or the second Grow did")
					require.LessOrEqual(t, after.Allocated, after.Live+n+pool.DefaultMinFree+4*100)
					return hs
				}
				first := insert(1)
				second := insert(5)
				require.Equal(t, len(second), p.RemoveBatch(second))
				requireReclaimed(t, p)
				full := p.Stats()
				require.Positive(t, p.Trim())
				insert(5)
				require.LessOrEqual(t, p.Stats().Allocated, full.Allocated, "what Trim gave up did not come back")
				for _, h := range first {
					require.True(t, p.Contains(h))
				}
				for _, h := range second {
					require.False(t, p.Contains(h), "%v is live again", h)
				}
			})
		}
	}
}

// What cannot be is refused, and changes nothing.
func TestGrowRefuses(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 10})
	before := p.Stats()
	assert.EqualError(t, p.Grow(-1), "pool: Grow by -1 values; want 0 or more")
	err := p.Grow(11)
	assert.ErrorIs(t, err, pool.ErrFull)
	assert.EqualError(t, err, "pool: full: Grow by 11 values: there may be 10")
	if strconv.IntSize == 64 {
		large := pool.Must[bulky](nil)
		assert.ErrorContains(t, large.Grow(pool.MaxCapacity), "do not fit into the address space")
		assert.ErrorIs(t, large.Grow(math.MaxInt), pool.ErrFull)
		assert.Zero(t, large.Stats().Allocated)
	}
	require.Equal(t, before, p.Stats())
	requirePanicText(t, func() { _ = new(pool.Pool[int]).Grow(1) }, "zero Pool")
}

// A Ptr is looked up under a guard of its own pool alone.
func TestPtrUnderGuard(t *testing.T) {
	p, q := pool.Must(&pool.Options[int]{Origin: 1}), pool.Must(&pool.Options[int]{Origin: 1})
	h := mustInsert(t, p, 1)
	require.Equal(t, h, mustInsert(t, q, 2), "both pools know the handle")
	g := p.Pin()
	v, ok := p.Ptr(h).Under(&g)
	require.True(t, ok)
	require.Equal(t, 1, *v)
	_, ok = q.Ptr(h).Under(&g)
	require.False(t, ok, "a guard of another pool")
	g.Unpin()
	requirePanicText(t, func() { p.Ptr(h).Under(&g) }, "not pinned")
	requirePanicText(t, func() { pool.Ptr[int]{}.Under(&g) }, "not pinned")
}
