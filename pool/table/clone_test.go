//go:build !race

package table_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// TestCloneBesideAClonedPool: the handles of a pool find their records beside its clone, by the same pointers
// unless a function copies these. Those whose values have gone are left out.
func TestCloneBesideAClonedPool(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p, tb, hs, want := besidePool(t, l, 2000)
		q, err := p.Clone(nil, nil)
		require.NoError(t, err)
		for _, to := range []table.Layout{l, other(l)} {
			for _, copyRecord := range []func(dst, src *saved){nil, func(dst, src *saved) {
				*dst = *src
				dst.Tags = slices.Clone(src.Tags)
			}} {
				c := forHandles[saved](q, to)
				c.CloneFrom(tb, copyRecord)
				require.Equal(t, want, c.Keys())
				for i, h := range hs {
					r, ok := c.Get(h)
					require.Equal(t, i%5 != 2, ok)
					if ok {
						require.Equal(t, savedOf(i), r)
					}
				}
				r, _ := c.Get(hs[0])
				was, _ := tb.Get(hs[0])
				require.Equal(t, copyRecord == nil, &r.Tags[0] == &was.Tags[0])
			}
		}
		stranger := forHandles[saved](pool.Must(&pool.Options[int]{Origin: 1}), l)
		stranger.CloneFrom(tb, nil)
		require.Zero(t, stranger.Len(), "a pool that knows none of the handles")
		require.Equal(t, hs, tb.Keys())
		stranger.CloneFrom(forHandles[saved](p, l), nil)
		require.Zero(t, stranger.Len(), "a table that never had a record")
	})
}

// TestCloneWhoseFunctionPanics: the original is as it was, and the clone empty, whatever it had.
func TestCloneWhoseFunctionPanics(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb, c := of[int, pair](l), of[int, pair](l)
		for i := range 100 {
			tb.Add(i, pair{A: i})
			c.Add(-i, pair{})
		}
		calls := 0
		require.Equal(t, errTest, testkit.Recovered(func() {
			c.CloneFrom(tb, func(dst, src *pair) {
				requirePanicText(t, func() { c.Add(1000, pair{}) }, "a function passed to CloneFrom changes the table")
				if calls++; calls == 50 {
					panic(errTest)
				}
			})
		}))
		require.Zero(t, c.Len())
		require.Equal(t, 100, tb.Len())
		require.False(t, c.Lookup(3).IsSet())
		c.CloneFrom(tb, nil)
		require.Equal(t, tb.Keys(), c.Keys())
		requirePanicText(t, func() { c.CloneFrom(c, nil) }, "of the table itself")
		requirePanicText(t, func() { c.CloneFrom(new(table.Table[int, pair]), nil) }, "zero Table")
		require.Equal(t, tb.Keys(), c.Keys())
	})
}

// TestCloneWhoseFunctionChangesTheOriginal: it panics, and the original is what the function has made of it.
func TestCloneWhoseFunctionChangesTheOriginal(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		for _, change := range []func(tb *table.Table[int, pair]){
			func(tb *table.Table[int, pair]) { tb.DeleteFunc(func(k int, _ table.Index) bool { return k > 100 }) },
			func(tb *table.Table[int, pair]) { tb.Grow(1 << 20) },
			func(tb *table.Table[int, pair]) { tb.Remove(0) },
		} {
			tb := of[int, pair](l)
			for i := range 3000 {
				tb.Add(i, pair{A: i})
			}
			requirePanicText(t, func() { tb.Clone(func(dst, src *pair) { change(tb) }) }, "a function passed to CloneFrom changes the table")
			require.Equal(t, 7, tb.Keys()[7])
		}
	})
}

// TestCloneTakesTheRoomOfItsRecords: the map is made at once, and an empty clone has none.
func TestCloneTakesTheRoomOfItsRecords(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		const n = 20_000
		tb, grown := pairs(t, l, n), of[int, pair](l)
		want := testkit.Allocated(func() { grown.Grow(n) })
		require.InEpsilon(t, want, testkit.Allocated(func() { tb.Clone(nil) }), 0.1)
		require.Zero(t, of[int, pair](l).Clone(nil).Trim())
	})
}

// TestClonesOfEachFrameAllocateNothing: a table that is kept needs no memory for the next frame.
func TestClonesOfEachFrameAllocateNothing(t *testing.T) {
	type record struct {
		A int
		B [3]byte
	}
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must[int](nil)
		tb, c := forHandles[record](p, l), forHandles[record](p, l)
		for i, h := range testkit.Fill(t, p, 3000, testkit.Number) {
			tb.Add(h, record{A: i})
		}
		c.CloneFrom(tb, nil)
		testkit.Allocates(t, 0, 10, func() func() { return func() { c.CloneFrom(tb, nil); c.Clear(); c.CloneFrom(tb, nil) } })
	})
}
