//go:build !race

package table

import (
	"math/bits"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A Clear touches what belongs to the records, and nothing else of the room that a peak has left: not
// the rows behind them, nor the slots or keys of others. A mark in each such place is still there.
func TestClearTouchesRecordsAlone(t *testing.T) {
	type record struct{ A, B uint64 }
	const peak, left = 20_000, 10
	p := pool.Must(&pool.Options[int]{Shards: 1})
	hs := testkit.Fill(t, p, peak, testkit.Number)
	byHandle, byInt := MustForHandles[int, record](p, SoA), Must[int, record](SoA)
	for i, h := range hs {
		byHandle.Add(h, record{})
		byInt.Add(i, record{})
	}
	for i := range peak - left {
		byHandle.RemoveAt(0)
		byInt.RemoveAt(0)
		require.Equal(t, peak-1-i, byInt.Len())
	}

	x := byHandle.index.(*slots[int])
	used := map[uint32]bool{}
	for _, h := range byHandle.Keys() {
		used[h.Index()] = true
	}
	mark := occupant{1, 7}
	for _, h := range hs {
		if !used[h.Index()] {
			*x.occupantOf(h) = mark
		}
	}
	m := byInt.index.(*hashed[int])
	m.rows[-1] = 7
	columns := elements[uint64](&byHandle.rows.columns[0], peak)
	for i := range columns[left:] {
		columns[left+i] = 7
	}

	require.Equal(t, left, byHandle.Clear())
	require.Equal(t, left, byInt.Clear())
	for i, h := range hs {
		want := mark
		if used[h.Index()] {
			want = occupant{}
		}
		require.Equal(t, want, *x.occupantOf(h), "slot %d", h.Index())
		require.Equal(t, i >= left, columns[i] == 7, "row %d", i)
	}
	require.Equal(t, map[int]Index{-1: 7}, m.rows)
}

// A map of many keys is cleared at once, and has none of them then.
func TestClearOfManyKeysLeavesNone(t *testing.T) {
	byInt := Must[int, struct{ A int }](AoS)
	for i := range 1000 {
		byInt.Add(i, struct{ A int }{i})
	}
	require.Equal(t, 1000, byInt.Clear())
	require.Empty(t, byInt.index.(*hashed[int]).rows)
	require.EqualValues(t, 0, byInt.Add(7, struct{ A int }{7}))
}

// Room for ten records beside a pool of many slots takes the memory of ten.
func TestGrowTakesNothingForThePool(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.Fill(t, p, 200_000, testkit.Number)
	tb := MustForHandles[int, struct{ A int }](p, SoA)
	require.Less(t, testkit.Allocated(func() { tb.Grow(10) }), uint64(64<<10), "8 bytes a slot would take 1.6 MB")
}

// TestWordsAreCopiedAsOne: a field without pointers that is as large as a word, and aligned like one, is copied
// by a load and a store.
func TestWordsAreCopiedAsOne(t *testing.T) {
	for v, want := range map[any]copyKind{
		struct{}{}: byNothing, true: by1, int16(0): by2, int32(0): by4, float32(0): by4, uint64(0): by8, [2]uint32{}: byBytes, [3]byte{}: byBytes,
		[2]byte{}: byBytes, [2]uint16{}: byBytes, [1]uint32{}: by4, struct{ A, B uint32 }{}: byBytes, struct{ A uint64 }{}: by8, "": byString,
	} {
		if typ := reflect.TypeOf(v); typ.Size() != 8 || bits.UintSize == 64 { // on 32 bits, 8 bytes are aligned to 4, and some go as one
			require.Equal(t, want, kindOf(typ), "%v", typ)
		}
	}
}
