package table

// All uses of unsafe in this package are in this file.
//
// A table does not know the types of R's fields at compile time, and keeps each field in
// a block of its own type. So it reaches them by address, and must do what the compiler
// and the runtime do for slices:
//
//   - A column lies in a slice of its type, which reflect makes, so that the garbage
//     collector sees the pointers in it.
//   - Every word that holds a pointer is copied as a pointer, never as bytes: the garbage
//     collector runs meanwhile and needs a write barrier. The compiler emits it if the copy
//     has a type with a pointer in that place.
//   - An address is made only from a column and a row below rows.allocated, or from a record
//     and the offset of a field in its type. It is never one past the end of either, which may
//     be another object's.
//
// reflect.Value.Set could copy as well, at several times the cost for each field.

import (
	"fmt"
	"reflect"
	"unsafe"

	"coatcheck/internal/pointers"
)

// column is an array of values of one type.
type column struct {
	base   unsafe.Pointer // the address of element 0; nil before the first growth
	offset uintptr        // of the field in R
	block  reflect.Value  // the elements, as a slice of their type
	elementType
}

// elementType is the type of a column's elements, and how to copy one.
type elementType struct {
	size   uintptr
	kind   copyKind
	typ    reflect.Type
	pieces []piece // if how is byPieces
}

// copyKind is the way to copy a value.
type copyKind uint8

const (
	byNothing copyKind = iota // it has no size
	by1                       // by8 and before: a word of that many bytes
	by2
	by4
	by8
	byBytes
	byPointer
	byString
	bySlice
	byInterface
	byPieces
)

// isRare reports whether few records have a column that is copied in this way.
func (kind copyKind) isRare() bool { return kind == by2 || kind == byBytes || kind >= bySlice }

// piece is a part of a value that is copied in one way. If kind is byPieces, it is an array of count
// elements, each of which consists of pieces.
type piece struct {
	kind         copyKind
	offset, size uintptr // of the part; of one element
	count        uintptr
	pieces       []piece
}

// flatPieces is the greatest number of pieces that an array is cut into. For a longer array there are only
// the pieces of one element, and a loop copies the elements. So its pieces take little memory.
const flatPieces = 16

func newColumn(typ reflect.Type, offset uintptr) column {
	c := column{offset: offset, elementType: elementType{size: typ.Size(), kind: kindOf(typ), typ: typ}}
	if c.kind == byPieces {
		c.pieces = cut(nil, typ, 0)
	}
	return c
}

// kindOf returns how to copy a value of type typ.
func kindOf(typ reflect.Type) copyKind {
	if !pointers.In(typ) {
		// A value may be read as a number only if it is aligned like one.
		switch size, align := typ.Size(), uintptr(typ.Align()); {
		case size == 0:
			return byNothing
		case size == 1:
			return by1
		case size == 2 && align >= unsafe.Alignof(uint16(0)):
			return by2
		case size == 4 && align >= unsafe.Alignof(uint32(0)):
			return by4
		case size == 8 && align >= unsafe.Alignof(uint64(0)):
			return by8
		}
		return byBytes
	}
	switch typ.Kind() {
	case reflect.String:
		return byString
	case reflect.Slice:
		return bySlice
	case reflect.Interface:
		return byInterface
	case reflect.Struct, reflect.Array:
		return byPieces
	}
	return byPointer // Pointer, UnsafePointer, Map, Chan and Func are one pointer each
}

