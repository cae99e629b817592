package dense_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool/dense"
)

func TestPtrKnowsItsStore(t *testing.T) {
	s, o := tiny(t, &dense.Options[int]{Origin: 1}), tiny(t, &dense.Options[int]{Origin: 1})
	h := create(t, s, 1)
	require.Equal(t, h, create(t, o, 2), "both stores know the handle")
	q := s.Ptr(h)
	require.NotEqual(t, q, o.Ptr(h))
	v, ok := q.Get()
	require.True(t, ok && *v == 1 && q.Alive())
	require.Equal(t, dense.Alive, q.State())
	require.True(t, q.Kill())
	require.False(t, q.Kill())
	require.Equal(t, dense.Dead, q.State())
	require.Equal(t, dense.Alive, o.Ptr(h).State())
	s.Refresh()
	_, ok = q.Get()
	require.False(t, ok || q.Alive())
	var zero dense.Ptr[int]
	_, ok = zero.Get()
	require.False(t, ok || zero.Alive() || zero.Kill())
	require.Equal(t, dense.Unused, zero.State())
}
