//go:build coatcheck_costs

package costs

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// trimmed returns a pool that had many values, of which each in keep is left, and whose other memory was
// given up.
func trimmed(t *testing.T, keep ...int) *pool.Pool[value] {
	const peak = 1 << 18
	p := pool.Must(&options{Shards: 1})
	hs := testkit.Fill(t, p, peak, func(i int) value { return value{uint64(i)} })
	kept := map[int]bool{}
	for _, i := range keep {
		kept[i] = true
	}
	require.Equal(t, peak-len(keep), p.DeleteFunc(func(h handle, _ *value) bool { return !kept[int(h.Index())] }))
	require.Len(t, hs, peak)
	testkit.RequireReclaimed(t, p)
	require.Positive(t, p.Trim())
	return p
}

// TestLoopsStepOverMemoryThatWasGivenUp: after a peak, and in a copy that was made then, a loop visits the slots
// that have memory, and each run of pages without memory in one step.
func TestLoopsStepOverMemoryThatWasGivenUp(t *testing.T) {
	p := trimmed(t, 5, 1<<17) // so there are two runs
	var saved bytes.Buffer
	_, err := p.WriteTo(&saved)
	require.NoError(t, err)
	c, err := pool.ReadFrom[value](&saved, nil)
	require.NoError(t, err)
	for what, p := range map[string]*pool.Pool[value]{"trimmed": p, "copy": c} {
		t.Run(what, func(t *testing.T) { requireLoopsStepOver(t, p) })
	}
}

func requireLoopsStepOver(t *testing.T, p *pool.Pool[value]) {
	hasMemory := int64(p.Stats().Allocated)
	require.Less(t, hasMemory, int64(1<<16))
	g := p.Pin()
	defer g.Unpin()
	for name, loop := range map[string]func(){
		"Len":   func() { require.Equal(t, 2, p.Len()) },
		"Stats": func() { p.Stats() },
		"All": func() {
			for range p.All() {
			}
		},
		"Guard.All": func() {
			for range g.All() {
			}
		},
		"DeleteFunc": func() { p.DeleteFunc(func(handle, *value) bool { return false }) },
		"Each": func() {
			require.NoError(t, p.Each(t.Context(), 1, func(handle, *value) error { return nil }))
		},
		"WriteTo": func() {
			_, err := p.WriteTo(io.Discard)
			require.NoError(t, err)
		},
	} {
		d := steps(loop)
		require.Positive(t, d.Visits, name)
		require.LessOrEqual(t, d.Visits, 4*hasMemory+100, name) // Each takes a large page in parts; WriteTo looks twice
	}
	require.LessOrEqual(t, steps(func() { require.Equal(t, 2, p.Clear()) }).Visits, hasMemory+100)
}
