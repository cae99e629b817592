package epoch_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
)

func TestPinHoldsTheFrontier(t *testing.T) {
	d := epoch.New()
	before := d.Retire()
	g := d.Pin()
	after := d.Retire()
	require.Greater(t, after, before)
	for range 10 {
		d.Retire()
		assert.True(t, d.Passed(before), "retired before the pin")
		assert.False(t, d.Passed(after), "retired under the pin")
		assert.LessOrEqual(t, d.Safe(), after)
	}
	last := d.Retire()
	g.Unpin()
	assert.LessOrEqual(t, d.Safe(), after, "no scan since")
	assert.True(t, d.Passed(last))
	assert.Greater(t, d.Safe(), last)
}

func TestStampsGrowWithTheEpoch(t *testing.T) {
	d := epoch.New()
	for want := d.Epoch(); want < 100; want++ {
		require.Equal(t, want, d.Retire())
		require.Equal(t, want+1, d.Epoch())
	}
	require.False(t, d.Passed(d.Epoch()), "no call returned this stamp")
}

// TestOldestGuardDecides unpins guards in another order than they were pinned.
func TestOldestGuardDecides(t *testing.T) {
	d := epoch.New()
	var guards []epoch.Guard
	var stamps []uint64
	for range 5 {
		guards = append(guards, d.Pin())
		stamps = append(stamps, d.Retire())
	}
	n, oldest := d.Pinned()
	require.Equal(t, 5, n)
	require.EqualValues(t, 5, oldest)
	for _, i := range []int{4, 1, 3, 2} {
		guards[i].Unpin()
		for _, stamp := range stamps {
			require.False(t, d.Passed(stamp), "the first guard is pinned")
		}
	}
	guards[0].Unpin()
	for _, stamp := range stamps {
		require.True(t, d.Passed(stamp))
	}
	n, oldest = d.Pinned()
	require.Zero(t, n)
	require.Zero(t, oldest)
}

// TestStaleEpochIsConservative: a guard with an old epoch holds back more than it must, and an
// epoch in the future does no harm.
func TestStaleEpochIsConservative(t *testing.T) {
	d := epoch.New()
	d.SetEpoch(1000)
	old := d.Pin()
	d.SetEpoch(5000)
	stamp := d.Retire()
	young := d.Pin()
	assert.EqualValues(t, 1000, d.Frontier())
	assert.False(t, d.Passed(stamp))
	n, oldest := d.Pinned()
	assert.Equal(t, 2, n)
	assert.EqualValues(t, 4001, oldest)
	old.Unpin()
	assert.EqualValues(t, 5001, d.Frontier())
	assert.True(t, d.Passed(stamp))
	young.Unpin()
}

func TestBriefPinHoldsTheFrontier(t *testing.T) {
	d := epoch.New()
	for range 100 { // some guesses fail, some do not
		g := d.PinBrief()
		stamp := d.Retire()
		require.False(t, d.Passed(stamp))
		n, _ := d.Pinned()
		require.Equal(t, 1, n)
		g.UnpinBrief()
		require.True(t, d.Passed(stamp))
	}
}

// TestBriefPinsFindCells has more brief guards than there are brief cells.
func TestBriefPinsFindCells(t *testing.T) {
	const n = 500
	d := epoch.New()
	var brief, other []epoch.Guard
	for range n {
		brief = append(brief, d.PinBrief())
		other = append(other, d.Pin())
	}
	stamp := d.Retire()
	pinned, _ := d.Pinned()
	require.Equal(t, 2*n, pinned)
	for i := range brief {
		require.False(t, d.Passed(stamp))
		brief[i].UnpinBrief()
		other[i].Unpin()
	}
	require.True(t, d.Passed(stamp))
}

func TestUnpinPanicsIfNotPinned(t *testing.T) {
	const text = "epoch: Unpin of a guard that is not pinned (unpinned before, or through a copy?)"
	d := epoch.New()
	g := d.Pin()
	theCopy := g
	require.True(t, g.Pinned())
	g.Unpin()
	assert.False(t, g.Pinned())
	assert.PanicsWithValue(t, text, g.Unpin, "a second time")
	assert.PanicsWithValue(t, text, theCopy.Unpin, "through a copy")
	assert.False(t, theCopy.Release(), "Release does not panic")
	assert.PanicsWithValue(t, text, new(epoch.Guard).Unpin, "the zero Guard")
	assert.False(t, new(epoch.Guard).Pinned())
	n, _ := d.Pinned()
	assert.Zero(t, n)
}

