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
	var b bytes.Buffer
	_, err := p.WriteTo(&b)
	require.NoError(t, err)
	c, err := pool.ReadFrom[plain](&b, nil)
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
