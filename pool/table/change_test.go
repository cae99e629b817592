//go:build !race

package table_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

func pairs(t *testing.T, l table.Layout, n int) *table.Table[int, pair] {
	t.Helper()
	tb := of[int, pair](l)
	for i := range n {
		require.EqualValues(t, i, tb.Add(i, pair{i, -i}))
	}
	return tb
}

// second returns the error of a call.
func second[A any](_ A, err error) error { return err }

func TestNewRefuses(t *testing.T) {
	p := pool.Must[int](nil)
	for text, err := range map[string]error{
		"table: records of type int, of kind int; want a struct":                           second(table.New[int, int](table.SoA)),
		"table: records of type *table_test.pair; want the struct itself, table_test.pair": second(table.New[int, *pair](table.AoS)),
		"table: records of type interface {}, of kind interface; want a struct":            second(table.New[int, any](table.AoS)),
		"table: records of type [2]table_test.pair, of kind array; want a struct":          second(table.New[int, [2]pair](table.AoS)),
		"table: Layout(2); want SoA or AoS":                                                second(table.New[int, pair](2)),
		"table: ForHandles of a nil pool":                                                  second(table.ForHandles[int, pair](nil, table.SoA)),
		"table: records of type *table_test.record; want the struct itself":                second(table.ForHandles[int, *record](p, table.SoA)),
		"table: Layout(9); want SoA or AoS":                                                second(table.ForHandles[int, record](p, 9)),
		"table: ForLive of a nil function":                                                 second(table.ForLive[int, pair](nil, table.SoA)),
	} {
		require.ErrorContains(t, err, text)
	}
	require.ErrorContains(t, testkit.Recovered(func() { table.Must[int, pair](2) }).(error), "Layout(2)")
	require.ErrorContains(t, testkit.Recovered(func() { table.MustForHandles[int, pair](nil, 0) }).(error), "nil pool")
	require.Equal(t, "pool: use of a zero Pool; make one with New or Must", testkit.Recovered(func() {
		_, _ = table.ForHandles[int, record](new(pool.Pool[int]), table.SoA)
	}))
}

// everyChange changes a table, each in another way. While a function of the user's runs, each panics.
var everyChange = []func(*table.Table[int, pair]){
	func(tb *table.Table[int, pair]) { tb.Add(100, pair{}) },
	func(tb *table.Table[int, pair]) { tb.AddBatch([]int{100}, []pair{{}}) },
	func(tb *table.Table[int, pair]) { tb.Remove(2) },
	func(tb *table.Table[int, pair]) { tb.RemoveAt(0) },
	func(tb *table.Table[int, pair]) { tb.RemoveDead() },
	func(tb *table.Table[int, pair]) { tb.AddOrSet(100, pair{}) },
	func(tb *table.Table[int, pair]) { tb.DeleteFunc(func(int, table.Index) bool { return true }) },
	func(tb *table.Table[int, pair]) { tb.SortFunc(func(a, b table.Index) int { return int(b - a) }) },
	func(tb *table.Table[int, pair]) { tb.Clear() },
	func(tb *table.Table[int, pair]) { tb.Trim() },
	func(tb *table.Table[int, pair]) { _, _ = tb.ReadFrom(new(bytes.Reader)) },
	func(tb *table.Table[int, pair]) { tb.CloneFrom(table.Must[int, pair](table.AoS), nil) },
	func(tb *table.Table[int, pair]) { tb.Grow(1 << 20) },
	func(tb *table.Table[int, pair]) { tb.OnMove(func(int, table.Index, table.Index) {}) },
	func(tb *table.Table[int, pair]) { tb.OnDead(func(int, pair) {}) },
}

func TestZeroTable(t *testing.T) {
	for _, use := range append(everyChange, func(tb *table.Table[int, pair]) { tb.Lookup(1) }, func(tb *table.Table[int, pair]) { tb.Clone(nil) }) {
		requirePanicText(t, func() { use(&table.Table[int, pair]{}) }, "use of a zero Table; make one with New or ForHandles")
	}
}

// TestBatchReallocatesOnce: a batch allocates what its records and the index need, however
// much larger than the table it is. Growth by doubling would allocate the columns twice.
func TestBatchReallocatesOnce(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		const n = 100_000
		p := pool.Must[int](nil)
		hs, rs := testkit.Fill(t, p, n, testkit.Number), make([]pair, n)
		tb := forHandles[pair](p, l)
		tb.Add(hs[0], rs[0])
		took := testkit.Allocated(func() { tb.AddBatch(hs[1:], rs[1:]) })
		require.Less(t, took, uint64(tb.Pages()*page+8*p.Stats().Allocated)*5/4)
	})
}

// TestKeysThatCannotBeKept: a key that a map could not keep leaves no trace, in a batch neither.
func TestKeysThatCannotBeKept(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		floats := of[float64, pair](l)
		require.EqualValues(t, 0, floats.Add(math.Copysign(0, -1), pair{}))
		require.Equal(t, table.None, floats.Add(0, pair{}), "the same key")

		anys := of[any, pair](l)
		for _, use := range []func(){
			func() { anys.Add(func() {}, pair{}) },
			func() { anys.Lookup(func() {}) },
			func() { anys.Remove(func() {}) },
			func() { anys.Set(func() {}, pair{}) },
			func() { anys.AddBatch([]any{1, 2, func() {}}, make([]pair, 3)) },
		} {
			_, ok := testkit.Recovered(use).(error)
			require.True(t, ok, "a runtime error, as a map's")
		}
		require.Zero(t, anys.Len())
		require.EqualValues(t, 0, anys.Add(nil, pair{}))
		require.EqualValues(t, 1, anys.Add(2, pair{}), "a batch is added whole or not at all")
		requirePanicText(t, func() { anys.AddBatch([]any{1}, nil) }, "1 keys and 0 records")
	})
}

