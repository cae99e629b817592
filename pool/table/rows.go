package table

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
)

// The words of this package:
//
//	record   a value of type R, which a program adds by a key
//	row      the place of a record in all columns, by its number. The API calls that number Index
//	column   an array that has a part of each record: a field of R under SoA, all of R under AoS
//	element  what a column has in a row
//	index    what leads from a key to its row. Index with a capital letter is the number of a row
//	dead     of a key: a handle that its pool refuses, although it has a record
//	occupant the record of a slot, in the index of a table by handles
//	page     4 KiB of memory, of a column or of the index of a table by handles
//	piece    a part of a value that is copied at once; in snapshots, some of the records

// pageBytes is the size of a page. Columns take whole pages, so that no two of them share
// a cache line.
const pageBytes = 4 << 10

// pages returns how many pages n bytes take.
func pages(n int) int { return (n + pageBytes - 1) / pageBytes }

// rows has the memory of a table: columns of equal length.
//
// The layouts differ only in how they cut R into columns: SoA at its fields, AoS not at all. So any field
// of R lies in one column, at an offset within its elements.
type rows struct {
	n         int // how many records there are
	allocated int // how many rows there is room for: 0 or a power of two
	first     int // how many rows the first growth makes
	layout    Layout
	record    reflect.Type
	columns   []column // under SoA one for each field that is not blank, under AoS one of type R. Views point into it, so it never moves
	key       column   // the keys
	places             // of the columns
}

func (rs *rows) init(key, record reflect.Type, l Layout) {
	rs.layout, rs.record = l, record
	if l == AoS {
		rs.columns = []column{newColumn(record, 0)}
	} else {
		for i := range record.NumField() {
			if f := record.Field(i); f.Name != "_" {
				rs.columns = append(rs.columns, newColumn(f.Type, f.Offset))
			}
		}
	}
	rs.key = newColumn(key, 0)

	// The first growth gives the widest column a page, and each of the others.
	rs.first = 1 << (bits.Len(max(1, pageBytes/uint(rs.widest()))) - 1)
}

// allColumns ranges over the columns, and that of the keys.
func (rs *rows) allColumns(yield func(*column) bool) {
	for i := range rs.columns {
		if !yield(&rs.columns[i]) {
			return
		}
	}
	yield(&rs.key)
}

// widest returns the size of an element of the widest column, or 1.
func (rs *rows) widest() (size uintptr) {
	size = 1
	for c := range rs.allColumns {
		size = max(size, c.size)
	}
	return size
}

func (rs *rows) pages() (n int) {
	for c := range rs.allColumns {
		n += pages(rs.allocated * int(c.size))
	}
	return n
}

// grow makes room for n rows, more than are allocated. If it panics, nothing has changed.
func (rs *rows) grow(n int) {
	allocated := max(rs.first, 2*rs.allocated)
	if allocated < n {
		allocated = 1 << bits.Len(uint(n-1))
	}
	if allocated <= 0 || uintptr(allocated) > (math.MaxInt-pageBytes)/rs.widest() {
		rs.tooMany(n)
	}
	rs.resize(allocated)
}

func (rs *rows) tooMany(n int) {
	panic(fmt.Sprintf("table: no room for %d records of %d bytes", n, rs.record.Size()))
}

// trim shrinks the columns to the length that growth to the present number of records would have made.
func (rs *rows) trim() {
	allocated := 0
	if rs.n > 0 {
		allocated = max(rs.first, 1<<bits.Len(uint(rs.n-1)))
	}
	if allocated < rs.allocated {
		rs.resize(allocated)
	}
}

// resize makes columns that have so many rows. If it panics, nothing has changed.
func (rs *rows) resize(allocated int) {
	sized := make([]column, 0, len(rs.columns)+1)
	for c := range rs.allColumns {
		sized = append(sized, c.resized(rs.n, allocated))
	}
	copy(rs.columns, sized)
	rs.key = sized[len(rs.columns)]
	rs.allocated = allocated
	rs.places = placesOf(rs.layout, rs.columns)
}

// find returns the column that has the part of R which lies at offset and has type typ, and the offset of
// that part in the column's elements.
func (rs *rows) find(typ reflect.Type, offset uintptr) (c *column, inner uintptr, ok bool) {
	for i := range rs.columns {
		if c = &rs.columns[i]; offset >= c.offset && contains(c.typ, offset-c.offset, typ) {
			return c, offset - c.offset, true
		}
	}
	return nil, 0, false
}

// contains reports whether a part of type part lies at offset in values of type t. A part is t itself, a
// field or an element of it, or a part of these.
func contains(t reflect.Type, offset uintptr, part reflect.Type) bool {
	if t == part && offset == 0 {
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" && f.Offset <= offset && contains(f.Type, offset-f.Offset, part) {
				return true
			}
		}
	case reflect.Array:
		size := t.Elem().Size()
		switch {
		case t.Len() == 0:
		case size == 0:
			return contains(t.Elem(), offset, part)
		case offset < t.Size():
			return contains(t.Elem(), offset%size, part)
		}
	}
	return false
}
