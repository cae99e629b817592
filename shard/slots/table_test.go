package slots_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard/slots"
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
		assert.Equal(t, slots.PageSizes{Unit: c.unit, Page: c.page, Most: c.most}, slots.PagesOf(c.size, c.capacity), "%+v", c)
	}
}

// tableOf returns an empty table of slots of 16 bytes.
func tableOf(c slots.Setup) *slots.Table {
	var table slots.Table
	c.Origin, c.Layout, c.Stamps = 1, slots.LayoutOf(false, func(*uint64) {}), true
	table.Init(c)
	return &table
}

func TestProvideGivesMemoryToAsManyAsAsked(t *testing.T) {
	table := tableOf(slots.Setup{Slots: 100, Pages: slots.PageSizes{Unit: 1, Page: 1}})
	table.Provide(7)
	assert.EqualValues(t, 8, table.Pages().Limit, "whole pages")
	table.Provide(100)
	assert.EqualValues(t, 100, table.Pages().Limit)
	assert.Greater(t, table.Bytes(), int64(100*16))
}

// Pages double up to their largest size. With Preallocate the first has all slots, and what takes the
// place of exhausted ones grows from one unit. All slots lie apart, and each knows its page.
func TestPagesGrow(t *testing.T) {
	tiny, large := slots.PageSizes{Unit: 1, Page: 3, Most: 3}, slots.PageSizes{Unit: 1, Page: 1, Most: 3}
	for _, c := range []struct {
		what  string
		setup slots.Setup
		want  []uint32
	}{
		{"a large pool", slots.Setup{Slots: 80, Pages: large}, []uint32{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8}},
		{"without a Capacity", slots.Setup{Slots: 30}, []uint32{2, 2, 4, 8, 8, 6}},
		{"with a Capacity", slots.Setup{Slots: 30, Capacity: 13}, []uint32{2, 2, 4, 8, 8, 6}},
		{"Preallocate", slots.Setup{Slots: 20, Capacity: 13, Fixed: true}, []uint32{14, 2, 2, 2}},
		{"Preallocate of many", slots.Setup{Slots: 140, Capacity: 129, Fixed: true}, []uint32{130, 2, 2, 4, 2}},
	} {
		if c.setup.Pages == (slots.PageSizes{}) {
			c.setup.Pages = tiny
		}
		table := tableOf(c.setup)
		var got []uint32
		seen := map[*slots.Hook]bool{}
		for limit := uint32(0); uint64(limit) < c.setup.Slots; {
			table.Provide(uint64(limit) + 1)
			now := table.Pages()
			n := now.Limit - limit
			got = append(got, n)
			require.Equal(t, n, now.Beside(limit, slots.None), c.what)
			require.EqualValues(t, 1, now.Beside(limit, 1), c.what)
			require.EqualValues(t, 1, now.Beside(now.Limit-1, slots.None), c.what)
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

// TestFewEntriesNeedNoType: the runtime keeps a type that is made for a number of entries, and would keep
// one for each small table there ever was.
func TestFewEntriesNeedNoType(t *testing.T) {
	var entries unsafe.Pointer
	for _, n := range []int{1, 100, slots.FewEntries} {
		require.EqualValues(t, 1, testing.AllocsPerRun(10, func() { entries = slots.MakeEntries(n) }), "%d entries", n)
	}
	require.Greater(t, testing.AllocsPerRun(10, func() { entries = slots.MakeEntries(slots.FewEntries + 1) }), 1.0)
	require.NotNil(t, entries)
}

// TestSizesHaveTheirCode: snapshots have it, so it stays, and is above 31 also for units of one slot.
func TestSizesHaveTheirCode(t *testing.T) {
	require.EqualValues(t, 0x120f07, slots.PageSizes{Unit: 7, Page: 14, Most: 17}.Code())
	require.EqualValues(t, 0x010100, slots.PageSizes{}.Code())
}

// TestStripsAreWhatHasMemory: while pages go and come back in any order, the strips of a table, and of each older
// one, are the runs of slots that have memory in it, whatever lies between.
func TestStripsAreWhatHasMemory(t *testing.T) {
	type run struct{ first, n uint32 }
	// naive returns the strips of a table's slots from lo to hi-1, by a look at each slot.
	naive := func(now *slots.PageTable, lo, hi uint32) (runs []run) {
		for i := lo; i < hi; i++ {
			m, j := now.Meta(i)
			if _, gone := now.Floor(i); gone {
				continue
			}
			if i == lo || j == 0 {
				runs = append(runs, run{i, min(m.N-j, hi-i)})
			}
		}
		return runs
	}
	rnd := testkit.Rand(t)
	for range 60 {
		table := tableOf(slots.Setup{Slots: 120, Pages: slots.PageSizes{Unit: 1, Page: 1, Most: 3}})
		table.Provide(40)
		_, limit := table.Allot(slots.None)
		tables := []*slots.PageTable{table.Pages()}
		for range 12 {
			switch rnd.IntN(3) {
			case 0:
				var gone []slots.Decommitted
				for m := range table.Pages().Pages {
					if m.Floor == 0 && rnd.IntN(2) == 0 {
						gone = append([]slots.Decommitted{{FirstSlot: m.FirstSlot, Floor: 10}}, gone...)
					}
				}
				table.Decommit(gone)
			case 1:
				table.ProvideMore(1 + rnd.Uint64N(20))
				table.Allot(limit) // what came back, so that more can
			case 2:
				table.Provide(min(120, uint64(table.Pages().Limit)+1))
			}
			tables = append(tables, table.Pages())
		}
		for k, now := range tables {
			for range 6 {
				lo := rnd.Uint32N(now.Limit)
				hi := lo + 1 + rnd.Uint32N(now.Limit-lo)
				var got []run
				for i := lo; i < hi; {
					s := now.Strip(i, hi)
					if s.N > 0 {
						got = append(got, run{s.First, s.N})
						require.Equal(t, now.At(s.First), s.Slot(0))
					}
					i = s.First + s.N
				}
				require.Equal(t, naive(now, lo, hi), got, "table %d of %d, slots %d to %d", k, len(tables), lo, hi-1)
			}
		}
	}
}

// TestPagesComeBackOncePerFinding: a call that has found that the table needs a page brings none back if another call has
// done so since, although all that came back is in use again.
func TestPagesComeBackOncePerFinding(t *testing.T) {
	table := tableOf(slots.Setup{Slots: 64, Pages: slots.PageSizes{Unit: 1, Page: 1, Most: 1}})
	table.Provide(64)
	table.Allot(64)
	table.Decommit([]slots.Decommitted{{FirstSlot: 40, Floor: 2}, {FirstSlot: 20, Floor: 2}}) // no neighbours
	for _, want := range []int{62, 64} {
		found := table.Changes()
		for range 2 {
			table.Grow(found)
			require.Equal(t, want, table.Resident())
			table.Allot(64)
		}
	}
}

// TestGrowthAheadCountsFromWhatWasNeeded: that is what had memory when the table had to grow, without the page that it got.
func TestGrowthAheadCountsFromWhatWasNeeded(t *testing.T) {
	table := tableOf(slots.Setup{Slots: 64, Pages: slots.PageSizes{Unit: 3, Page: 3, Most: 3}})
	table.Provide(8)
	table.Allot(8)
	table.Grow(table.Changes())
	table.Allot(8)
	require.Equal(t, 16, table.Resident())
	require.False(t, table.GrowAhead(table.Changes(), 15), "there would be 16 more than were needed")
	require.True(t, table.GrowAhead(table.Changes(), 16))
	require.Equal(t, 24, table.Resident())
}

// TestStagesOfAPageWithoutMemory are its floor, and no word of the stub.
func TestStagesOfAPageWithoutMemory(t *testing.T) {
	table := tableOf(slots.Setup{Slots: 64, Pages: slots.PageSizes{Unit: 1, Page: 2, Most: 2}})
	table.Provide(64)
	table.Allot(64)
	table.Decommit([]slots.Decommitted{{FirstSlot: 8, Floor: 10}})
	stages := make([]uint32, 8)
	require.Equal(t, 4, table.Stages(table.Pages(), 8, stages))
	require.Equal(t, []uint32{10, 10, 10, 10}, stages[:4])
	require.Equal(t, 4, table.Stages(table.Pages(), 12, stages))
	require.Equal(t, []uint32{0, 0, 0, 0}, stages[:4])
}

// TestTableChangesUnderItsLock: calls that change the pages, or tell of more than one word, wait for the lock. One that could
// do without does not.
func TestTableChangesUnderItsLock(t *testing.T) {
	table := tableOf(slots.Setup{Slots: 8, Pages: slots.PageSizes{Unit: 1, Page: 1}})
	table.Provide(2)
	table.Allot(2)
	for name, call := range map[string]func(){
		"Memory": func() { table.Memory() }, "HasStub": func() { table.HasStub() }, "Decommit": func() { table.Decommit(nil) },
		"Grow": func() { table.Grow(table.Changes()) }, "ProvideMore": func() { table.ProvideMore(1) },
	} {
		done := make(chan bool, 1)
		table.Lock()
		require.False(t, table.GrowAhead(table.Changes(), 8))
		go func() { call(); done <- true }()
		for range 1000 {
			runtime.Gosched() // it reaches the lock
		}
		require.Empty(t, done, name)
		table.Unlock()
		require.True(t, testkit.Soon(t, done), name)
	}
}

// TestRestoredTablesFit: a table that was restored in many steps takes as much memory as one that has given up its pages.
func TestRestoredTablesFit(t *testing.T) {
	const total = 3000
	setup := slots.Setup{Slots: total, Pages: slots.PageSizes{Unit: 1, Page: 1}}
	restored, original := tableOf(setup), tableOf(setup)
	var gone []slots.Decommitted
	for first := uint32(0); first < total; first += 2 {
		restored.ExtendVacant(uint64(first) + 2)
		gone = append(gone, slots.Decommitted{FirstSlot: first, Floor: 2})
	}
	restored.EndRestore(gone, true)
	original.Provide(total)
	original.Allot(total)
	original.Decommit(gone)
	require.Equal(t, original.Memory(), restored.Memory())
	require.Equal(t, original.Bytes(), restored.Bytes())
}
