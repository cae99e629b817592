package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// edges are halves of words at the limits of packing.
var edges = []uint32{0, 1, 2, 1<<31 - 1, 1 << 31, shard.LastGeneration - 2, shard.LastGeneration, shard.Spent, shard.None}

// TestWordKeepsItsHalves also through a removal, by one generation, and to the next life.
func TestWordKeepsItsHalves(t *testing.T) {
	check := func(g, l uint32) {
		w := shard.Pack(g, l)
		require.Equal(t, g, shard.Generation(w))
		require.Equal(t, l, shard.Low(w))
		require.Equal(t, g%2 == 1, shard.IsLive(w), "%d@%d", l, g)
		if g%2 == 0 || g > shard.LastGeneration {
			return
		}
		for _, next := range edges {
			require.Equal(t, shard.Pack(g+1, next), shard.Vacated(w, next))
		}
		require.Equal(t, g == shard.LastGeneration, g+1 == shard.Spent)
		if g < shard.LastGeneration {
			require.Equal(t, shard.Pack(g+2, l), shard.Reborn(w))
		}
	}
	for _, g := range edges {
		for _, l := range edges {
			check(g, l)
			check(g|1, l)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		check(r.Uint32(), r.Uint32())
	}
}

func TestPageShift(t *testing.T) {
	for _, c := range []struct {
		size  uintptr
		limit uint64
		whole bool
		want  uint32
	}{
		{8, 1 << 20, false, 13}, // 64 KiB
		{16, shard.MaxSlots, false, 12},
		{24, shard.MaxSlots, false, 12},
		{512, shard.MaxSlots, false, 10}, // 1,024 slots at least
		{1 << 20, shard.MaxSlots, false, 0},
		{16, 1, false, 0},
		{16, 5, false, 3},
		{16, 1 << 20, true, 20}, // one page
		{8, shard.MaxSlots, true, 31},
	} {
		assert.Equal(t, c.want, shard.PageShift(c.size, c.limit, c.whole), "%+v", c)
	}
}

// TestPagesNeverMove grows a table a page at a time: older tables find the same slots, and
// blocks have each slot once.
func TestPagesNeverMove(t *testing.T) {
	const slots = 11 // the last page is not full
	var table shard.Table[uint64]
	table.Init(slots, tinyShift, false, false)
	require.Zero(t, table.Pages().Limit)
	var before []*shard.PageTable
	var at []*shard.Slot[uint64]
	for table.Grow() {
		p := table.Pages()
		before = append(before, p)
		for i := uint32(len(at)); i < p.Limit; i++ {
			at = append(at, shard.At[uint64](p, i))
			at[i].Value = uint64(i)
		}
		_, hi := table.Allot(slots)
		require.Equal(t, p.Limit, hi)
		require.Zero(t, table.Unused())
	}
	require.Len(t, at, slots)
	require.Len(t, before, 6)
	for _, p := range before {
		require.Same(t, table.Pages(), p.Now.Load())
		for i := range p.Limit {
			require.Same(t, at[i], shard.At[uint64](p, i), "slot %d by a table of %d", i, p.Limit)
		}
		n := uint32(0)
		for n < p.Limit {
			b := shard.Block[uint64](p, n, 4096)
			require.NotEmpty(t, b)
			require.Same(t, at[n], &b[0])
			n += uint32(len(b))
		}
		require.Equal(t, p.Limit, n)
	}
	assert.False(t, table.Grow(), "there are as many as there may be")
	lo, hi := table.Allot(1)
	assert.Equal(t, lo, hi, "Allot of nothing")
}

func TestProvideGivesMemoryToAsManyAsAsked(t *testing.T) {
	var table shard.Table[uint64]
	table.Init(100, tinyShift, true, true)
	table.Provide(7)
	assert.EqualValues(t, 8, table.Pages().Limit, "whole pages")
	table.Provide(100)
	assert.EqualValues(t, 100, table.Pages().Limit)
	assert.Greater(t, table.Bytes(), int64(100*16))
}
