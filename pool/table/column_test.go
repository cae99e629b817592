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
	Two  [2]uint16
	_    uint64
	Last struct{}
}

// TestColumnRefusesWhatIsNoField: a selector that names no field panics with the reason.
func TestColumnRefusesWhatIsNoField(t *testing.T) {
	var elsewhere uint32
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, shape](t, l)
		tb.Add(1, shape{Far: &nested{}})
		requirePanicText(t, func() { table.Column(tb, func(*shape) *uint32 { return &elsewhere }) }, "outside")
		requirePanicText(t, func() { table.Column(tb, func(*shape) *uint32 { return nil }) }, "nil")
		requirePanicText(t, func() { table.Column[uint32](tb, nil) }, "nil selector")
		requirePanicText(t, func() { table.Column(tb, func(r *shape) *uint8 { return &r.Far.A }) }, "behind a pointer")
		requirePanicText(t, func() {
			table.Column(tb, func(r *shape) *uint64 { return (*uint64)(unsafe.Pointer(&r.A)) })
		}, "offset 0", "no field of type uint64")
		requirePanicText(t, func() {
			table.Column(tb, func(r *shape) *int32 { return (*int32)(unsafe.Pointer(&r.B)) })
		}, "offset 4", "int32")
		requirePanicText(t, func() {
			table.Column(tb, func(r *shape) *uint16 { return (*uint16)(unsafe.Add(unsafe.Pointer(&r.Two), 1)) })
		}, "uint16")
		requirePanicText(t, func() {
			table.Column(tb, func(r *shape) *uint32 { return (*uint32)(unsafe.Add(unsafe.Pointer(r), unsafe.Sizeof(*r))) })
		}, "outside")
		requirePanicText(t, func() {
			table.Column(tb, func(r *shape) *uint64 { // the blank field
				return (*uint64)(unsafe.Add(unsafe.Pointer(&r.Two), 8-unsafe.Offsetof(r.Two)%8))
			})
		}, "uint64")
		requirePanicText(t, func() { table.Column(&table.Table[int, shape]{}, func(r *shape) *uint32 { return &r.A }) }, "zero Table")
	})
}

// TestColumnOfWholeRecords: it is a View under AoS, and a panic with advice under SoA.
func TestColumnOfWholeRecords(t *testing.T) {
	whole := func(r *record) *record { return r }
	soa := of[int, record](t, table.SoA)
	requirePanicText(t, func() { table.Column(soa, whole) }, "whole records", "SoA", "CopyAt and SetAt")

	tb := of[int, record](t, table.AoS)
	v := table.Column(tb, whole)
	names := table.Column(tb, func(r *record) *string { return &r.Name })
	for i := range 300 {
		tb.Add(i, newRecord(uint64(i)))
	}
	all, ok := v.Slice()
	require.True(t, ok)
	require.Len(t, all, 300)
	for i, r := range v.All() {
		require.Empty(t, r.differs(uint64(i)))
		require.Same(t, r, v.At(i))
		require.Same(t, r, &all[i])
		require.Same(t, &r.Name, names.At(i))
		*r = newRecord(uint64(i) + 1000)
	}
	require.Nil(t, v.Batch([]table.Index{table.None}, nil)[0])
	for i := range 300 {
		r, err := tb.Copy(i)
		require.NoError(t, err)
		require.Empty(t, r.differs(uint64(i)+1000))
	}
}

// TestColumnsOfZeroSize: fields of size zero, which share their offset with a neighbour
// or lie at the end, are like other fields.
func TestColumnsOfZeroSize(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, shape](t, l)
		none := table.Column(tb, func(r *shape) *struct{} { return &r.none })
		last := table.Column(tb, func(r *shape) *struct{} { return &r.Last })
		far := table.Column(tb, func(r *shape) **nested { return &r.Far })
		for i := range 3 {
			tb.Add(i, shape{Far: &nested{A: uint8(i)}})
		}
		require.Equal(t, struct{}{}, *none.At(2))
		require.Equal(t, struct{}{}, *last.At(2))
		require.EqualValues(t, 2, (*far.At(2)).A)
		require.Equal(t, 3, last.Len())
		all, ok := last.Slice()
		require.Equal(t, l == table.SoA, ok)
		if ok {
			require.Len(t, all, 3)
		}
		n := 0
		for range none.All() {
			n++
		}
		require.Equal(t, 3, n)
	})
}

