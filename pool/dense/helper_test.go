package dense_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// seedFlag repeats a generated test: go test -run TestX -seed N.
var seedFlag = flag.Uint64("seed", 0, "seed of generated tests; 0 draws one")

// newRand returns a source of numbers whose seed a failure prints.
func newRand(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with -seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// long returns how often a test does what it does n times in the full programme.
func long(n int) int { return length.Of(n) }

// tiny returns a store whose first chunk has two values.
func tiny[T any](t testing.TB, opts *dense.Options[T]) *dense.Store[T] {
	t.Helper()
	s, err := dense.NewTiny(opts)
	require.NoError(t, err)
	return s
}

// create creates v, which the test knows to fit.
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

// requirePanicText requires that f panics with a string that has each of parts.
func requirePanicText(t testing.TB, f func(), parts ...string) {
	t.Helper()
	v := recovered(f)
	text, ok := v.(string)
	require.Truef(t, ok, "want a panic with a text, got %v", v)
	for _, part := range parts {
		assert.Contains(t, text, part)
	}
}

// recovered runs f and returns what it panicked with.
func recovered(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// values returns a copy of what Values has.
func values[T any](s *dense.Store[T]) []T { return slices.Clone(s.Values()) }
