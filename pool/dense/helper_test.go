package dense_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// Helpers shared with other packages' tests, under the names used here. long returns
// how often a test repeats what the full programme repeats n times.
var (
	long             = length.Of[int]
	newRand          = testkit.Rand
	requirePanicText = testkit.RequirePanicText
	recovered        = testkit.Recovered
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

// requireSound requires that a store's slices and look-ups agree, between phases.
func requireSound[T any](t testing.TB, s *dense.Store[T]) {
	t.Helper()
	values, handles := s.Values(), s.Handles()
	require.Len(t, values, s.Len())
	require.Len(t, handles, s.Len())
	require.LessOrEqual(t, s.Len(), s.Allocated())
	seen := make(map[pool.Handle[T]]bool, len(handles))
	for i, h := range handles {
		if v, ok := s.Get(h); seen[h] || !ok || v != &values[i] {
			t.Fatalf("%v, at %d, is there twice: %v; found: %v, where it should be: %v", h, i, seen[h], ok, v == &values[i])
		}
		seen[h] = true
	}
	require.NoError(t, dense.Check(s))
}

// values returns a copy of what Values has.
func values[T any](s *dense.Store[T]) []T { return slices.Clone(s.Values()) }
