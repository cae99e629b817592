package shard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

func TestPagesOf(t *testing.T) {
	for _, c := range []struct {
		size       uintptr
		capacity   uint64
		unit, page uint32
	}{
		{8, 0, 6, 13}, // 64 KiB
		{16, 0, 6, 12},
		{24, 0, 6, 12},
		{72, 0, 6, 10},
		{80, 0, 5, 10},
		{264, 0, 4, 10},
		{512, 0, 3, 10}, // 1,024 slots at least
		{520, 0, 3, 9},
		{4 << 10, 0, 0, 6},
		{1 << 20, 0, 0, 0},
		{16, 1, 0, 12},
		{16, 5, 3, 12},
		{16, 1 << 20, 6, 12},
	} {
		assert.Equal(t, shard.PageSizes{Unit: c.unit, Page: c.page}, shard.PagesOf(c.size, c.capacity), "%+v", c)
	}
}

// tableOf returns an empty table of slots of 16 bytes.
func tableOf(c shard.Config) *shard.Table {
	var table shard.Table
	c.First, c.Layout = 1, shard.LayoutOf(false, func(*uint64) {})
	table.Init(&c, true)
	return &table
}

func TestProvideGivesMemoryToAsManyAsAsked(t *testing.T) {
	table := tableOf(shard.Config{Slots: 100, Pages: shard.PageSizes{Unit: 1, Page: 1}})
	table.Provide(7)
	assert.EqualValues(t, 8, table.Pages().Limit, "whole pages")
	table.Provide(100)
	assert.EqualValues(t, 100, table.Pages().Limit)
	assert.Greater(t, table.Bytes(), int64(100*16))
}

// Pages double up to their largest size. A Capacity cuts them, and what takes the place of exhausted
// slots grows from one unit again. All slots lie apart, and each knows its page.
func TestPagesGrow(t *testing.T) {
	tiny := shard.PageSizes{Unit: 1, Page: 3}
	for _, c := range []struct {
		what  string
		setup shard.Config
		want  []uint32
	}{
		{"without a Capacity", shard.Config{Slots: 30}, []uint32{2, 2, 4, 8, 8, 6}},
		{"a Capacity of whole pages", shard.Config{Slots: 30, Capacity: 8}, []uint32{2, 2, 4, 2, 2, 4, 8, 6}},
		{"a Capacity of whole units", shard.Config{Slots: 30, Capacity: 14}, []uint32{2, 2, 4, 6, 2, 2, 4, 8}},
		{"a Capacity within a unit", shard.Config{Slots: 30, Capacity: 13}, []uint32{2, 2, 4, 4, 2, 2, 4, 8, 2}},
		{"a Capacity below a unit", shard.Config{Slots: 10, Capacity: 1}, []uint32{2, 2, 4, 2}},
		{"Preallocate", shard.Config{Slots: 20, Capacity: 13, Fixed: true}, []uint32{14, 2, 2, 2}},
	} {
		c.setup.Pages = tiny
		table := tableOf(c.setup)
		var got []uint32
		seen := map[*shard.Hook]bool{}
		for limit := uint32(0); uint64(limit) < c.setup.Slots; {
			table.Provide(uint64(limit) + 1)
			now := table.Pages()
			n := now.Limit - limit
			got = append(got, n)
			require.Equal(t, n, now.Beside(limit, shard.None), c.what)
			require.EqualValues(t, 1, now.Beside(limit, 1), c.what)
			require.EqualValues(t, 1, now.Beside(now.Limit-1, shard.None), c.what)
			for i := range now.Limit {
				slot := now.At(i)
				require.Equal(t, i < limit, seen[slot], "%s, slot %d", c.what, i)
				seen[slot] = true
				if i >= limit {
					slot.Word.Store(uint64(i))
				}
				require.EqualValues(t, i, slot.Word.Load(), c.what)
			}
			limit = now.Limit
		}
		assert.Equal(t, c.want, got, c.what)
	}
}
