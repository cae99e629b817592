package epoch_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
)

// guards pins n guards.
func guards(d *epoch.Domain, n int) []epoch.Guard {
	gs := make([]epoch.Guard, n)
	for i := range gs {
		gs[i] = d.Pin()
	}
	return gs
}

// frontier returns a Frontier whose owner may scan often.
func frontier(d *epoch.Domain) *epoch.Frontier {
	var f epoch.Frontier
	f.Init(d, false)
	f.Pay(math.MaxInt32 / 2)
	return &f
}

// TestFrontierScansWhenThatIsPaidFor: a scan costs as many cells as it visits, and hardly more than
// one can be saved for.
func TestFrontierScansWhenThatIsPaidFor(t *testing.T) {
	d := epoch.New()
	d.Stamp() // so that the guards are pinned later, and do not delay the stamp 0
	guards(d, 1000)
	price := d.Scanned()
	require.Greater(t, price, 1000)
	var f epoch.Frontier
	f.Init(d, false)
	f.Pay(price - 1)
	_, fresh := f.Oldest(0)
	require.False(t, fresh, "it lacks one cell")
	f.Pay(1)
	require.Zero(t, f.Known())
	_, fresh = f.Oldest(0)
	require.True(t, fresh, "it should scan")
	_, fresh = f.Oldest(0)
	require.False(t, fresh, "one is not paid twice for")

	f.Pay(100 * price)
	scans := 0
	for range 100 {
		if _, fresh := f.Oldest(0); fresh {
			scans++
		}
	}
	require.Equal(t, 2, scans)
}

// TestScansCostByGuards: of a Frontier that must not depend on cells, the first scan costs nothing, and
// later ones by the guards that the last one found.
func TestScansCostByGuards(t *testing.T) {
	d := epoch.New()
	var f epoch.Frontier
	f.Init(d, true)
	d.Stamp() // so that the guards are pinned later, and do not delay the stamp 0
	require.Zero(t, f.Price())
	gs := guards(d, 1000)
	_, fresh := f.Oldest(0)
	require.True(t, fresh, "the first should cost nothing")
	price := f.Price()
	require.Greater(t, price, 1000)
	f.Pay(price - 1)
	_, fresh = f.Oldest(0)
	require.False(t, fresh, "it lacks one cell")
	for i := range gs[1:] {
		gs[i+1].Unpin()
	}
	require.Equal(t, price, f.Price(), "guards that went since are not known")
	f.Pay(1)
	_, fresh = f.Oldest(0)
	require.True(t, fresh, "it should scan")
	require.Equal(t, price/1000, f.Price())
	require.False(t, f.Blocked(d.Scan().Oldest), "which guard it found first decides nothing")
}

// TestRestoredFrontierGoesOn where another one was.
func TestRestoredFrontierGoesOn(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		d := epoch.New()
		d.SetEpoch(10)
		var f, restored epoch.Frontier
		f.Init(d, true)
		restored.Init(epoch.New(), true)
		gs := guards(d, 3)
		f.Pay(100)
		f.Oldest(0)
		for i := range gs {
			gs[i].Unpin()
		}
		if f.Pay(50); mixed {
			f.Mix()
		}
		restored.Restore(f.Findings())
		require.Equal(t, f.Findings(), restored.Findings())
		require.Equal(t, f.Known(), restored.Known())
		require.Equal(t, f.Price(), restored.Price())
		require.False(t, restored.Blocked(f.Known()), "no guard stands")
	}
}

// TestFrontierDoesNotScanBesideTheGuardThatItFound, for what that delays.
func TestFrontierDoesNotScanBesideTheGuardThatItFound(t *testing.T) {
	d := epoch.New()
	f := frontier(d)
	before := d.Stamp()
	g := d.Pin()
	after := d.Stamp()
	oldest, fresh := f.Oldest(before)
	require.True(t, fresh, "it should scan")
	require.Less(t, before, oldest)
	require.GreaterOrEqual(t, after, oldest)
	f.Pay(1 << 20)
	require.True(t, f.Blocked(after), "the guard should delay what was unlinked under it")
	require.False(t, f.Blocked(before), "the guard should not delay what was unlinked before it")
	_, fresh = f.Oldest(after)
	require.False(t, fresh, "it should not scan")
	g.Unpin()
	require.False(t, f.Blocked(after), "no guard should be left that delays it")
	oldest, fresh = f.Oldest(after)
	require.True(t, fresh, "it should scan")
	require.Less(t, after, oldest)
}

// TestFrontierKnowsNothingOfWhatWasUnlinkedAfterItsScan: a guard that was pinned behind the scan, in
// the epoch of a later stamp, may have seen what has that stamp. What has an earlier one has passed.
func TestFrontierKnowsNothingOfWhatWasUnlinkedAfterItsScan(t *testing.T) {
	d := epoch.New()
	f := frontier(d)
	early := d.Stamp()
	brief := d.Pin() // in the next epoch
	brief.Unpin()
	_, fresh := f.Oldest(early)
	require.True(t, fresh, "it should scan")
	require.Equal(t, uint64(epoch.NoPin), f.Known(), "all that its owner had has passed")

	g := d.Pin() // behind the scan
	late := d.Stamp()
	f.Mix()
	require.Greater(t, late, early)
	require.GreaterOrEqual(t, late, f.Known())
	require.Less(t, early, f.Known())

	g.Unpin()
	f.Pay(1 << 20)
	oldest, fresh := f.Oldest(late)
	require.True(t, fresh, "it should scan")
	require.Less(t, late, oldest)
	require.Equal(t, oldest, f.Known())
}