// TestRecordsWithoutSize: records without fields, or of size zero, are like other
// records.
func TestRecordsWithoutSize(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		empty := of[uint64, struct{}](t, l)
		sizeless := of[struct{}, struct {
			a [0]int
			_ struct{}
		}](t, l)
		for i := range uint64(5000) {
			require.EqualValues(t, i, empty.Add(i, struct{}{}))
		}
		require.EqualValues(t, 7, empty.Remove(7))
		require.EqualValues(t, 7, empty.Lookup(4999))
		require.Equal(t, 16, empty.Pages(), "8192 keys of 8 bytes")
		_, err := empty.Copy(4999)
		require.NoError(t, err)

		require.EqualValues(t, 0, sizeless.Add(struct{}{}, struct {
			a [0]int
			_ struct{}
		}{}))
		require.Equal(t, table.None, sizeless.Add(struct{}{}, struct {
			a [0]int
			_ struct{}
		}{}))
		require.Zero(t, sizeless.Pages())
		require.Equal(t, 1, sizeless.Len())
	})
}

// TestViewsOutliveGrowth: a View stays valid through growth and removals. Slice is for
// whole fields under SoA only.
func TestViewsOutliveGrowth(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, record](t, l)
		v := viewsOf(tb)
		ids, ok := v.id.Slice()
		require.Empty(t, ids)
		require.Equal(t, l == table.SoA, ok)
		const n = 2000
		for i := range n {
			tb.Add(i, newRecord(uint64(i)))
		}
		require.Greater(t, tb.Allocated(), n)
		for i := range n {
			require.Empty(t, v.differs(table.Index(i), uint64(i)))
		}
		for i := range n / 2 {
			require.EqualValues(t, i, tb.RemoveAt(table.Index(i)))
			require.Equal(t, n-i-1, v.id.Len())
		}
		names, ok := v.name.Slice()
		require.Equal(t, l == table.SoA, ok)
		if ok {
			require.Len(t, names, n/2)
			require.Equal(t, n/2, cap(names), "append would write into the table")
			names[3] = "changed"
			require.Equal(t, "changed", *v.name.At(3))
		}
		for what, whole := range map[string]bool{
			"of a nested struct":    second(v.inner.Slice()),
			"of an embedded struct": second(v.gopher.Slice()),
			"of an array":           second(v.pos1.Slice()),
		} {
			require.False(t, whole, what)
		}
		require.Equal(t, l == table.SoA, second(v.pos.Slice()))
	})
}

func second[A, B any](_ A, b B) B { return b }

// TestViewRefusesIndexes: At and Batch panic for an Index that names nothing.
func TestViewRefusesIndexes(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, shape](t, l)
		v := table.Column(tb, func(r *shape) *uint32 { return &r.B })
		requirePanicText(t, func() { v.At(0) }, "View.At", "not below Len")
		tb.Add(1, shape{})
		tb.Add(2, shape{})
		tb.Remove(1)
		requirePanicText(t, func() { v.At(1) }, "View.At")
		requirePanicText(t, func() { v.At(table.None) }, "None")
		requirePanicText(t, func() { v.Batch([]table.Index{0, 1}, nil) }, "View.At")
	})
	var zero table.View[int]
	require.Zero(t, zero.Len())
	_, ok := zero.Slice()
	require.False(t, ok)
	for range zero.All() {
		t.Error("a record of a zero View")
	}
	require.Empty(t, zero.Batch(nil, nil))
	requirePanicText(t, func() { zero.At(0) }, "zero View")
}

// TestViewLoops: a loop over a column that is left early stops, and one whose body grows
// the table continues in the new memory.
func TestViewLoops(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, shape](t, l)
		for i := range 10 {
			tb.Add(i, shape{A: uint32(i)})
		}
		v := table.Column(tb, func(r *shape) *uint32 { return &r.A })
		n := 0
		for range v.All() {
			if n++; n == 3 {
				break
			}
		}
		for range tb.All() {
			if n++; n == 6 {
				break
			}
		}
		require.Equal(t, 6, n)
		for i, a := range v.All() {
			if i == 2 {
				tb.Reserve(tb.Allocated() * 2)
				continue // a is of the old memory
			}
			require.EqualValues(t, i, *a)
			require.Same(t, v.At(i), a, "record %d", i)
			*a = 100 + uint32(i)
		}
		r, err := tb.Copy(9)
		require.NoError(t, err)
		require.EqualValues(t, 109, r.A)
	})
}
