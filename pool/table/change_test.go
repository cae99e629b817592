package table_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

type pair struct{ A, B int }

func pairs(t *testing.T, l table.Layout, n int) *table.Table[int, pair] {
	t.Helper()
	tb := of[int, pair](t, l)
	for i := range n {
		require.EqualValues(t, i, tb.Add(i, pair{i, -i}))
	}
	return tb
}

func TestNewRefuses(t *testing.T) {
	_, err := table.New[int, int](table.SoA)
	require.ErrorContains(t, err, "table: records of type int, of kind int; want a struct")
	_, err = table.New[int, *pair](table.AoS)
	require.ErrorContains(t, err, "table: records of type *table_test.pair; want the struct itself, table_test.pair")
	_, err = table.New[int, any](table.AoS)
	require.ErrorContains(t, err, "want a struct")
	_, err = table.New[int, [2]pair](table.AoS)
	require.ErrorContains(t, err, "want a struct")
	_, err = table.New[int, pair](2)
	require.ErrorContains(t, err, "table: Layout(2); want SoA or AoS")
	require.Equal(t, err.Error(), recovered(func() { table.Must(table.New[int, pair](2)) }).(error).Error())
}

func TestZeroTable(t *testing.T) {
	for _, use := range []func(*table.Table[int, pair]){
		func(tb *table.Table[int, pair]) { tb.Add(1, pair{}) },
		func(tb *table.Table[int, pair]) { tb.AddBatch(nil, nil) },
		func(tb *table.Table[int, pair]) { tb.Lookup(1) },
		func(tb *table.Table[int, pair]) { _, _ = tb.Copy(1) },
		func(tb *table.Table[int, pair]) { tb.Set(1, pair{}) },
		func(tb *table.Table[int, pair]) { tb.Remove(1) },
		func(tb *table.Table[int, pair]) { tb.RemoveAt(1) },
		func(tb *table.Table[int, pair]) { tb.RemoveDead() },
		func(tb *table.Table[int, pair]) { tb.Clear() },
		func(tb *table.Table[int, pair]) { tb.Reserve(1) },
		func(tb *table.Table[int, pair]) { tb.OnMove(func(int, table.Index, table.Index) {}) },
	} {
		requirePanicText(t, func() { use(&table.Table[int, pair]{}) }, "use of a zero Table; make one with New or ForHandles")
	}
}

// TestBatchIsAllOrNothing adds batches with a key that is there, with a key that comes
// twice, with a key that cannot be kept, and with a key that panics.
func TestBatchIsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[any, pair](t, l)
		tb.Add("there", pair{1, 2})
		before, ref := tb.Allocated(), table.Column(tb, func(r *pair) *int { return &r.A }).At(0)
		n := 2 * before // enough to need growth
		ks, rs := make([]any, n), make([]pair, n)
		for i := range ks {
			ks[i], rs[i] = i, pair{i, -i}
		}
		unchanged := func() {
			t.Helper()
			require.Equal(t, []any{"there"}, tb.Keys())
			require.Equal(t, before, tb.Allocated())
			require.Same(t, ref, table.Column(tb, func(r *pair) *int { return &r.A }).At(0))
			for _, k := range ks[:n-1] {
				require.Equal(t, table.None, tb.Lookup(k))
			}
		}
		for what, last := range map[string]any{"there": "there", "twice": 7, "NaN": math.NaN()} {
			ks[n-1] = last
			require.Falsef(t, tb.AddBatch(ks, rs), what)
			unchanged()
		}
		ks[n-1] = []int{1}
		err, _ := recovered(func() { tb.AddBatch(ks, rs) }).(error)
		require.ErrorContains(t, err, "[]int")
		unchanged()
		requirePanicText(t, func() { tb.AddBatch(ks, rs[1:]) }, fmt.Sprintf("%d keys and %d records", n, n-1))
		unchanged()

		ks[n-1] = "new"
		require.True(t, tb.AddBatch(ks, rs))
		require.Equal(t, n+1, tb.Len())
		for i, k := range ks {
			require.EqualValues(t, i+1, tb.Lookup(k))
			r, err := tb.Copy(k)
			require.NoError(t, err)
			require.Equal(t, rs[i], r)
		}
		require.True(t, tb.AddBatch(nil, nil))
		require.False(t, tb.AddBatch(ks[:1], rs[:1]))
	})
}

// TestBatchReallocatesOnce: a batch allocates as much as one reallocation does, however
// much larger than the table it is.
func TestBatchReallocatesOnce(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		const n = 100_000
		p := pool.Must[int](nil)
		hs, rs := make([]handle, n), make([]pair, n)
		for i := range hs {
			hs[i] = insert(t, p, i)
		}
		var tbs []*table.Table[handle, pair]
		for range 6 {
			tbs = append(tbs, forHandles[pair](t, p, l))
			tbs[len(tbs)-1].Add(hs[0], pair{})
		}
		last := tbs[5]
		allocs := testing.AllocsPerRun(5, func() { // and once to warm up
			tbs[0].AddBatch(hs[1:], rs[1:])
			tbs = tbs[1:]
		})
		require.Equal(t, n, last.Len())
		require.Equal(t, 1<<17, last.Allocated())
		// The index has a page for each 512 slots, and a list of them that doubles.
		// One reallocation is a list of the columns, and three blocks; there are
		// seven doublings.
		slots := float64(p.Stats().Allocated)
		if !testkit.Race {
			require.LessOrEqual(t, allocs, math.Ceil(slots/512)+10+4)
		}
	})
}

