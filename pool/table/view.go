package table

import (
	"fmt"
	"iter"
	"reflect"
)

// View is one field of all records of a table, read or written by Index.
//
// It is a small value that may be copied. It stays valid as long as the table is used, through
// growth, Trim and removals. It gives references, *F, which are valid until the table grows, is
// trimmed, or a record leaves. Several goroutines may use Views of different fields at once, also
// to write, or one View for different records.
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
// Column calls the selector once, with a zero R. It must return the address of a field, or of a
// field or element within a struct or array in R. Column panics if the result is nil, lies
// outside R, or is no F by R's type.
//
// Under AoS the selector may return its argument; then the View is of whole records. Under SoA
// Column panics then. For code that runs under both, GetAt and SetAt take whole records. Column
// costs far more than a look-up: call it once, not for each record.
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
		panic(fmt.Sprintf("table: Column of whole records, %v, under SoA, where none lies in one place; GetAt and SetAt load and store them", typ))
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

// At returns a reference to the field of the record at i, valid until the table grows, is
// trimmed, or a record leaves. It panics if there is no record at i. It costs one load more than
// indexing a slice.
func (v View[F]) At(i Index) *F {
	if v.rows == nil || uint(i) >= uint(v.rows.n) {
		panic(noRecordAt)
	}
	return part[F](v.column, i, v.size, v.offset)
}

// All returns an iterator over the field in all records. Its references are valid as long as
// those of At. The body must not add or remove records, or the loop may visit some twice or not
// at all.
//
// The compiler makes a plain loop of it, except in a function literal that it inlines into its
// surroundings. There it calls the body for each record, at six times the cost of a slice or
// more. In such a place use Slice, or put the loop into a function.
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

// Batch appends a reference for each Index of ix to dst, and returns the extended slice. For None
// it appends nil. Like At, it panics for any other Index without a record.
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

// Slice returns the column as a slice, for the fastest loops. Its element i belongs to the record
// at i. It is no copy, and is valid until the table grows or a record comes or leaves.
//
// Slice returns false if the field is not contiguous. Under AoS, only whole records are. Under
// SoA, a field of a nested or embedded struct is not, nor an element of an array.
func (v View[F]) Slice() ([]F, bool) {
	if v.rows == nil || v.column.typ != reflect.TypeFor[F]() {
		return nil, false
	}
	return elements[F](v.column, v.rows.n), true
}
