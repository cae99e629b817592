package pool_test

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// After Grow(n), n insertions by any goroutines allocate nothing: in a new pool, in one in
// use, and in one whose pages Trim gave up.
func TestGrowMakesMemoryAhead(t *testing.T) {
	const n = 5000
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{0, 2 * n} {
			t.Run(fmt.Sprint(testkit.NameOf(reuse), capacity), func(t *testing.T) {
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
					require.LessOrEqual(t, after.Allocated, after.Live+n+4*100)
					return hs
				}
				first := insert(1)
				second := insert(5)
				require.Equal(t, len(second), p.RemoveBatch(second))
				testkit.RequireReclaimed(t, p)
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

// A Grow that is impossible is refused, and changes nothing.
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
	testkit.RequirePanicText(t, func() { _ = new(pool.Pool[int]).Grow(1) }, "zero Pool")
}

// A slot costs its value plus 8 bytes, rounded up to 8, plus at most an eighth.
func TestMemoryOfASlot(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector needs memory of its own")
	}
	testMemoryOfASlot[int](t, 16)
	testMemoryOfASlot[plain](t, 24)
	testMemoryOfASlot[struct{}](t, 8)
	testMemoryOfASlot[object](t, 56)
}

func testMemoryOfASlot[T any](t *testing.T, bytes uint64) {
	const n = 200_000
	before := testkit.Heap()
	p := pool.Must[T](nil)
	var v T
	for range n {
		if _, err := p.Insert(v); err != nil {
			t.Fatal(err)
		}
	}
	got := float64(testkit.Heap()-before) / n
	require.LessOrEqual(t, got, float64(bytes)*1.125, "bytes a slot of %T", v)
	st := p.Stats()
	slot := int64(unsafe.Sizeof(v)+7)&^7 + 8 // less than bytes where pointers are smaller
	require.GreaterOrEqual(t, st.Bytes, int64(st.Allocated)*slot)
	require.LessOrEqual(t, st.Bytes, int64(st.Allocated)*(slot+1))
	require.Less(t, st.Allocated, n*11/10)
}