// TestKeysThatCannotBeKept: a key that a map could not keep leaves no trace.
func TestKeysThatCannotBeKept(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		floats := of[float64, pair](t, l)
		require.Equal(t, table.None, floats.Add(math.NaN(), pair{}))
		require.EqualValues(t, 0, floats.Add(math.Copysign(0, -1), pair{}))
		require.Equal(t, table.None, floats.Add(0, pair{}), "the same key")
		require.EqualValues(t, 1, floats.Add(math.Inf(1), pair{}))
		require.Equal(t, table.None, floats.Lookup(math.NaN()))

		_, err := floats.Insert(math.NaN(), pair{})
		require.ErrorIs(t, err, table.ErrNaN)

		anys := of[any, pair](t, l)
		for _, use := range []func(){
			func() { anys.Add(func() {}, pair{}) },
			func() { anys.Lookup(func() {}) },
			func() { anys.Remove(func() {}) },
			func() { anys.Take(func() {}) },
			func() { _, _ = anys.Insert(func() {}, pair{}) },
			func() { anys.Set(func() {}, pair{}) },
		} {
			_, ok := recovered(use).(error)
			require.True(t, ok, "a runtime error, as a map's")
		}
		require.Zero(t, anys.Len())
		require.EqualValues(t, 0, anys.Add(nil, pair{}))
	})
}

// TestRemoveFillsGap: a removal returns the index of the gap, keeps the rest dense, and
// tells OnMove which record moved there.
func TestRemoveFillsGap(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := pairs(t, l, 5)
		type told struct {
			who      string
			k        int
			from, to table.Index
		}
		var moves []told
		for _, who := range []string{"first", "second"} {
			tb.OnMove(func(k int, from, to table.Index) { moves = append(moves, told{who, k, from, to}) })
		}
		require.EqualValues(t, 1, tb.Remove(1))
		require.Equal(t, []told{{"first", 4, 4, 1}, {"second", 4, 4, 1}}, moves)
		require.Equal(t, []int{0, 4, 2, 3}, tb.Keys())
		moves = nil
		require.EqualValues(t, 3, tb.Remove(3), "the last one")
		require.EqualValues(t, 0, tb.RemoveAt(0))
		require.Equal(t, []told{{"first", 2, 2, 0}, {"second", 2, 2, 0}}, moves)
		for _, none := range []table.Index{table.None, -7, 2, math.MaxInt} {
			require.Equal(t, table.None, tb.RemoveAt(none))
			require.False(t, tb.SetAt(none, pair{}))
			_, err := tb.KeyAt(none)
			require.ErrorIs(t, err, table.ErrRange)
			_, err = tb.CopyAt(none)
			require.ErrorIs(t, err, table.ErrRange)
		}
		require.Equal(t, table.None, tb.Remove(3))
		_, err := tb.Copy(3)
		require.ErrorIs(t, err, table.ErrNotFound)
		require.Zero(t, tb.RemoveDead())
		r, err := tb.Copy(4)
		require.NoError(t, err)
		require.Equal(t, pair{4, -4}, r)
	})
}

// TestOnMoveThatMisbehaves: a function passed to OnMove may read and panic, but not
// change the table, which stays consistent.
func TestOnMoveThatMisbehaves(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := pairs(t, l, 6)
		var misbehave func()
		calls, after := 0, 0
		tb.OnMove(func(k int, from, to table.Index) {
			calls++
			require.Equal(t, to, tb.Lookup(k))
			misbehave()
		})
		tb.OnMove(func(int, table.Index, table.Index) { after++ })
		for _, change := range []func(){
			func() { tb.Add(100, pair{}) },
			func() { tb.AddBatch([]int{100}, []pair{{}}) },
			func() { tb.Remove(2) },
			func() { tb.RemoveAt(0) },
			func() { tb.RemoveDead() },
			func() { tb.Clear() },
			func() { tb.Reserve(1 << 20) },
			func() { tb.OnMove(func(int, table.Index, table.Index) {}) },
		} {
			misbehave = change
			k, n := tb.Keys()[0], tb.Len()
			requirePanicText(t, func() { tb.Remove(k) }, "OnMove")
			require.Equal(t, table.None, tb.Lookup(k), "the removal is complete")
			require.Equal(t, n-1, tb.Len())
			require.EqualValues(t, n-1, tb.Add(k, pair{k, -k}))
		}
		require.Equal(t, 8, calls)
		require.Zero(t, after)

		boom := errors.New("boom")
		misbehave = func() { panic(boom) }
		require.Equal(t, boom, recovered(func() { tb.RemoveAt(1) }))
		misbehave = func() { tb.SetAt(0, pair{42, 42}) } // it may not, but that moves nothing
		tb.RemoveAt(1)
		require.Equal(t, 1, after)
		require.Equal(t, 4, tb.Len())
		for i, k := range tb.Keys() {
			require.EqualValues(t, i, tb.Lookup(k))
			if r, err := tb.CopyAt(table.Index(i)); i > 0 {
				require.NoError(t, err)
				require.Equal(t, pair{k, -k}, r)
			}
		}
		requirePanicText(t, func() { tb.OnMove(nil) }, "nil function")
	})
}

// TestKeysIsNoCopy: Keys returns the table's own keys, and appending to them copies.
func TestKeysIsNoCopy(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := pairs(t, l, 3)
		ks := tb.Keys()
		require.Same(t, &ks[1], &tb.Keys()[1])
		require.Equal(t, 3, cap(ks))
		tb.Clear()
		require.Empty(t, tb.Keys())
		require.Zero(t, tb.Len())
		require.Equal(t, table.None, tb.Lookup(1))
		require.EqualValues(t, 0, tb.Add(1, pair{1, 1}))
		require.Equal(t, l, tb.Layout())
	})
}
