//go:build !race

package shard_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// restoring returns an arena without slots, whose pages have 1, 1, 2, 4, 4, … slots, and a restorer of it that can
// afford all.
func restoring(most int) (*shard.Arena, *shard.Restorer) { return restoringPages(most, tinyPages) }

// restoringPages is restoring for pages of other sizes.
func restoringPages(most int, pages slots.PageSizes) (*shard.Arena, *shard.Restorer) {
	a := new(shard.Arena)
	a.Init(shard.Config{
		Domain: epoch.New(), Layout: slots.LayoutOf[uint64](false, nil), Slots: uint64(most), Pages: pages, Shards: 1, Origin: 1,
	})
	r := shard.NewRestorer(a)
	r.Earn(1 << 63)
	r.Earn(1 << 63) // more does not wrap
	return a, r
}

// requireUnused requires that slots were never used: a stage that they did not have would cost them lives.
func requireUnused(t *testing.T, a *shard.Arena, first, end uint32) {
	t.Helper()
	for i := first; i < end; i++ {
		_, h := a.Table.FirstLife(i)
		require.Equal(t, text(slots.Pack(1, i)), text(h))
	}
}

// TestRestoredSlotsShareAPage: a page gets memory with the first of its slots that needs some. Those that were read before
// have the page's floor, which is no exact stage, and those behind are as if they were never used.
func TestRestoredSlotsShareAPage(t *testing.T) {
	const floor = 10
	a, r := restoring(32)
	require.True(t, r.Vacant(0, 6, floor))
	stage, exact := r.Stage(4)
	require.Equal(t, []any{uint32(floor), false}, []any{stage, exact}, "the page has a floor")
	require.True(t, r.Occupy(6, 7)) // in the page of slots 4 to 7
	requireUnused(t, a, 6, 8)
	for i := range uint32(6) {
		stage, exact := r.Stage(i)
		require.Equal(t, []any{uint32(floor), false}, []any{stage, exact}, "slot %d: it may have had an earlier one", i)
	}
	require.EqualValues(t, 4, a.Table.Resident())

	a, r = restoring(32)
	require.True(t, r.Occupy(0, 5))
	require.True(t, r.Vacant(5, 6, floor)) // in the page of slots 4 to 7, which has memory
	stage, exact = r.Stage(5)
	require.Equal(t, []any{uint32(floor), true}, []any{stage, exact})
	requireUnused(t, a, 6, 8)
}

// TestPageOfATooOldSlotGetsMemory, for no more slots than were handed out.
func TestPageOfATooOldSlotGetsMemory(t *testing.T) {
	a, r := restoring(32)
	require.True(t, r.Vacant(0, 22, 2)) // in pages up to slot 23
	old := uint32(a.OldFloor()) + 2
	require.True(t, r.Change(21, old-2))
	require.Zero(t, a.Table.Resident())
	require.True(t, r.Change(21, old))
	require.EqualValues(t, 4, a.Table.Resident())
	for i, want := range map[uint32]uint32{3: 2, 20: old - 2, 21: old} {
		stage, _ := r.Stage(i)
		require.Equal(t, want, stage, "slot %d", i)
	}
	requireUnused(t, a, 22, 24)
}

// TestRestoredSlotsArePaidFor: input that has not paid for memory, or for places in the table, gets none.
func TestRestoredSlotsArePaidFor(t *testing.T) {
	const n = 1 << 16
	a, r := restoring(n)
	require.True(t, r.Vacant(0, 6, 2))
	poor := shard.NewRestorer(a)
	require.False(t, poor.Vacant(6, n, 2))
	require.False(t, poor.Occupy(6, 7), "the page of slots 4 to 7")
	require.False(t, poor.Occupy(6, n))
	require.False(t, poor.Change(4, uint32(a.OldFloor())+2))
	require.EqualValues(t, 6, a.Table.Allocated())
	require.Zero(t, a.Table.Resident())
	price := 4 * uint64(a.Size+shard.BesideSlot)
	poor.Earn(price - 1)
	require.False(t, poor.Occupy(6, 7))
	poor.Earn(1)
	require.True(t, poor.Occupy(6, 7), "it has paid all of it")
}

// TestOutlive: slots that were never used begin one life after all that were left out and all that these skip. If that is
// no life, there are no slots from there on.
func TestOutlive(t *testing.T) {
	a, _ := restoring(32)
	last := a.Table.Origins().LastStage()
	for _, c := range []struct {
		i, stage, lives, fresh uint32
		slots                  uint64
	}{
		{40, 1, 0, 5, 32}, {5, 3, 2, 11, 32}, {6, 4, 0, 11, 32}, {7, last - 3, 0, last, 32},
		{40, last - 2, 0, last, 32}, {20, last - 2, 0, last, 20}, {30, last, 0, last, 20}, {19, 1, 1 << 31, last, 19},
	} {
		a.Outlive(c.i, c.stage, c.lives)
		require.Equal(t, []any{c.fresh, c.slots, c.slots}, []any{a.Table.FreshStage(), a.Slots, a.Table.Bound()}, "%+v", c)
	}
}

// TestInsertionsSeeThatRestoredSlotsAreReady without a lock. Else the first one takes all.
func TestInsertionsSeeThatRestoredSlotsAreReady(t *testing.T) {
	const n = 4 * shard.SpliceLeast
	a, r := restoring(2 * n)
	require.True(t, r.Occupy(0, n))
	r.RestoreSlots(0, slices.Repeat([]uint32{1, 2}, n/2)) // each second slot lives
	r.FillFreelists(r.RetireUnborn(0))
	require.Equal(t, n/2, a.Shard(0).Ready())
}

// TestOrderOfPagesWithoutMemoryTakesFew: what restores an order keeps a byte for each slot that has memory, and one for a page
// that has none.
func TestOrderOfPagesWithoutMemoryTakesFew(t *testing.T) {
	const n = 1 << 24
	sizes := slots.PageSizes{Unit: 12, Page: 24, Most: 24}
	a, r := restoringPages(n, sizes)
	require.True(t, r.Vacant(0, n, 2))
	var gone []slots.Decommitted
	for m := range a.Table.Pages().Pages {
		gone = append(gone, slots.Decommitted{FirstSlot: m.FirstSlot, Floor: 2})
	}
	a.Table.EndRestore(gone, true)
	c, r := restoringPages(n, sizes)
	require.True(t, r.Vacant(0, n, 2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, ok := r.RestoreOrder(a.Order())
	runtime.ReadMemStats(&after)
	require.True(t, ok)
	require.Equal(t, a.Table.Memory(), c.Table.Memory())
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n/4))
}

// TestNoPageIsGoneBeforeItIsHandedOut: an order that says so is forged. Slots that were never used would be handed out twice.
func TestNoPageIsGoneBeforeItIsHandedOut(t *testing.T) {
	for end, want := range map[uint64]bool{20: true, 21: false, 23: false, 24: true} { // a page has slots 20 to 23
		a, r := restoring(32)
		require.True(t, r.Vacant(0, end, 2))
		var gone []slots.Decommitted
		for m := range a.Table.Pages().Pages {
			gone = append(gone, slots.Decommitted{FirstSlot: m.FirstSlot, Floor: 2})
		}
		a.Table.EndRestore(gone, true)
		_, r = restoring(32)
		require.True(t, r.Vacant(0, end, 2))
		_, ok := r.RestoreOrder(a.Order())
		require.Equal(t, want, ok, "with %d slots", end)
	}
}
