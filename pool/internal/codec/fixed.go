package codec

import (
	"encoding/binary"
	"reflect"
	"slices"
	"unsafe"
)

// Types whose values all have encodings of one length: numbers, bools, and the arrays and structs of them.

// order is the order of bytes in snapshots.
var order = binary.LittleEndian

// littleEndian says whether numbers have the same bytes in memory as in the encoding.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// fixed is a type whose values have encodings of one length: it consists of numbers and bools, none of which has
// a variable length. Its encoding is that of encoding/binary in little-endian order, without fields that are left
// out or named _. But it copies bytes as they are. encoding/binary converts a float32 to a float64, which changes
// the bits of some NaNs.
type fixed struct {
	kind fixedKind
	size int // of an encoding

	elem   *fixed // of an array
	n      int
	stride uintptr

	fields []fixedField
}

type fixedField struct {
	*fixed
	offset uintptr
}

type fixedKind uint8

const (
	raw      fixedKind = iota // size bytes as they are
	swapped                   // in the other order: a number where littleEndian is false
	truth                     // a bool
	array                     // n elements
	fieldSet                  // fields
)

// fixedOf returns the fixed of a number or a bool. It returns nil for other types, and for those whose length
// varies.
func fixedOf(t reflect.Type) *fixed {
	size := int(t.Size())
	number := func(parts int) *fixed {
		if littleEndian || size == parts {
			return &fixed{kind: raw, size: size}
		}
		width := size / parts
		element := &fixed{kind: swapped, size: width}
		return &fixed{kind: array, size: size, elem: element, n: parts, stride: uintptr(width)}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &fixed{kind: truth, size: 1}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return number(1)
	case reflect.Complex64, reflect.Complex128:
		return number(2)
	}
	return nil
}

// times returns the fixed of an array, or of a slice, of n elements that lie stride bytes apart.
func (f *fixed) times(n int, stride uintptr) *fixed {
	if f.kind == raw && f.size == int(stride) {
		return &fixed{kind: raw, size: n * f.size}
	}
	return &fixed{kind: array, size: n * f.size, elem: f, n: n, stride: stride}
}

// fixedStruct returns the fixed of a struct of type t with these fields, or nil if one of them is not fixed.
func fixedStruct(t reflect.Type, fields []fieldPart) *fixed {
	set, numbers := &fixed{kind: fieldSet}, true
	for _, f := range fields {
		if f.fixed == nil {
			return nil
		}
		numbers = numbers && f.fixed.kind == raw
		set.size += f.fixed.size
		set.fields = append(set.fields, fixedField{f.fixed, f.offset})
	}
	if numbers && set.size == int(t.Size()) {
		return &fixed{kind: raw, size: set.size} // copying them takes a fifth of the time
	}
	return set
}

// bytesAt returns the n bytes of memory from v on.
func bytesAt(v unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(v), n) }

// append appends the encoding of the value that v points to.
func (f *fixed) append(dst []byte, v unsafe.Pointer) []byte {
	switch f.kind {
	case raw:
		return append(dst, bytesAt(v, f.size)...)
	case swapped:
		dst = append(dst, bytesAt(v, f.size)...)
		slices.Reverse(dst[len(dst)-f.size:])
		return dst
	case truth:
		if *(*bool)(v) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case array:
		for i := range f.n {
			dst = f.elem.append(dst, unsafe.Add(v, uintptr(i)*f.stride))
		}
	case fieldSet:
		for _, field := range f.fields {
			dst = field.append(dst, unsafe.Add(v, field.offset))
		}
	}
	return dst
}

// decode reads the value that v points to, which is zero, from the beginning of src, which is long enough. It
// returns the rest of src. A bool becomes 0 or 1, whatever its byte was.
func (f *fixed) decode(src []byte, v unsafe.Pointer) []byte {
	switch f.kind {
	case raw:
		copy(bytesAt(v, f.size), src)
	case swapped:
		copy(bytesAt(v, f.size), src)
		slices.Reverse(bytesAt(v, f.size))
	case truth:
		*(*bool)(v) = src[0] != 0
	case array:
		for i := range f.n {
			src = f.elem.decode(src, unsafe.Add(v, uintptr(i)*f.stride))
		}
		return src
	case fieldSet:
		for _, field := range f.fields {
			src = field.decode(src, unsafe.Add(v, field.offset))
		}
		return src
	}
	return src[f.size:]
}

// fixedCodec is the Codec of types of fixed size.
type fixedCodec struct{ *fixed }

func (c fixedCodec) Append(dst []byte, v unsafe.Pointer) ([]byte, error) {
	return c.append(dst, v), nil
}

func (c fixedCodec) Decode(src []byte, v unsafe.Pointer) ([]byte, error) {
	if len(src) < c.size {
		return nil, errShort
	}
	return c.decode(src, v), nil
}