// TestOnMoveThatMisbehaves: a function passed to OnMove may read and panic, but not
// change the table, which stays consistent.
func TestOnMoveThatMisbehaves(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := pairs(t, l, 6)
		var misbehave func(*table.Table[int, pair])
		after := 0
		tb.OnMove(func(k int, from, to table.Index) {
			require.Equal(t, to, tb.Lookup(k))
			misbehave(tb)
		})
		stop := tb.OnMove(func(int, table.Index, table.Index) { t.Error("a function that was taken back is called") })
		tb.OnMove(func(int, table.Index, table.Index) { after++ })
		stop()
		for _, change := range append(everyChange, func(*table.Table[int, pair]) { stop() }) {
			misbehave = change
			k, n := tb.Keys()[0], tb.Len()
			requirePanicText(t, func() { tb.Remove(k) }, "OnMove")
			require.Equal(t, table.None, tb.Lookup(k), "the removal is complete")
			require.EqualValues(t, n-1, tb.Add(k, pair{k, -k}))
		}
		require.Zero(t, after)

		boom := errors.New("boom")
		misbehave = func(*table.Table[int, pair]) { panic(boom) }
		require.Equal(t, boom, testkit.Recovered(func() { tb.RemoveAt(1) }))
		misbehave = func(tb *table.Table[int, pair]) { tb.SetAt(0, pair{42, 42}) } // it may not, but that moves nothing
		tb.RemoveAt(1)
		require.Equal(t, 1, after)
		require.Equal(t, 4, tb.Len())
		for k, r := range tb.All() {
			require.True(t, r == pair{k, -k} || r == pair{42, 42}, "the record should be whole")
		}
		requirePanicText(t, func() { tb.OnMove(nil) }, "nil function")
	})
}

// TestOnDeadThatMisbehaves: a function passed to OnDead may read and panic, but not change the table, which
// stays consistent: RemoveDead leaves other dead records to the next call, and AddBatch has added all.
func TestOnDeadThatMisbehaves(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		const n = 8
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1, Capacity: n})
		tb := forHandles[pair](p, l)
		boom := errors.New("boom")
		told := map[handle]pair{}
		fails, after := true, 0
		tb.OnDead(func(h handle, r pair) {
			require.NotContains(t, told, h)
			told[h] = r
			requirePanicText(t, func() { tb.Clear() }, "passed to OnDead")
			if fails {
				panic(boom)
			}
		})
		stop := tb.OnDead(func(handle, pair) { t.Error("a function that was taken back is called") })
		tb.OnDead(func(handle, pair) { after++ })
		stop()
		hs := testkit.Fill(t, p, n, testkit.Number)
		for i, h := range hs {
			tb.Add(h, pair{i, -i})
		}
		p.RemoveBatch(hs[:4])
		for k := range 4 {
			require.Equal(t, boom, testkit.Recovered(func() { tb.RemoveDead() }))
			require.Len(t, told, k+1)
			require.Equal(t, n-k-1, tb.Len())
		}
		require.Zero(t, tb.RemoveDead())
		p.RemoveBatch(hs[4:])
		next := testkit.Fill(t, p, n, testkit.Number)
		require.Equal(t, boom, testkit.Recovered(func() { tb.AddBatch(next, make([]pair, n)) }), "four are replaced")
		require.Len(t, told, 5)
		require.Zero(t, after)
		require.Equal(t, n, tb.Len())
		fails = false
		p.RemoveBatch(next)
		require.Equal(t, n, tb.RemoveDead())
		require.Equal(t, n, after)
		for i, h := range hs {
			if r, ok := told[h]; ok {
				require.Equal(t, pair{i, -i}, r)
			}
		}
		requirePanicText(t, func() { tb.OnDead(nil) }, "nil function")
	})
}

// TestFunctionsOfDeleteFuncAndSortFuncOnlyRead, and if they panic, the table is whole.
func TestFunctionsOfDeleteFuncAndSortFuncOnlyRead(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		for i, change := range everyChange {
			tb := pairs(t, l, 5)
			requirePanicText(t, func() {
				tb.DeleteFunc(func(k int, at table.Index) bool {
					if at == 2 {
						change(tb)
					}
					return true
				})
			}, "table: a function passed to DeleteFunc changes the table; it may only read it")
			require.Equal(t, []int{0, 1, 2}, tb.Keys(), "change %d", i)
			requirePanicText(t, func() {
				tb.SortFunc(func(a, b table.Index) int { change(tb); return 0 })
			}, "passed to SortFunc")
			require.Equal(t, []int{0, 1, 2}, tb.Keys(), "change %d", i)
			require.EqualValues(t, 3, tb.Add(3, pair{3, -3}), "the table can be changed again")

			stop := tb.OnMove(func(int, table.Index, table.Index) { change(tb) })
			requirePanicText(t, func() { tb.SortFunc(func(a, b table.Index) int { stop(); return 0 }) }, "passed to SortFunc")
			requirePanicText(t, func() { tb.DeleteFunc(func(k int, _ table.Index) bool { return k == 1 }) }, "passed to OnMove")
			requirePanicText(t, func() { tb.SortFunc(func(a, b table.Index) int { return int(b - a) }) }, "passed to OnMove")
			stop()
			for k, r := range tb.All() {
				require.Equal(t, pair{k, -k}, r)
			}
			require.Equal(t, []int{2, 3, 0}, tb.Keys())
		}
	})
}
