//go:build !race

package dense_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/dense"
)

// text returns the handles of s.
func text[T any](s *dense.Store[T]) string { return fmt.Sprint(s.Handles()) }

// TestSortKeepsHandles: each handle names its value after a sort, and equal values keep their
// order. TestOperationsMatchModel sorts in the middle of phases, and keeps an array beside.
func TestSortKeepsHandles(t *testing.T) {
	type card struct{ suit, rank int }
	s, rnd := dense.Must[card](nil), testkit.Rand(t)
	named := map[card]uint64{}
	for _, i := range rnd.Perm(400) {
		c := card{i % 4, i / 4}
		named[c] = uint64(create(t, s, c))
	}
	s.Refresh()
	order := slices.Clone(s.Values())
	bySuit := func(a, b card) int { return cmp.Compare(a.suit, b.suit) }
	slices.SortStableFunc(order, bySuit)
	s.SortFunc(func(a, b *card) int { return bySuit(*a, *b) })
	require.Equal(t, order, s.Values())
	for i, h := range s.Handles() {
		v, ok := s.Pointer(h)
		require.True(t, ok && v == &s.Values()[i] && named[*v] == uint64(h), "%v, at %d", h, i)
	}
	require.NoError(t, dense.Check(s))

	calls := 0
	s.SortFunc(func(a, b *card) int { calls++; return bySuit(*a, *b) })
	require.Equal(t, order, s.Values())
	require.Less(t, calls, 500, "of values in order")
}
