//go:build !race

package dense_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestCloneOfAnyType: values that no snapshot can have are copied as they are, or by a function that gets each
// once, in order, and may read the store.
func TestCloneOfAnyType(t *testing.T) {
	type crew struct {
		names []string
		_     func()
	}
	s := dense.Must[crew](&dense.Options[crew]{Origin: 1})
	hs := make([]pool.Handle[crew], 20)
	for i := range hs {
		hs[i], _ = s.Create(crew{names: []string{"Ann"}})
	}
	s.Kill(hs[3])
	s.Refresh()
	shared, err := s.Clone(nil, nil)
	require.NoError(t, err)
	var order []*crew
	deep, err := s.Clone(nil, func(dst, src *crew) {
		require.Nil(t, dst.names, "dst is not zero")
		require.True(t, s.Alive(hs[0]), "the function may read")
		testkit.RequirePanicText(t, func() { _, _ = s.Create(crew{}) }, "Clone")
		order = append(order, src)
		dst.names = slices.Clone(src.names)
	})
	require.NoError(t, err)
	require.Len(t, order, 19)
	for i, h := range s.Handles() {
		require.Same(t, &s.Values()[i], order[i])
		s.Values()[i].names[0] = "Bob"
		require.Equal(t, "Bob", shared.Values()[i].names[0])
		require.Equal(t, "Ann", deep.Values()[i].names[0])
		require.Equal(t, []pool.Handle[crew]{h, h}, []pool.Handle[crew]{shared.Handles()[i], deep.Handles()[i]})
	}
	require.False(t, deep.Alive(hs[3]))
	require.NoError(t, dense.Check(deep))
}

// TestCloneThatDoesNotFit: an error says why, and the store goes on, also after a panic of the function.
func TestCloneThatDoesNotFit(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 7})
	hs := fill(t, s, 10)
	for text, o := range map[string]dense.Options[int]{
		"Options.Capacity is 9: there are 10 values; Store[int]":                        {Capacity: 9},
		"dense: Options.Origin is 9; the original's generations begin at 7; Store[int]": {Origin: 9},
		"dense: Options.Capacity is -1":                                                 {Capacity: -1},
	} {
		c, err := s.Clone(&o, nil)
		require.Nil(t, c)
		require.ErrorContains(t, err, text)
		require.Equal(t, o.Capacity == 9, errors.Is(err, pool.ErrFull))
	}
	require.Equal(t, "a bad mood", testkit.Recovered(func() { _, _ = s.Clone(nil, func(dst, src *int) { panic("a bad mood") }) }))
	require.True(t, s.Kill(hs[0]))
	_, err := s.Clone(nil, nil)
	require.ErrorContains(t, err, "dense: Clone: values were created or killed since the last Refresh")
	s.Refresh()
	require.NoError(t, dense.Check(s))
	testkit.RequirePanicText(t, func() { _, _ = new(dense.Store[int]).Clone(nil, nil) }, "zero Store")
}

// TestCloneOfACopyKeepsItsLine: slots of a copy that have yet to leave the generations of the first original do
// so in its clone too, whatever Origin that has.
func TestCloneOfACopyKeepsItsLine(t *testing.T) {
	first := tiny(t, &dense.Options[int]{Origin: 1})
	hs := fill(t, first, 10)
	second, err := first.Clone(nil, nil)
	require.NoError(t, err)
	for _, origin := range []uint32{0, 1} {
		third, err := second.Clone(&dense.Options[int]{Origin: origin}, nil)
		require.NoError(t, err)
		require.NoError(t, dense.Check(third))
		third.Kill(create(t, third, 0)) // that values come and go beside them changes nothing
		third.Refresh()
		for _, h := range hs {
			require.True(t, third.Kill(h))
		}
		third.Refresh()
		for range hs {
			require.Greater(t, create(t, third, 0).Generation(), uint32(1<<16))
		}
	}
}

// TestClonesAllocateByArrays: a clone of each frame makes no garbage for each value.
func TestClonesAllocateByArrays(t *testing.T) {
	s := dense.Must[int](nil)
	for i := range 10_000 {
		create(t, s, i)
	}
	s.Refresh()
	require.LessOrEqual(t, testing.AllocsPerRun(3, func() { _, _ = s.Clone(nil, nil) }), 20.0)
}
