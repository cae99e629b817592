package pool_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// TestRestoredPoolTakesABitASlotMore: what the slots of a copy have yet to skip takes a bit each, and nothing once
// their page's values have gone.
func TestRestoredPoolTakesABitASlotMore(t *testing.T) {
	const n = 1 << 13
	p := pool.Must[plain](nil)
	hs := testkit.Fill(t, p, n, func(int) plain { return plain{} })
	c, err := pool.ReadFrom[plain](bytes.NewReader(testkit.Written(t, p)), nil)
	require.NoError(t, err)
	more := func() int { return int(c.Stats().Bytes) - int(p.Stats().Bytes) }
	require.LessOrEqual(t, more(), n/8+1000)
	for _, p := range []*pool.Pool[plain]{p, c} {
		require.Equal(t, n-1, p.RemoveBatch(hs[1:]))
		testkit.RequireReclaimed(t, p)
		p.Trim()
	}
	require.LessOrEqual(t, more(), 1000)
}

// TestCopyOfATrimmedPoolIsSmall: the copy of a pool that had a peak has memory for what lives. Pages come back as
// insertions need them, and no handle of the original becomes live again.
func TestCopyOfATrimmedPoolIsSmall(t *testing.T) {
	const peak, left = 1 << 15, 10
	for _, trims := range []bool{true, false} {
		p := pool.Must[plain](nil)
		hs := testkit.Fill(t, p, peak, func(int) plain { return plain{} })
		require.Equal(t, peak-left, p.RemoveBatch(hs[left:]))
		testkit.RequireReclaimed(t, p)
		if trims {
			require.Positive(t, p.Trim())
		}
		c, err := pool.ReadFrom[plain](bytes.NewReader(testkit.Written(t, p)), nil)
		require.NoError(t, err)
		st := testkit.RequireConserved(t, c)
		require.Equal(t, left, st.Live)
		require.Less(t, st.Allocated, peak/16)
		known := map[pool.Handle[plain]]bool{}
		for _, h := range append(hs, testkit.Fill(t, c, peak-left, func(int) plain { return plain{} })...) {
			require.False(t, known[h], "%s names two values", h)
			known[h] = true
		}
		st = testkit.RequireConserved(t, c)
		require.Equal(t, peak, st.Live)
		require.LessOrEqual(t, st.Allocated, 2*peak, "the pages that were given up come back before new ones are made")
		for _, h := range hs[left:] {
			require.False(t, c.Contains(h), "%s", h)
		}
	}
}
