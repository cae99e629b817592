package pool_test

import (
	"bytes"
	"runtime"
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

// TestIdleCopiesClearWhatWasRemoved: a pool that was restored or cloned, and that nothing calls, gives up what removed
// values keep reachable, as any other does.
func TestIdleCopiesClearWhatWasRemoved(t *testing.T) {
	p := pool.Must[*int](nil)
	testkit.MustInsert(t, p, new(int))
	var b bytes.Buffer
	_, err := p.WriteTo(&b)
	require.NoError(t, err)
	restored, err := pool.ReadFrom[*int](&b, nil)
	require.NoError(t, err)
	cloned, err := p.Clone(nil, nil)
	require.NoError(t, err)
	for name, c := range map[string]*pool.Pool[*int]{"restored": restored, "cloned": cloned} {
		h := testkit.MustInsert(t, c, new(int))
		require.True(t, c.Remove(h), "the value should be live")
		require.Equal(t, 1, c.Stats().Limbo, name)
		testkit.Eventually(t, func() bool { runtime.GC(); return c.Stats().Limbo == 0 }, "%s", name)
	}
}
