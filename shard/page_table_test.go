package shard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"coatcheck/shard"
)

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

func TestProvideGivesMemoryToAsManyAsAsked(t *testing.T) {
	var table shard.Table
	table.Init(100, 0, tinyShift, 1, true, shard.LayoutOf(false, func(*uint64) {}))
	table.Provide(7)
	assert.EqualValues(t, 8, table.Pages().Limit, "whole pages")
	table.Provide(100)
	assert.EqualValues(t, 100, table.Pages().Limit)
	assert.Greater(t, table.Bytes(), int64(100*16))
}