// cut appends the pieces of a value of type typ that lies at offset.
func cut(pieces []piece, typ reflect.Type, offset uintptr) []piece {
	kind := kindOf(typ)
	switch {
	case kind == byNothing:
		return pieces
	case kind != byPieces:
		// Neighbours without pointers are one piece of bytes.
		if last := len(pieces) - 1; kind <= byBytes && last >= 0 && pieces[last].kind <= byBytes && pieces[last].offset+pieces[last].size == offset {
			pieces[last].kind = byBytes
			pieces[last].size += typ.Size()
			return pieces
		}
		return append(pieces, piece{kind: kind, offset: offset, size: typ.Size()})
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); f.Name != "_" {
				pieces = cut(pieces, f.Type, offset+f.Offset)
			}
		}
		return pieces
	}
	size := typ.Elem().Size()
	if element := cut(nil, typ.Elem(), 0); typ.Len()*len(element) > flatPieces {
		return append(pieces, piece{byPieces, offset, size, uintptr(typ.Len()), element})
	}
	for i := range typ.Len() {
		pieces = cut(pieces, typ.Elem(), offset+uintptr(i)*size)
	}
	return pieces
}

// places tell load, store and leave where the columns of a table lie.
type places struct {
	records unsafe.Pointer // under AoS, record 0
	plan    *plan          // under SoA; nil under AoS
}

func placesOf(l Layout, columns []column) places {
	if l == AoS {
		return places{records: columns[0].base}
	}
	return places{plan: planOf(columns)}
}

// plan tells how to copy a record of a structure of arrays. It is made once, when the columns get their
// memory. It has a list of steps for each kind of copying. So there is one loop for each kind, and no
// switch for each column of each record.
//
// The naive plan has a slice for each kind. Its loops load a length and count, although most records have
// few columns of a kind: to copy a record of seven took 180 instructions instead of 95.
type plan struct {
	lists [byPieces + 1]*step // by kinds; each is in the order of the fields
	rare  bool                // a list of a rare kind is not empty
}

// step is what it takes to copy an element of a column.
type step struct {
	base   unsafe.Pointer // element 0
	offset uintptr        // of the field in R
	next   *step          // the next column that is copied in the same way, or nil
	typ    *elementType
}

// planOf returns the plan of columns.
func planOf(columns []column) *plan {
	p, steps := new(plan), make([]step, len(columns))
	for i := len(columns) - 1; i >= 0; i-- {
		if c := &columns[i]; c.kind != byNothing {
			steps[i] = step{c.base, c.offset, p.lists[c.kind], &c.elementType}
			p.lists[c.kind] = &steps[i]
			p.rare = p.rare || c.kind.isRare()
		}
	}
	return p
}

// load copies record i to r. It, store and leave go through the same lists. They are written out three
// times because each copy is one instruction of a type that the compiler knows: a function for each step
// would be a call for each column.
func (p *plan) load(i Index, r unsafe.Pointer) {
	loadAll[uint64](p.lists[by8], i, r)
	loadAll[uint32](p.lists[by4], i, r)
	loadAll[uint8](p.lists[by1], i, r)
	loadAll[string](p.lists[byString], i, r)
	loadAll[unsafe.Pointer](p.lists[byPointer], i, r)
	if p.rare {
		p.copyRare(i, r, false)
	}
}

// copyRare copies the columns of rare kinds: from r to record i if store is true, or else from there to r.
func (p *plan) copyRare(i Index, r unsafe.Pointer, store bool) {
	for _, kind := range [...]copyKind{by2, byBytes, bySlice, byInterface, byPieces} {
		for s := p.lists[kind]; s != nil; s = s.next {
			dst, src := unsafe.Add(r, s.offset), s.typ.address(s.base, i)
			if store {
				dst, src = src, dst
			}
			s.typ.copy(dst, src)
		}
	}
}

// loadAll copies the elements of record i, all of type E, that the steps from s on have.
func loadAll[E any](s *step, i Index, r unsafe.Pointer) {
	for ; s != nil; s = s.next {
		*(*E)(unsafe.Add(r, s.offset)) = *element[E](s, i)
	}
}

// element returns element i of the column of a step.
func element[E any](s *step, i Index) *E {
	return (*E)(unsafe.Add(s.base, uintptr(i)*unsafe.Sizeof(*new(E))))
}