// TestCopyEndsNoOtherPin unpins through a copy after its cell was pinned again, in the same
// epoch and later.
func TestCopyEndsNoOtherPin(t *testing.T) {
	for _, advance := range []bool{false, true} {
		d := epoch.New()
		g := d.Pin()
		theCopy := g
		g.Unpin()
		if advance {
			d.Retire()
		}
		again := d.Pin() // the same goroutine, so the same cell
		require.Panics(t, theCopy.Unpin)
		n, _ := d.Pinned()
		require.Equal(t, 1, n, "another pin has ended")
		again.Unpin()
	}
}

func TestZeroDomainPanics(t *testing.T) {
	const text = "epoch: Pin of a zero Domain (or Pool); make one with New"
	assert.PanicsWithValue(t, text, func() { new(epoch.Domain).Pin() })
	assert.PanicsWithValue(t, text, func() { new(epoch.Domain).PinBrief() })
}

func TestUnpinOnAnotherGoroutine(t *testing.T) {
	d := epoch.New()
	g := d.Pin()
	stamp := d.Retire()
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Unpin()
	}()
	<-done
	assert.True(t, d.Passed(stamp))
}

// TestEpochStopsAtItsLimit requires that the last epoch stays, that Passed refuses what is
// retired in it, and that nothing wraps.
func TestEpochStopsAtItsLimit(t *testing.T) {
	d := epoch.New()
	d.SetEpoch(epoch.Limit - 2)
	for _, want := range []uint64{epoch.Limit - 2, epoch.Limit - 1} {
		g := d.Pin()
		require.Equal(t, want, d.Retire())
		require.False(t, d.Passed(want))
		g.Unpin()
		require.True(t, d.Passed(want))
	}
	for range 3 {
		g := d.Pin()
		require.EqualValues(t, uint64(epoch.Limit), d.Retire())
		require.EqualValues(t, uint64(epoch.Limit), d.Epoch())
		n, oldest := d.Pinned()
		require.Equal(t, 1, n)
		require.Zero(t, oldest)
		g.Unpin()
		require.False(t, d.Passed(epoch.Limit), "there is no later epoch")
		require.True(t, d.Passed(epoch.Limit-1))
		require.EqualValues(t, uint64(epoch.Limit), d.Safe())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, d.Synchronize(ctx), context.DeadlineExceeded)
}

// TestCellsWord checks the arithmetic of a cell's word at its limits.
func TestCellsWord(t *testing.T) {
	for _, kind := range []uint64{epoch.Active, epoch.Active | epoch.Brief} {
		for _, e := range []uint64{0, 1, 77, epoch.Limit - 1, epoch.Limit} {
			idle, seen := uint64(0), map[uint64]bool{}
			for range 1 << 14 {
				w := epoch.Claimed(idle, e, kind)
				require.True(t, epoch.IsActive(w))
				require.Equal(t, kind&epoch.Brief != 0, epoch.IsBrief(w))
				require.Equal(t, e, epoch.EpochOf(w))
				require.False(t, seen[w], "pin %d has the word of an earlier one", len(seen))
				seen[w] = true
				idle = epoch.Released(w)
				require.False(t, epoch.IsActive(idle))
				require.False(t, epoch.IsBrief(idle))
			}
			w := epoch.Claimed(idle, e, kind)
			require.True(t, seen[w], "the sequence begins anew")
			require.Equal(t, e, epoch.EpochOf(w), "and carries nothing into the epoch")
		}
	}
}

// TestHeldCountsFullPins pins brief guards in their own cells and in others.
func TestHeldCountsFullPins(t *testing.T) {
	d := epoch.New()
	require.False(t, d.Held())
	var brief []epoch.Guard
	for range 300 {
		brief = append(brief, d.PinBrief())
	}
	require.False(t, d.Held())
	n, _ := d.Pinned()
	require.Equal(t, 300, n)
	g := d.Pin()
	require.True(t, d.Held())
	for i := range brief {
		brief[i].UnpinBrief()
	}
	require.True(t, d.Held())
	g.Unpin()
	require.False(t, d.Held())
	full := d.Pin()
	require.True(t, d.Held(), "the only one")
	full.Unpin()
}
