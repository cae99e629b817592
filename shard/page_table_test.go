package shard_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
)

func TestPagesOf(t *testing.T) {
	for _, c := range []struct {
		size             uintptr
		capacity         uint64
		unit, page, most uint8
	}{
		{8, 0, 7, 15, 17}, // 256 KiB to 1 MiB
		{16, 0, 7, 14, 16},
		{24, 0, 7, 14, 16},
		{40, 0, 6, 13, 15},
		{72, 0, 6, 12, 14},
		{80, 0, 5, 12, 14},
		{264, 0, 4, 10, 12},
		{512, 0, 3, 9, 11},
		{520, 0, 3, 9, 11},
		{4 << 10, 0, 0, 6, 8},
		{1 << 20, 0, 0, 0, 0},
		{16, 1, 0, 0, 0},
		{16, 5, 3, 3, 3},
		{16, 100, 7, 7, 7}, // 28 spare slots take less than 4 KiB
		{72, 1100, 6, 7, 7},
		{72, 2000, 6, 11, 11},
		{16, 1 << 20, 7, 14, 14},
	} {
		assert.Equal(t, shard.PageSizes{Unit: c.unit, Page: c.page, Most: c.most}, shard.PagesOf(c.size, c.capacity), "%+v", c)
	}
}

// tableOf returns an empty table of slots of 16 bytes.
func tableOf(c shard.Setup) *shard.Table {
	var table shard.Table
	c.FirstGeneration, c.Layout, c.Stamps = 1, shard.LayoutOf(false, func(*uint64) {}), true
	table.Init(c)
	return &table
}

func TestProvideGivesMemoryToAsManyAsAsked(t *testing.T) {
	table := tableOf(shard.Setup{Slots: 100, Pages: shard.PageSizes{Unit: 1, Page: 1}})
	table.Provide(7)
	assert.EqualValues(t, 8, table.Pages().Limit, "whole pages")
	table.Provide(100)
	assert.EqualValues(t, 100, table.Pages().Limit)
	assert.Greater(t, table.Bytes(), int64(100*16))
}

// Pages double up to their largest size. With Preallocate the first has all slots, and what takes the
// place of exhausted ones grows from one unit. All slots lie apart, and each knows its page.
func TestPagesGrow(t *testing.T) {
	tiny, large := shard.PageSizes{Unit: 1, Page: 3, Most: 3}, shard.PageSizes{Unit: 1, Page: 1, Most: 3}
	for _, c := range []struct {
		what  string
		setup shard.Setup
		want  []uint32
	}{
		{"a large pool", shard.Setup{Slots: 80, Pages: large}, []uint32{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8}},
		{"without a Capacity", shard.Setup{Slots: 30}, []uint32{2, 2, 4, 8, 8, 6}},
		{"with a Capacity", shard.Setup{Slots: 30, Capacity: 13}, []uint32{2, 2, 4, 8, 8, 6}},
		{"Preallocate", shard.Setup{Slots: 20, Capacity: 13, Fixed: true}, []uint32{14, 2, 2, 2}},
		{"Preallocate of many", shard.Setup{Slots: 140, Capacity: 129, Fixed: true}, []uint32{130, 2, 2, 4, 2}},
	} {
		if c.setup.Pages == (shard.PageSizes{}) {
			c.setup.Pages = tiny
		}
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

// What lies side by side in a page without memory is a unit: the stub has no more.
func TestLoopsEndWithUnitsWithoutMemory(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, pages: shard.PageSizes{Unit: 1, Page: 4}})
	hs := r.fill(t, r.shards[0], 64, number)
	require.EqualValues(t, 16, r.arena.Table.Pages().Beside(16, shard.None))
	r.remove(t, r.shards[0], hs[2:]...)
	r.reclaim(t, r.shards[0])
	require.Positive(t, r.arena.Trim())
	now := r.arena.Table.Pages()
	require.Equal(t, 62, int(r.arena.Table.Pages().Limit)-r.arena.Table.Resident())
	for i := range now.Limit {
		require.EqualValues(t, 2-i%2, now.Beside(i, shard.None), "slot %d", i)
		require.Len(t, shard.Block[uint64](now, i, 64), int(2-i%2))
	}
	live, _ := r.arena.Table.Survey()
	require.Equal(t, 2, live)
}

// Goroutines on several shards share the first page of a small pool: each takes a part of what was
// never used, and then another's slot before it takes a new page.
func TestShardsShareASmallPool(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1 << 20, memory: 1, shards: 8, pages: shard.PagesOf(16, 0)})
	claim := func(s *shard.Shard) uint64 {
		slot, h, err := s.Claim()
		require.NoError(t, err)
		live(slot, h, 1)
		return h
	}
	first := r.shards[0]
	for _, s := range r.shards[:4] {
		claim(s)
	}
	require.EqualValues(t, 128, r.arena.Table.Pages().Limit, "nothing was removed yet")
	for range 100 {
		for range 10 {
			r.remove(t, first, claim(first))
		}
		r.reclaim(t, first)
		for _, s := range r.shards[1:] {
			r.remove(t, first, claim(s)) // so that it comes back there
			r.reclaim(t, first)
		}
	}
	require.EqualValues(t, 128, r.arena.Table.Pages().Limit)
}

// A look-up that has loaded the address of the entries, and nothing else yet, keeps the pages that
// they show, whatever Trim does meanwhile.
func TestEntriesKeepPages(t *testing.T) {
	for _, page := range []uint8{3, 9} { // few entries, and so many that the collector does not read them
		const total = 2048
		n := total >> (9 - page)
		r := newRig[uint64](t, setup[uint64]{slots: n, pages: shard.PageSizes{Page: page}})
		r.remove(t, r.shards[0], r.fill(t, r.shards[0], n, number)...)
		r.reclaim(t, r.shards[0])
		freed := make(chan bool, 1)
		entries := r.arena.Table.Pages().Array
		runtime.AddCleanup(shard.At[uint64](r.arena.Table.Pages(), uint32(n)/2), func(int) { freed <- true }, 0)
		require.Positive(t, r.arena.Trim())
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond) // cleanups have a goroutine of their own
		}
		require.Empty(t, freed, "page %d", page)
		runtime.KeepAlive(entries)
		runtime.GC()
		require.True(t, testkit.Soon(t, freed), "the memory should be freed")
		runtime.KeepAlive(r)
	}
}
