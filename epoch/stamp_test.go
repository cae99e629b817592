package epoch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
)

// A guard that is pinned after a stamp does not delay the stamp's grace period; one
// that was pinned before does, until it goes.
func TestStampSeparatesEarlierGuardsFromLaterOnes(t *testing.T) {
	d := epoch.New()
	before := d.Pin()
	tag := d.Stamp()
	after := d.Pin()
	require.False(t, d.Over(tag), "a guard from before is pinned")
	before.Unpin()
	require.True(t, d.Over(tag))
	require.True(t, d.Passed(tag))
	later := d.Stamp()
	require.Greater(t, later, tag)
	require.False(t, d.Over(later))
	after.Unpin()
	require.True(t, d.Over(later))
}

// Stamps advance nothing by themselves, and a Pin advances the epoch once for all of
// them: so those who stamp do not contend for it.
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

// Without guards a grace period is over although the epoch stands. Brief guards count.
func TestOverNeedsNoEpochWhereNobodyReads(t *testing.T) {
	d := epoch.New()
	tag := d.Stamp()
	e := d.Epoch()
	require.True(t, d.Over(tag))
	require.Equal(t, e, d.Epoch())
	g := d.PinBrief()
	require.False(t, d.Over(d.Stamp()))
	require.Greater(t, d.Epoch(), e, "so that guards to come do not delay it")
	g.UnpinBrief()
}

// Separates reports whether a guard stands between two tags.
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

// At the last epoch stamps are as good as tags of Retire: what is stamped under a
// guard waits for it.
func TestStampAtTheLastEpoch(t *testing.T) {
	d := epoch.New()
	d.SetEpoch(epoch.Limit)
	g := d.Pin()
	tag := d.Stamp()
	require.EqualValues(t, uint64(epoch.Limit), tag)
	require.False(t, d.Over(tag))
	g.Unpin()
	require.True(t, d.Over(tag))
	require.EqualValues(t, uint64(epoch.Limit), d.Epoch())
}
