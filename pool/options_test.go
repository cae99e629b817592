//go:build !race

package pool_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

func TestBadOptionsAreRefused(t *testing.T) {
	type O = pool.Options[int]
	for name, bad := range map[string]struct {
		opts O
		says string
	}{
		"negative Capacity":      {O{Capacity: -1}, "Capacity is -1; want 0 (no limit) or more"},
		"least Capacity":         {O{Capacity: math.MinInt}, fmt.Sprintf("Capacity is %d; want 0 (no limit) or more", math.MinInt)},
		"Preallocate alone":      {O{Preallocate: true}, "Preallocate needs a Capacity"},
		"unknown Reuse":          {O{Reuse: pool.FIFO + 1}, "Reuse is 2; want LIFO or FIFO"},
		"negative MaxLimbo":      {O{MaxLimbo: -1}, "MaxLimbo is -1; want 0 (the default) or more"},
		"negative Shards":        {O{Shards: -1}, "Shards is -1; want 0 (the default) to 65536"},
		"too many Shards":        {O{Shards: 65_537}, "Shards is 65537; want 0 (the default) to 65536"},
		"too many Shards, small": {O{Shards: 65_537, Capacity: 2}, "Shards is 65537; want 0 (the default) to 65536"},
		"negative TraceGuards":   {O{TraceGuards: -1}, "TraceGuards is -1; want 0 (none), or to record one in so many"},
		"Origin past the last":   {O{Origin: testkit.LastGeneration + 1}, fmt.Sprintf("Origin is %d; the last generation is %d", uint32(testkit.LastGeneration+1), uint32(testkit.LastGeneration))},
		"Origin at the end":      {O{Origin: math.MaxUint32}, fmt.Sprintf("Origin is %d; the last generation is %d", uint32(math.MaxUint32), uint32(testkit.LastGeneration))},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := pool.New(&bad.opts)
			require.EqualError(t, err, "pool: Options."+bad.says)
			assert.Nil(t, p)
			assert.PanicsWithError(t, err.Error(), func() { pool.Must(&bad.opts) })
		})
	}
	if math.MaxInt > 1<<32 {
		for _, c := range []uint64{1<<32 - 1023, 1 << 32, math.MaxInt64} {
			_, err := pool.New(&O{Capacity: int(c)})
			require.EqualError(t, err, fmt.Sprintf("pool: Options.Capacity is %d; the limit is %d", c, uint64(pool.MaxCapacity)))
		}
	}
}

// New returns an error for more slots than there are addresses.
func TestPreallocateBeyondAllAddressesIsRefused(t *testing.T) {
	n := min(uint64(pool.MaxCapacity), 1<<31)
	_, err := pool.New(&pool.Options[bulky]{Capacity: int(n), Preallocate: true})
	require.Regexp(t, fmt.Sprintf(`^pool: Options.Preallocate: %d slots of \d+ bytes do not fit`, n), err)
	_, err = pool.New(&pool.Options[bulky]{Capacity: int(n)})
	require.NoError(t, err, "without it, a program may use as many as fit")
}

// With Preallocate, New makes all shards, as if they were asked for: a pool that makes one where goroutines meet
// would allocate there.
func TestPreallocateMakesAllShards(t *testing.T) {
	bytes := func(shards int) int64 {
		p := pool.Must(&pool.Options[int]{Capacity: 1000, Preallocate: true, Shards: shards})
		return p.Stats().Bytes
	}
	require.Equal(t, bytes(min(4*runtime.GOMAXPROCS(0), 1000/2)), bytes(0))
	require.Greater(t, bytes(0), bytes(1), "Bytes should tell shards")
}

// TestPreallocateMakesTheCountsOfHolders, so that no Hold allocates.
func TestPreallocateMakesTheCountsOfHolders(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 1000, Preallocate: true})
	bytes := p.Stats().Bytes
	for range 1000 {
		r, ok := p.Hold(testkit.MustInsert(t, p, 1))
		require.True(t, ok)
		r.Release()
	}
	require.Equal(t, bytes, p.Stats().Bytes)
}

// TestShardsAreMadeAtOnceIfAskedFor: otherwise goroutines that meet early share one.
func TestShardsAreMadeAtOnceIfAskedFor(t *testing.T) {
	bytes := func(shards int) int64 { return pool.Must(&pool.Options[int]{Shards: shards}).Stats().Bytes }
	require.Equal(t, bytes(1), bytes(0))
	require.Greater(t, bytes(4), bytes(1))
	require.Greater(t, bytes(40), bytes(4))
}

// An Origin that is not set is drawn below 2^31, so that half of the generations are left. So
// pools refuse each other's handles, though they have the same indices.
func TestForeignHandleIsRefused(t *testing.T) {
	opts := &pool.Options[int]{Shards: 1}
	first := pool.Must(opts)
	own := testkit.MustInsert(t, first, 1)
	refused := 0
	for range 64 {
		h := testkit.MustInsert(t, pool.Must(opts), 1)
		require.Less(t, h.Generation(), uint32(1<<31))
		require.EqualValues(t, 1, h.Generation()%2)
		require.Equal(t, own.Index(), h.Index())
		if !first.Contains(h) {
			refused++
		}
	}
	assert.Greater(t, refused, 60)
}

// Without Preallocate, New does not allocate for a Capacity in advance.
func TestCapacityAloneCostsNothing(t *testing.T) {
	assert.Less(t, testkit.Allocated(func() {
		p := pool.Must(&pool.Options[[2]uint64]{Capacity: 100_000_000})
		assert.True(t, p.Contains(testkit.MustInsert(t, p, [2]uint64{1})), "the value should be live")
	}), uint64(4<<20))
}
