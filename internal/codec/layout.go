package codec

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// A layout describes how a type of fixed size is encoded: as encoding/binary does in
// little-endian order, for the same types. It is made once for a snapshot. Then a value
// is copied without reflection, which encoding/binary uses for each number of each struct
// and array; a value without gaps is one copy.
//
// Values are read and written as bytes (unsafe register, U4). That is right for three
// reasons. A type with a layout has no pointers; spans lie within it, as reflect reports
// them; a bool is written only as 0 or 1.
type layout struct {
	spans []span
	size  int  // encoded
	whole bool // the value's bytes are its encoding
}

// span is a part of a value: bytes that are adjacent in the value and in the encoding, or
// an array of layouts.
type span struct {
	at    uintptr // where it begins in the value
	n     int     // bytes, or elements of an array
	kind  spanKind
	width int     // bytes of a number, for their order
	elem  *layout // of an array
	step  uintptr // from one element to the next
}

type spanKind uint8

const (
	numbers spanKind = iota
	bools
	blanks // fields named _: zeros in the encoding, never written
	arrays
)

// littleEndian says whether numbers are in memory as they are in the encoding.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// layoutOf returns the layout of t. It returns false if t has anything but numbers and
// bools, or an unexported field.
func layoutOf(t reflect.Type) (*layout, bool) {
	l := new(layout)
	ok := l.add(t, 0)
	l.whole = ok && littleEndian && len(l.spans) == 1 && l.spans[0].kind == numbers && l.size == int(t.Size())
	return l, ok
}

// add appends the spans of a value of type t at offset at.
func (l *layout) add(t reflect.Type, at uintptr) bool {
	switch t.Kind() {
	case reflect.Bool:
		l.span(span{at: at, n: 1, kind: bools, width: 1})
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		l.span(span{at: at, n: int(t.Size()), width: int(t.Size())})
	case reflect.Complex64, reflect.Complex128:
		l.span(span{at: at, n: int(t.Size()), width: int(t.Size()) / 2})
	case reflect.Array:
		return l.addArray(t, at)
	case reflect.Struct:
		for i := range t.NumField() {
			if !l.addField(t.Field(i), at) {
				return false
			}
		}
	default:
		return false
	}
	return true
}

func (l *layout) addField(f reflect.StructField, at uintptr) bool {
	if f.Name == "_" {
		blank, ok := layoutOf(f.Type)
		if ok {
			l.span(span{at: at + f.Offset, n: blank.size, kind: blanks, width: 1})
		}
		return ok
	}
	// The fields of an embedded struct are promoted even if its own name is unexported.
	if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
		return false
	}
	return l.add(f.Type, at+f.Offset)
}

func (l *layout) addArray(t reflect.Type, at uintptr) bool {
	elem, ok := layoutOf(t.Elem())
	if !ok {
		return false
	}
	if len(elem.spans) == 1 && elem.spans[0].kind == numbers && elem.size == int(t.Elem().Size()) {
		l.span(span{at: at, n: elem.size * t.Len(), width: elem.spans[0].width})
	} else if elem.size > 0 && t.Len() > 0 {
		l.spans = append(l.spans, span{at: at, n: t.Len(), kind: arrays, elem: elem, step: t.Elem().Size()})
		l.size += elem.size * t.Len()
	}
	return true
}

// span appends s, merged with the last span if they are adjacent.
func (l *layout) span(s span) {
	l.size += s.n
	if k := len(l.spans) - 1; k >= 0 {
		last := &l.spans[k]
		if last.kind == s.kind && s.kind != arrays && last.at+uintptr(last.n) == s.at && (last.width == s.width || littleEndian) {
			last.n += s.n
			return
		}
	}
	if s.n > 0 {
		l.spans = append(l.spans, s)
	}
}

// fixedCodec is for types of fixed size, see layout.
type fixedCodec[T any] struct{ *layout }

func (c *fixedCodec[T]) Append(dst []byte, v *T) ([]byte, error) {
	n := len(dst)
	if cap(dst)-n < c.size {
		dst = append(dst, make([]byte, c.size)...)
	} else {
		dst = dst[:n+c.size]
	}
	if c.whole {
		copy(dst[n:], unsafe.Slice((*byte)(unsafe.Pointer(v)), c.size))
	} else {
		c.put(dst[n:], unsafe.Pointer(v))
	}
	return dst, nil
}

func (c *fixedCodec[T]) Decode(src []byte, v *T) ([]byte, error) {
	if len(src) < c.size {
		return nil, errShort
	}
	if c.whole {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(v)), c.size), src)
	} else {
		c.get(src[:c.size], unsafe.Pointer(v))
	}
	return src[c.size:], nil
}

// appendAll appends the encodings of n values, the first at p and the others step bytes
// apart.
func (l *layout) appendAll(dst []byte, p unsafe.Pointer, n int, step uintptr) []byte {
	from := len(dst)
	dst = slices.Grow(dst, n*l.size)[:from+n*l.size]
	if l.whole {
		copy(dst[from:], unsafe.Slice((*byte)(p), n*l.size))
		return dst
	}
	for k := range n {
		l.put(dst[from+k*l.size:][:l.size], unsafe.Add(p, uintptr(k)*step))
	}
	return dst
}

// getAll reads n values, the first at p and the others step bytes apart, from src, which
// has the length of their encodings.
func (l *layout) getAll(src []byte, p unsafe.Pointer, n int, step uintptr) {
	if l.whole {
		copy(unsafe.Slice((*byte)(p), len(src)), src)
		return
	}
	for k := range n {
		l.get(src[k*l.size:][:l.size], unsafe.Add(p, uintptr(k)*step))
	}
}

// put writes the value at p to dst, which has the length of the encoding.
func (l *layout) put(dst []byte, p unsafe.Pointer) {
	for i := range l.spans {
		s := &l.spans[i]
		switch s.kind {
		case arrays:
			for k := range s.n {
				s.elem.put(dst[k*s.elem.size:][:s.elem.size], unsafe.Add(p, s.at+uintptr(k)*s.step))
			}
			dst = dst[s.n*s.elem.size:]
			continue
		case blanks:
			clear(dst[:s.n])
		default:
			copy(dst[:s.n], unsafe.Slice((*byte)(unsafe.Add(p, s.at)), s.n))
			if !littleEndian {
				swap(dst[:s.n], s.width)
			}
		}
		dst = dst[s.n:]
	}
}

// get reads the value at p from src, which has the length of the encoding.
func (l *layout) get(src []byte, p unsafe.Pointer) {
	for i := range l.spans {
		s := &l.spans[i]
		switch s.kind {
		case arrays:
			for k := range s.n {
				s.elem.get(src[k*s.elem.size:][:s.elem.size], unsafe.Add(p, s.at+uintptr(k)*s.step))
			}
			src = src[s.n*s.elem.size:]
			continue
		case numbers:
			to := unsafe.Slice((*byte)(unsafe.Add(p, s.at)), s.n)
			copy(to, src)
			if !littleEndian {
				swap(to, s.width)
			}
		case bools:
			to := unsafe.Slice((*bool)(unsafe.Add(p, s.at)), s.n)
			for k := range to {
				to[k] = src[k] != 0
			}
		}
		src = src[s.n:]
	}
}

// swap reverses the bytes of each number in b.
func swap(b []byte, width int) {
	for ; len(b) > 0; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// describe returns the structure of t, without names of types.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), describe(t.Elem()))
	case reflect.Struct:
		fields := make([]string, t.NumField())
		for i := range fields {
			f := t.Field(i)
			fields[i] = f.Name + " " + describe(f.Type)
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	}
	return t.Kind().String()
}
