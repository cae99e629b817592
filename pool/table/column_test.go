//go:build !race

package table_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/pool/table"
)

type shape struct {
	A    uint32
	B    uint32
	none struct{}
	Far  *nested
	In   nested
	Zero [0]struct{} // at the offset of Two
	Two  [2]uint16
	_    [2]uint64 // with it, the allocation of a shape is larger than the shape
	Last struct{}
}

// from returns a selector that points at an offset from its record.
func from[F any](offset uintptr) func(*shape) *F {
	return func(r *shape) *F { return (*F)(unsafe.Add(unsafe.Pointer(r), offset)) }
}

// TestColumnRefusesWhatIsNoField: a selector that names no field panics with the reason.
func TestColumnRefusesWhatIsNoField(t *testing.T) {
	var elsewhere uint32
	var r shape
	two := unsafe.Offsetof(r.Two)
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, shape](l)
		for _, c := range []struct {
			why    string
			column func()
		}{
			{"outside", func() { table.Column(tb, func(*shape) *uint32 { return &elsewhere }) }},
			{"outside", func() { table.Column(tb, from[uint32](unsafe.Sizeof(r))) }},
			{"nil", func() { table.Column(tb, func(*shape) *uint32 { return nil }) }},
			{"nil selector", func() { table.Column[uint32](tb, nil) }},
			{"behind a pointer", func() { table.Column(tb, func(r *shape) *uint8 { return &r.Far.A }) }},
			{"at offset 0 of table_test.shape, where there is no field of type uint64", func() { table.Column(tb, from[uint64](0)) }},
			{"at offset 4 of table_test.shape, where there is no field of type int32", func() { table.Column(tb, from[int32](4)) }},
			{"no field of type uint16", func() { table.Column(tb, from[uint16](two+1)) }},
			{"no field of type uint16", func() { table.Column(tb, from[uint16](two+4)) }},       // behind the array
			{"no field of type struct {}", func() { table.Column(tb, from[struct{}](two)) }},    // no element
			{"no field of type uint64", func() { table.Column(tb, from[uint64](two+8-two%8)) }}, // the blank field
			{"zero Table", func() { table.Column(&table.Table[int, shape]{}, func(r *shape) *uint32 { return &r.A }) }},
		} {
			requirePanicText(t, c.column, c.why)
		}
	})
	soa := of[int, shape](table.SoA)
	requirePanicText(t, func() { table.Column(soa, from[shape](0)) }, "whole records", "SoA", "GetAt and SetAt")
}

// TestColumnsWithoutSize: fields, keys and records of size zero are like others, also
// where they share their offset with a neighbour or lie at the end.
func TestColumnsWithoutSize(t *testing.T) {
	type none struct {
		_ [0]int
		_ struct{}
	}
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, shape](l)
		last := table.Column(tb, func(r *shape) *struct{} { return &r.Last })
		far := table.Column(tb, func(r *shape) **nested { return &r.Far })
		for i := range 3 {
			tb.Add(i, shape{Far: &nested{A: uint8(i)}})
		}
		require.Equal(t, struct{}{}, *last.At(2))
		require.EqualValues(t, 2, (*far.At(2)).A)
		require.Equal(t, 3, table.Column(tb, func(r *shape) *struct{} { return &r.none }).Len())
		all, ok := last.Slice()
		require.True(t, ok == (l == table.SoA) && len(all) == 3 || !ok, "a column should have three values, and only in a table of columns")

		empty := of[uint64, struct{}](l)
		for i := range uint64(5000) {
			require.EqualValues(t, i, empty.Add(i, struct{}{}))
		}
		require.EqualValues(t, 7, empty.Remove(7))
		require.EqualValues(t, 7, empty.Lookup(4999))
		require.Equal(t, 16, empty.Pages(), "8192 keys of 8 bytes")

		type sized struct {
			Nothing [2]struct{} // at the offset of N too
			N       int
		}
		if l == table.AoS {
			require.Equal(t, 4999, table.Column(empty, func(r *struct{}) *struct{} { return r }).Len(), "of whole records")
		}

		both := of[int, sized](l)
		both.Add(1, sized{N: 7})
		require.Equal(t, 7, *table.Column(both, func(r *sized) *int { return &r.N }).At(0))
		require.Equal(t, struct{}{}, *table.Column(both, func(r *sized) *struct{} { return &r.Nothing[1] }).At(0))

		sizeless := of[struct{}, none](l)
		require.EqualValues(t, 0, sizeless.Add(struct{}{}, none{}))
		require.Equal(t, table.None, sizeless.Add(struct{}{}, none{}))
		require.Zero(t, sizeless.Pages())
	})
}

// TestRareFieldsAlone: a table whose records have one field copies and moves it, also if that is done in a way that
// most records do not need.
func TestRareFieldsAlone(t *testing.T) {
	n := new(uint64)
	each(t, func(t *testing.T, l table.Layout) {
		alone(t, l, uint16(1), uint16(2))
		alone(t, l, [3]byte{1, 2, 3}, [3]byte{4, 5, 6})
		alone(t, l, []int{1}, []int{2, 3})
		alone(t, l, any(1), any("other"))
		alone(t, l, [2]*uint64{n, nil}, [2]*uint64{nil, n})
	})
}

func alone[F any](t *testing.T, l table.Layout, one, other F) {
	t.Helper()
	type record struct{ F F }
	tb := of[int, record](l)
	require.Zero(t, tb.Clear(), "before it has memory")
	require.Zero(t, tb.Clone(nil).Len())
	v := table.Column(tb, func(r *record) *F { return &r.F })
	tb.Add(1, record{one})
	tb.Add(2, record{one})
	require.True(t, tb.Set(2, record{other}))
	require.EqualValues(t, 0, tb.Remove(1))
	got, ok := tb.Get(2)
	require.True(t, ok)
	require.Equal(t, other, got.F, "%T", one)
	require.Equal(t, other, *v.At(0), "%T", one)
	got, _ = tb.Clone(nil).Get(2)
	require.Equal(t, other, got.F, "%T", one)
}

// TestViewRefusesIndexes: At and Batch panic for an Index that names nothing.
func TestViewRefusesIndexes(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := pairs(t, l, 2)
		v := table.Column(tb, func(r *pair) *int { return &r.B })
		tb.Remove(1)
		for _, none := range []table.Index{1, table.None, -7} {
			requirePanicText(t, func() { v.At(none) }, "View.At of an Index that is None or not below Len")
		}
		requirePanicText(t, func() { v.Batch([]table.Index{0, 1}, nil) }, "View.At")
	})
	var zero table.View[int]
	require.Zero(t, zero.Len())
	all, ok := zero.Slice()
	require.False(t, ok, "a zero View should have no slice")
	require.Empty(t, all)
	for range zero.All() {
		t.Error("a record of a zero View")
	}
	require.Empty(t, zero.Batch(nil, nil))
	requirePanicText(t, func() { zero.At(0) }, "zero View")
}
