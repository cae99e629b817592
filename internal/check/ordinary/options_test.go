package ordinary_test

import (
	"math"
	"strings"
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
		"negative Capacity":            {O{Capacity: -1}, "Capacity"},
		"least Capacity":               {O{Capacity: math.MinInt}, "Capacity"},
		"Preallocate alone":            {O{Preallocate: true}, "Preallocate"},
		"AutoTrim, Preallocate":        {O{Capacity: 9, Preallocate: true, AutoTrim: true}, "AutoTrim"},
		"unknown Reuse":                {O{Reuse: pool.FIFO + 1}, "Reuse"},
		"negative MinFree":             {O{Reuse: pool.FIFO, MinFree: -1}, "MinFree"},
		"MinFree under LIFO":           {O{MinFree: 1}, "MinFree"},
		"MinFree beyond all slots":     {O{Reuse: pool.FIFO, MinFree: math.MaxInt}, "MinFree"},
		"negative MaxLimbo":            {O{MaxLimbo: -1}, "MaxLimbo"},
		"negative Shards":              {O{Shards: -1}, "Shards"},
		"too many Shards":              {O{Shards: 65_537}, "Shards"},
		"too many Shards, small":       {O{Shards: 65_537, Capacity: 2}, "Shards"},
		"Origin past the last":         {O{Origin: testkit.LastGeneration + 1}, "Origin"},
		"Origin at the end":            {O{Origin: math.MaxUint32}, "Origin"},
		"FIFO with no room for spares": {O{Capacity: math.MaxInt, Reuse: pool.FIFO}, "Capacity"},
	} {
		t.Run(name, func(t *testing.T) {
			if math.MaxInt < 1<<32 && name[:4] == "FIFO" || math.MaxInt < 1<<32 && bad.opts.MinFree == math.MaxInt {
				t.Skip("an int cannot say so much")
			}
			p, err := pool.New(&bad.opts)
			require.Error(t, err)
			assert.Nil(t, p)
			assert.True(t, strings.HasPrefix(err.Error(), "pool: "), err)
			assert.Contains(t, err.Error(), bad.says)
			assert.PanicsWithError(t, err.Error(), func() { pool.Must(&bad.opts) })
		})
	}
	if math.MaxInt > 1<<32 {
		for _, c := range []uint64{1<<32 - 1023, 1 << 32, math.MaxInt64} {
			_, err := pool.New(&O{Capacity: int(c)})
			require.Errorf(t, err, "Capacity %d", c)
		}
	}
}

// New returns an error for more slots than there are addresses.
func TestPreallocateBeyondAllAddressesIsRefused(t *testing.T) {
	n := min(uint64(pool.MaxCapacity), 1<<31)
	_, err := pool.New(&pool.Options[bulky]{Capacity: int(n), Preallocate: true})
	require.ErrorContains(t, err, "Preallocate")
}

func TestDefaultsWork(t *testing.T) {
	for _, opts := range []*pool.Options[int]{nil, {}} {
		p, err := pool.New(opts)
		require.NoError(t, err)
		assert.Equal(t, pool.MaxCapacity, p.Cap())
		assert.Zero(t, p.Len())
		assert.Zero(t, p.Stats().Allocated, "no memory before the first insertion")
		h := testkit.MustInsert(t, p, 7)
		assert.Equal(t, 7, p.MustGet(h))
	}
}

func TestOriginIsTheFirstGeneration(t *testing.T) {
	for origin, want := range map[uint32]uint32{1: 1, 2: 3, 7: 7, 8: 9, testkit.LastGeneration - 1: testkit.LastGeneration, testkit.LastGeneration: testkit.LastGeneration} {
		for _, reuse := range testkit.Reuses {
			p := pool.Must(&pool.Options[int]{Origin: origin, Shards: 1, Reuse: reuse})
			h := testkit.MustInsert(t, p, 1)
			assert.Equalf(t, want, h.Generation(), "Origin %d, %v", origin, reuse)
		}
	}
}

// An Origin that is not set is drawn below 2^31, so that half of the
// generations are left, and is not always the same.
func TestOriginIsDrawn(t *testing.T) {
	seen := map[uint32]bool{}
	for range 64 {
		g := testkit.MustInsert(t, pool.Must[int](nil), 1).Generation()
		require.Less(t, g, uint32(1<<31))
		require.EqualValues(t, 1, g%2)
		seen[g] = true
	}
	assert.Greater(t, len(seen), 60)
}

// A Capacity of 1, or another small one, works with every default and with more
// shards than it can feed.
func TestSmallCapacityWorksWithEveryDefault(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 5} {
		for _, o := range []pool.Options[int]{
			{}, {Reuse: pool.FIFO}, {Reuse: pool.FIFO, MinFree: 1}, {Preallocate: true},
			{Preallocate: true, Reuse: pool.FIFO}, {Shards: 65_536}, {Shards: 65_536, Reuse: pool.FIFO},
			{Reset: func(*int) {}}, {MaxLimbo: 1}, {Origin: testkit.LastGeneration - 2001},
		} {
			o.Capacity = capacity
			p := pool.Must(&o)
			require.Equal(t, capacity, p.Cap())
			for round := range 200 {
				hs := testkit.Fill(t, p, capacity, testkit.Number)
				_, err := p.Insert(0)
				require.ErrorIsf(t, err, pool.ErrFull, "round %d of %+v", round, o)
				require.NotErrorIs(t, err, pool.ErrStalled)
				for _, h := range hs {
					require.True(t, p.Remove(h))
				}
			}
			w := p.Worker()
			for range 200 {
				h, err := w.Insert(1)
				require.NoErrorf(t, err, "%+v", o)
				require.True(t, w.Remove(h))
			}
			w.Close()
			st := testkit.RequireReclaimed(t, p)
			require.Equal(t, st.Allocated, st.Free)
		}
	}
}

func TestManyShardsWork(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Shards: 65_536, Reuse: pool.FIFO, MinFree: 3})
	hs := testkit.Fill(t, p, 30, testkit.Number)
	assert.Equal(t, 30, p.RemoveBatch(hs))
	testkit.RequireReclaimed(t, p)
}

// Without Preallocate, New does not allocate for a Capacity in advance.
func TestCapacityAloneCostsNothing(t *testing.T) {
	assert.Less(t, testkit.Allocated(func() {
		p := pool.Must(&pool.Options[[2]uint64]{Capacity: 100_000_000})
		assert.True(t, p.Contains(testkit.MustInsert(t, p, [2]uint64{1})))
	}), uint64(4<<20))
}

func TestReuseHasAName(t *testing.T) {
	assert.Equal(t, "LIFO", pool.LIFO.String())
	assert.Equal(t, "FIFO", pool.FIFO.String())
	assert.Equal(t, "Reuse(9)", pool.Reuse(9).String())
}