// store copies r to record i.
func (p *plan) store(i Index, r unsafe.Pointer) {
	storeAll[uint64](p.lists[by8], i, r)
	storeAll[uint32](p.lists[by4], i, r)
	storeAll[uint8](p.lists[by1], i, r)
	storeAll[string](p.lists[byString], i, r)
	storeAll[unsafe.Pointer](p.lists[byPointer], i, r)
	if p.rare {
		p.copyRare(i, r, true)
	}
}

// storeAll is the inverse of loadAll.
func storeAll[E any](s *step, i Index, r unsafe.Pointer) {
	for ; s != nil; s = s.next {
		*element[E](s, i) = *(*E)(unsafe.Add(r, s.offset))
	}
}

// leave moves the record at last to i, unless they are the same, and zeroes row last.
func (p *plan) leave(i, last Index) {
	leaveAll[uint64](p.lists[by8], i, last)
	leaveAll[uint32](p.lists[by4], i, last)
	leaveAll[uint8](p.lists[by1], i, last)
	leaveAll[string](p.lists[byString], i, last)
	leaveAll[unsafe.Pointer](p.lists[byPointer], i, last)
	if p.rare {
		p.leaveRare(i, last)
	}
}

// leaveRare does what leave does, for the columns of rare kinds.
func (p *plan) leaveRare(i, last Index) {
	leaveAll[uint16](p.lists[by2], i, last)
	leaveAll[[]byte](p.lists[bySlice], i, last)
	leaveAll[any](p.lists[byInterface], i, last)
	for _, kind := range [...]copyKind{byBytes, byPieces} {
		for s := p.lists[kind]; s != nil; s = s.next {
			left := s.typ.address(s.base, last)
			if i != last {
				s.typ.copy(s.typ.address(s.base, i), left)
			}
			reflect.NewAt(s.typ.typ, left).Elem().SetZero()
		}
	}
}

// leaveAll moves the elements of row last, all of type E, to row i, and zeroes them.
func leaveAll[E any](s *step, i, last Index) {
	for ; s != nil; s = s.next {
		left := element[E](s, last)
		*element[E](s, i) = *left
		*left = *new(E)
	}
}

// at returns element i of an array that begins at base.
func (t *elementType) address(base unsafe.Pointer, i Index) unsafe.Pointer {
	return unsafe.Add(base, uintptr(i)*t.size)
}

// copy copies an element.
func (t *elementType) copy(dst, src unsafe.Pointer) { copyValue(t.kind, dst, src, t.size, t.pieces) }

// copyValue copies a value.
func copyValue(kind copyKind, dst, src unsafe.Pointer, size uintptr, pieces []piece) {
	switch kind {
	case by8:
		*(*uint64)(dst) = *(*uint64)(src)
	case by4:
		*(*uint32)(dst) = *(*uint32)(src)
	case by1:
		*(*uint8)(dst) = *(*uint8)(src)
	case by2:
		*(*uint16)(dst) = *(*uint16)(src)
	case byBytes:
		copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
	case byPointer:
		*(*unsafe.Pointer)(dst) = *(*unsafe.Pointer)(src)
	case byString:
		*(*string)(dst) = *(*string)(src)
	case bySlice:
		// Every slice is three words, the first of them a pointer.
		*(*[]byte)(dst) = *(*[]byte)(src)
	case byInterface:
		// Every interface is two words; the copy does not interpret them.
		*(*any)(dst) = *(*any)(src)
	case byPieces:
		for i := range pieces {
			p := &pieces[i]
			dst, src := unsafe.Add(dst, p.offset), unsafe.Add(src, p.offset)
			if p.kind != byPieces {
				copyValue(p.kind, dst, src, p.size, nil)
				continue
			}
			for j := range p.count {
				copyValue(byPieces, unsafe.Add(dst, j*p.size), unsafe.Add(src, j*p.size), 0, p.pieces)
			}
		}
	}
}

