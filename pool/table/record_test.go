//go:build !race

package table_test

import (
	"fmt"
	"reflect"
	"strconv"

	"coatcheck/pool/table"
)

// Embedded is embedded in record.
type Embedded struct {
	E int32
	f *uint64
}

type embedded struct{ G, h uint16 }

// record has a field for every way in which a table copies fields.
type record struct {
	ID    uint64
	small uint8
	_     [3]byte
	none  struct{}
	half  uint16
	word  int32
	Name  string
	ptr   *uint64
	list  []uint64
	dict  map[uint64]string
	dyn   any
	str   fmt.Stringer
	In    nested
	Embedded
	*embedded
	Pos    [3]float64
	odd    [7]byte
	deep   [2][3]nested
	many   [10]string
	mixed  [9]struct{ p, q *uint64 }
	ch     chan uint64
	fn     func() uint64
	c      complex128
	b      bool
	twelve [3]int32
	End    [0]func()
}

// number is a Stringer that is not a pointer.
type number uint64

func (n number) String() string { return strconv.FormatUint(uint64(n), 10) }

// newRecord returns a record whose fields all show id.
func newRecord(id uint64) (r record) {
	at := func(i int) *uint64 { v := id + uint64(i); return &v }
	in := func(i int) nested {
		return nested{uint8(id) + uint8(i), id << 32, strconv.Itoa(int(id) + i), [3]uint16{uint16(id), uint16(i), 7}, uint16(id) + 3}
	}
	r.ID, r.small, r.half, r.word = id, uint8(id), uint16(id), int32(id)
	r.Name, r.ptr, r.list, r.dict = strconv.FormatUint(id, 10), at(0), []uint64{id}, map[uint64]string{id: "id"}
	r.dyn, r.str = id, number(id)
	if id%3 == 0 {
		r.dyn, r.str = at(0), nil
	}
	r.In, r.Embedded = in(1), Embedded{int32(id), at(2)}
	r.embedded = &embedded{uint16(id), 3}
	r.Pos, r.odd = [3]float64{float64(id), float64(id) + 1, 2}, [7]byte{0: byte(id), 6: byte(id) + 1}
	for i := range r.deep {
		for j := range r.deep[i] {
			r.deep[i][j] = in(10*i + j)
		}
	}
	for i := range r.many {
		r.many[i] = strconv.Itoa(int(id) + 100*i)
	}
	for i := range r.mixed {
		r.mixed[i].p, r.mixed[i].q = at(i), at(-i)
	}
	r.ch = make(chan uint64, id%9)
	r.fn = func() uint64 { return id }
	r.c, r.b, r.twelve = complex(float64(id), 1), id%2 == 1, [3]int32{int32(id), 2, int32(id)}
	return r
}

// differs returns how r differs from newRecord(id), or "".
func (r *record) differs(id uint64) string {
	want := newRecord(id)
	if r.fn == nil || r.fn() != id {
		return "fn"
	}
	if cap(r.ch) != int(id%9) {
		return "ch"
	}
	want.ch, want.fn = r.ch, nil
	got := *r
	got.fn = nil
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("%+v, want %+v", got, want)
}

// column reports whether a column shows, at i, its field of r.
type column func(i table.Index, r *record) bool

// columnOf returns a column of a whole field, which has a Slice under SoA, or of a part of one.
func columnOf[K comparable, F any](tb *table.Table[K, record], whole bool, field func(*record) *F) column {
	v := table.Column(tb, field)
	whole = whole && tb.Layout() == table.SoA
	return func(i table.Index, r *record) bool {
		all, contiguous := v.Slice()
		if contiguous != whole || contiguous && (len(all) != cap(all) || &all[i] != v.At(i)) { // append must copy
			return false
		}
		return reflect.DeepEqual(*v.At(i), *field(r))
	}
}

// columnsOf returns columns of every kind: fields, and parts of fields.
func columnsOf[K comparable](tb *table.Table[K, record]) []column {
	columns := []column{
		columnOf(tb, true, func(r *record) *uint64 { return &r.ID }),
		columnOf(tb, true, func(r *record) *string { return &r.Name }),
		columnOf(tb, true, func(r *record) **uint64 { return &r.ptr }),
		columnOf(tb, false, func(r *record) *string { return &r.In.S }),
		columnOf(tb, false, func(r *record) *uint16 { return &r.deep[1][2].b[1] }),
		columnOf(tb, false, func(r *record) *int32 { return &r.E }),
		columnOf(tb, true, func(r *record) *struct{} { return &r.none }),
		columnOf(tb, true, func(r *record) *[3]float64 { return &r.Pos }),
		columnOf(tb, false, func(r *record) *float64 { return &r.Pos[1] }),
		columnOf(tb, false, func(r *record) *byte { return &r.odd[6] }),
	}
	if tb.Layout() == table.AoS {
		whole := table.Column(tb, func(r *record) *record { return r })
		columns = append(columns, func(i table.Index, r *record) bool {
			all, contiguous := whole.Slice()
			return contiguous && &all[i] == whole.At(i) && all[i].differs(r.ID) == ""
		})
	}
	return columns
}
