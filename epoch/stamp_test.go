package epoch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
)

// TestStampSeparatesEarlierGuardsFromLaterOnes: a guard that is pinned after a stamp does not
// delay the stamp's grace period. One that was pinned before delays it until its Unpin.
func TestStampSeparatesEarlierGuardsFromLaterOnes(t *testing.T) {
	d := epoch.New()
	before := d.Pin()
	stamp := d.Stamp()
	after := d.Pin()
	require.False(t, d.Over(stamp), "a guard from before is pinned")
	before.Unpin()
	require.True(t, d.Over(stamp))
	require.True(t, d.Passed(stamp))
	later := d.Stamp()
	require.Greater(t, later, stamp)
	require.False(t, d.Over(later))
	after.Unpin()
	require.True(t, d.Over(later))
}

// TestStampsShareAnEpoch: stamps do not advance the epoch, and a Pin advances it once for all
// of them, so that goroutines do not contend for it.
func TestStampsShareAnEpoch(t *testing.T) {
	d := epoch.New()
	e := d.Epoch()
	for range 10 {
		require.Equal(t, e, d.Stamp())
	}
	require.Equal(t, e, d.Epoch())
	g := d.Pin()
	require.Equal(t, e+1, d.Epoch())
	g.Unpin()
	g = d.Pin()
	require.Equal(t, e+1, d.Epoch(), "nothing was stamped since")
	g.Unpin()
	g = d.PinBrief()
	require.Equal(t, e+1, d.Stamp())
	g.UnpinBrief()
}

// TestOverNeedsNoEpochWithoutReaders: without guards a grace period is over although the epoch
// stays the same. Brief guards count.
func TestOverNeedsNoEpochWithoutReaders(t *testing.T) {
	d := epoch.New()
	stamp := d.Stamp()
	e := d.Epoch()
	require.True(t, d.Over(stamp))
	require.Equal(t, e, d.Epoch())
	g := d.PinBrief()
	require.False(t, d.Over(d.Stamp()))
	require.Greater(t, d.Epoch(), e, "so that later guards do not delay it")
	g.UnpinBrief()
}

// TestSeparatesFindsTheGuardBetween asks for guards between two stamps.
func TestSeparatesFindsTheGuardBetween(t *testing.T) {
	d := epoch.New()
	first := d.Stamp()
	g := d.Pin()
	second := d.Stamp()
	require.True(t, d.Separates(first, second))
	require.False(t, d.Separates(first, first))
	h := d.Pin()
	third := d.Stamp()
	require.True(t, d.Separates(second, third))
	g.Unpin()
	require.False(t, d.Separates(first, second))
	require.True(t, d.Separates(first, third))
	h.Unpin()
	require.False(t, d.Separates(first, third))
}

// TestStampAtTheLastEpoch: what is stamped in the last epoch, under a guard, waits for the
// guard.
func TestStampAtTheLastEpoch(t *testing.T) {
	d := epoch.New()
	d.SetEpoch(epoch.Limit)
	g := d.Pin()
	stamp := d.Stamp()
	require.EqualValues(t, uint64(epoch.Limit), stamp)
	require.False(t, d.Over(stamp))
	g.Unpin()
	require.True(t, d.Over(stamp))
	require.EqualValues(t, uint64(epoch.Limit), d.Epoch())
}
