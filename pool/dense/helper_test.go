package dense_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// tiny returns a store whose first chunk has two values.
func tiny[T any](t testing.TB, opts *dense.Options[T]) *dense.Store[T] {
	t.Helper()
	s, err := dense.NewTiny(opts)
	require.NoError(t, err)
	return s
}

// create creates v, for which the store has room.
func create[T any](t testing.TB, s *dense.Store[T], v T) pool.Handle[T] {
	t.Helper()
	h, err := s.Create(v)
	require.NoError(t, err)
	return h
}

// fill creates 0, 1, 2, … n-1 and refreshes.
func fill(t testing.TB, s *dense.Store[int], n int) []pool.Handle[int] {
	t.Helper()
	hs := make([]pool.Handle[int], n)
	for i := range hs {
		hs[i] = create(t, s, i)
	}
	created, destroyed := s.Refresh()
	require.Equal(t, n, created)
	require.Zero(t, destroyed)
	return hs
}

type handle = pool.Handle[int]

var errTest = errors.New("test")
