//go:build !race

package table

import (
	"math/bits"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// TestNeighboursWithoutPointersAreOnePiece: so a value takes few copies. Blank fields take none.
func TestNeighboursWithoutPointersAreOnePiece(t *testing.T) {
	const word = bits.UintSize / 8
	type two struct {
		A, B uint32
		P    *int
	}
	type gap struct {
		P    *int
		A    uint8
		B    uintptr // not beside A
		_    uintptr
		None struct{}
		C    uintptr
	}
	for _, c := range []struct {
		v    any
		want []piece
	}{
		{two{}, []piece{{byBytes, 0, 8, 0, nil}, {byPointer, 8, word, 0, nil}}},
		{gap{}, []piece{{byPointer, 0, word, 0, nil}, {by1, word, 1, 0, nil}, {kindOf(reflect.TypeFor[uintptr]()), 2 * word, word, 0, nil}, {kindOf(reflect.TypeFor[uintptr]()), 4 * word, word, 0, nil}}},
		{[1]two{}, []piece{{byBytes, 0, 8, 0, nil}, {byPointer, 8, word, 0, nil}}},
	} {
		require.Equal(t, c.want, cut(nil, reflect.TypeOf(c.v), 0), "%T", c.v)
	}
	require.Len(t, cut(nil, reflect.TypeFor[[flatPieces]*int](), 0), flatPieces)
	require.Len(t, cut(nil, reflect.TypeFor[[flatPieces + 1]*int](), 0), 1, "an array")
}

// TestColumnsTakeWholePages: no two of them share a cache line.
func TestColumnsTakeWholePages(t *testing.T) {
	tb := Must[byte, struct {
		A uint64
		B [3]byte
		C string
	}](SoA)
	tb.Grow(1)
	for c := range tb.rows.allColumns {
		require.Greater(t, (c.block.Len()+1)*int(c.size), pages(tb.rows.allocated*int(c.size))*pageBytes, "%v", c.typ)
	}
}

// TestIndexOfHandlesHasPagesForItsPool: Grow makes those of the slots that it makes room for, and none of slots that
// the pool cannot have. Trim leaves what is needed where it is.
func TestIndexOfHandlesHasPagesForItsPool(t *testing.T) {
	type none struct{}
	small, large := pool.Must(&pool.Options[int]{Shards: 1, Capacity: 10}), pool.Must[int](nil)
	live, err := ForLive[int, none](large.Contains, SoA)
	require.NoError(t, err)
	for _, c := range []struct {
		tb      *Table[pool.Handle[int], none]
		n, want int
	}{
		{MustForHandles[int, none](small, SoA), 5 * slotsPerPage, 1},
		{MustForHandles[int, none](large, SoA), slotsPerPage, 1},
		{MustForHandles[int, none](large, SoA), slotsPerPage + 1, 2},
		{live, 3 * slotsPerPage, 3},
	} {
		c.tb.Grow(c.n)
		x := c.tb.index.(*slots[int])
		require.Len(t, x.pages, c.want)
		require.Nil(t, x.occupantOf(pool.Handle[int](c.want*slotsPerPage)), "the first slot without a page")
		for i := range x.pages {
			x.pages[i][7] = occupant{1, 1}
		}
		list := &x.pages[0]
		require.Zero(t, x.trim())
		require.Same(t, list, &x.pages[0], "the list of pages")
	}
	far := Must[pool.Handle[int], none](SoA)
	x := &slots[int]{live: func(pool.Handle[int]) bool { return true }}
	far.index = x
	far.Add(1<<32|slotsPerPage, none{})
	far.Grow(0)
	require.Nil(t, x.pages[0], "Grow by none makes no pages")
}