// resized returns a column like c that has so many rows, and a copy of the first n elements.
func (c column) resized(n, rows int) column {
	old := c.block
	if c.size > 0 {
		rows = pages(rows*int(c.size)) * pageBytes / int(c.size)
	}
	c.block = reflect.MakeSlice(reflect.SliceOf(c.typ), rows, rows)
	c.base = c.block.UnsafePointer()
	if n > 0 {
		reflect.Copy(c.block, old.Slice(0, n))
	}
	return c
}

// wipe zeroes the first n elements.
func (c *column) wipe(n int) {
	switch {
	case n == 0:
	case c.kind <= byBytes: // Slice below allocates
		clear(unsafe.Slice((*byte)(c.base), uintptr(n)*c.size))
	default:
		c.block.Slice(0, n).Clear()
	}
}

// copyFrom copies the first n elements of src, a column of the same type.
func (c *column) copyFrom(src *column, n int) {
	switch {
	case n == 0:
	case c.kind <= byBytes: // Slice below allocates
		copy(unsafe.Slice((*byte)(c.base), uintptr(n)*c.size), unsafe.Slice((*byte)(src.base), uintptr(n)*c.size))
	default:
		reflect.Copy(c.block, src.block.Slice(0, n))
	}
}

// elements returns the first n elements of c, whose type is E.
func elements[E any](c *column, n int) []E { return unsafe.Slice((*E)(c.base), n) }

// part returns the part of type F that lies at offset in element i of c, whose
// elements are size bytes.
func part[F any](c *column, i Index, size, offset uintptr) *F {
	return (*F)(unsafe.Add(c.base, uintptr(i)*size+offset))
}

// record returns record i of an array of structures.
func record[R any](rs *rows, i Index) *R {
	return (*R)(unsafe.Add(rs.records, uintptr(i)*unsafe.Sizeof(*new(R))))
}

// load copies record i to *r. The compiler inlines it, at a cost of at most 80 nodes. With a call of record
// it would cost 88.
func load[R any](ps *places, i Index, r *R) {
	if ps.plan != nil {
		ps.plan.load(i, unsafe.Pointer(r))
		return
	}
	*r = *(*R)(unsafe.Add(ps.records, uintptr(i)*unsafe.Sizeof(*r)))
}

// store copies *r to record i. It is inlined, as load is.
func store[R any](ps *places, i Index, r *R) {
	if ps.plan != nil {
		ps.plan.store(i, unsafe.Pointer(r))
		return
	}
	*(*R)(unsafe.Add(ps.records, uintptr(i)*unsafe.Sizeof(*r))) = *r
}

// leave moves the record at last to i, unless they are the same, and zeroes row last, in
// one pass over the columns.
func leave[R any](rs *rows, i, last Index) {
	if rs.plan == nil {
		left := record[R](rs, last)
		*record[R](rs, i) = *left
		*left = *new(R)
	} else {
		rs.plan.leave(i, last)
	}
}

// offsetOf returns the offset in R to which the selector points. It panics if the selector points outside
// the record that it was given.
func offsetOf[F, R any](selector func(*R) *F) uintptr {
	record := new(R)
	field := uintptr(unsafe.Pointer(ask(selector, record)))
	start := uintptr(unsafe.Pointer(record))
	if field == 0 {
		panic(fmt.Sprintf("table: Column: the selector returned nil for a zero %T; want the address of a field of it", *record))
	}
	if field < start || field-start >= max(1, unsafe.Sizeof(*record)) {
		panic(fmt.Sprintf("table: Column: the selector points outside the %T that it was given; want the address of a field of it", *record))
	}
	return field - start
}

// ask calls the selector on record. If it panics, ask panics with an explanation.
func ask[F, R any](selector func(*R) *F, record *R) *F {
	if selector == nil {
		panic("table: Column with a nil selector")
	}
	defer func() {
		if v := recover(); v != nil {
			panic(fmt.Sprintf("table: Column: the selector panics on a zero %T: %v; a column cannot lie behind a pointer", *record, v))
		}
	}()
	return selector(record)
}
