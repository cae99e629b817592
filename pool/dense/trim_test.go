package dense_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

func TestTrimGivesMemoryBack(t *testing.T) {
	const n = 10_000
	s := dense.Must[plain](nil)
	past := map[pool.Handle[plain]]bool{}
	issue := func(n int) (hs []pool.Handle[plain]) {
		for range n {
			h := create(t, s, plain{})
			require.False(t, past[h], "%v was issued again", h)
			past[h] = true
			hs = append(hs, h)
		}
		return hs
	}
	hs := issue(n)
	s.Refresh()
	for _, h := range hs[n/2:] {
		s.Kill(h)
	}
	s.Refresh()
	spare := s.Allocated() - n/2
	require.GreaterOrEqual(t, s.Trim(), int64(spare*(16+16)))
	require.Equal(t, n/2, s.Allocated())
	require.Zero(t, s.Trim())
	for i, h := range hs {
		require.Equal(t, i < n/2, s.Alive(h))
	}
	created := issue(n) // in chunks
	s.Kill(created[0])
	s.Trim()
	require.Equal(t, dense.Dead, s.State(created[0]))
	for _, h := range created[1:] {
		require.Equal(t, dense.Alive, s.State(h))
	}
	s.Refresh()
	s.Clear()
	require.Positive(t, s.Trim())
	require.Zero(t, s.Allocated())
	issue(n)
	s.Refresh()
	requireSound(t, s)
	for _, h := range hs {
		require.False(t, s.Alive(h))
	}
}

// TestTrimKeepsTheHandlesThatWait: those below the highest live index are issued next.
func TestTrimKeepsTheHandlesThatWait(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	hs := fill(t, s, 10)
	for _, i := range []int{0, 9} { // 9 waits before 0
		s.Kill(hs[i])
		s.Refresh()
	}
	s.Trim()
	requireSound(t, s)
	require.Equal(t, "0@3", create(t, s, 0).String())
	require.Equal(t, "9@3", create(t, s, 0).String(), "above the generation that it had")
}

// TestTrimKeepsSlotsOnceOneIsExhausted: an exhausted slot's index is unknown, so all keep
// theirs.
func TestTrimKeepsSlotsOnceOneIsExhausted(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: lastGeneration})
	hs := fill(t, s, 10)
	s.Kill(hs[0])
	s.Refresh()
	s.Trim()
	requireSound(t, s)
	for range 20 {
		require.NotContains(t, hs, create(t, s, 0))
	}
}
