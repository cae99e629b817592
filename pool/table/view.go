package table

import (
	"fmt"
	"iter"
	"reflect"
)

// View is one field of all records of a table: read or write it by Index.
//
// It is a small value, to be copied at will, and stays good for as long as the
// table is used: growth, Trim and removals do not touch it. What it gives are
// references, *F, which are good until the table grows, is trimmed, or a record
// leaves. Views of different fields may be used by different goroutines at once, also to
// write, and so may one View for different records.
//
// A zero View has no records.
type View[F any] struct {
	// Four words: the compiler keeps no more than that in registers.
	rows   *rows
	column *column
	size   uintptr // of the column's elements
	offset uintptr // of the field in them
}

// Column returns the column of a field of R, typed, under either layout:
//
//	x := table.Column(t, func(r *Body) *float64 { return &r.X })
//
// The selector is called once, with a zero R, and must return the address of a
// field of it, or of a field or an element of a struct or array within it. Column
// panics if it returns anything else: nil, something outside R, something behind a pointer,
// or what is no F according to R's type.
//
// Under AoS it may return the record that it is given: the View is of whole records
// then, with references to them. Under SoA no record lies in one place, and Column
// panics. Code for either layout has CopyAt and SetAt, which load and store whole records.
//
// It costs a microsecond or so: get a column once, not for every record.
func Column[F any, K comparable, R any](t *Table[K, R], field func(*R) *F) View[F] {
	if t.index == nil {
		panic(zeroTable)
	}
	offset := offsetOf(field)
	typ := reflect.TypeFor[F]()
	c, inner, ok := t.rows.find(typ, offset)
	switch {
	case ok:
	case typ == t.rows.record:
		panic(fmt.Sprintf("table: Column of whole records, %v, under SoA, where none lies in one place; CopyAt and SetAt load and store them", typ))
	default:
		panic(fmt.Sprintf("table: Column: the selector points at offset %d of %v, where there is no field of type %v", offset, t.rows.record, typ))
	}
	return View[F]{&t.rows, c, c.size, inner}
}

// Len returns the number of records.
func (v View[F]) Len() int {
	if v.rows == nil {
		return 0
	}
	return v.rows.n
}

// At returns a reference to the field of the record at i, good until the table
// grows or a record leaves. It panics if there is no record at i. It costs what indexing a
// slice costs, and a load more.
func (v View[F]) At(i Index) *F {
	if v.rows == nil || uint(i) >= uint(v.rows.n) {
		panic(noRecordAt)
	}
	return part[F](v.column, i, v.size, v.offset)
}

// All ranges over the field in all records. The references are good as those of
// At are. The body must not add or remove records; it would meet some twice, or
// not at all.
//
// The compiler makes a plain loop of it, but for one place: a function literal within
// another that is called where it stands, and so is put into its surroundings. The compiler
// leaves the calls in that copy as they are. All calls the body there for each record, at six
// times the cost of a slice or more, as [slices.All] does, and At is called, too. Take Slice
// there, which costs what a slice does, or a function for the loop.
func (v View[F]) All() iter.Seq2[Index, *F] {
	return func(yield func(Index, *F) bool) {
		if v.rows == nil {
			return
		}
		for i := Index(0); int(i) < v.rows.n; i++ {
			if !yield(i, part[F](v.column, i, v.size, v.offset)) {
				return
			}
		}
	}
}

// Batch appends a reference for each of ix to dst and returns it: nil where the
// index is None. It panics, like At, for one that is neither None nor there.
func (v View[F]) Batch(ix []Index, dst []*F) []*F {
	for _, i := range ix {
		if i == None {
			dst = append(dst, nil)
		} else {
			dst = append(dst, v.At(i))
		}
	}
	return dst
}

// Slice returns the column as a slice, of which element i belongs to the record
// at i, for the fastest loops: it is no copy, and good until the table grows or a
// record comes or leaves. It answers false where the field does not lie
// contiguously: under AoS, but for whole records, and for a field of a nested or
// embedded struct, or an element of an array.
func (v View[F]) Slice() ([]F, bool) {
	if v.rows == nil || v.column.typ != reflect.TypeFor[F]() {
		return nil, false
	}
	return elements[F](v.column, v.rows.n), true
}
