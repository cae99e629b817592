// Package codec encodes the values of a snapshot and decodes them. It is a part of
// package pool, and the texts of its errors begin as that package's do.
//
// A type that encodes itself does so (own.go). One that consists of numbers and bools is
// encoded as by encoding/binary (fixed.go). Any other is encoded by its parts (parts.go has the
// format, values.go the code). A type that would silently lose something is refused.
//
// Input may be hostile. A decoder returns an error and does not panic, and it allocates
// in proportion to the bytes that it has read.
package codec

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"regexp"
	"unsafe"
)

// ErrType is package pool's error of that name.
var ErrType = errors.New("pool: the type is not one for this snapshot")

// Codec encodes or decodes the values of one snapshot, in order. It is for one goroutine. It
// is made for a type, and its methods must get pointers to values of that type: a Codec is not
// generic, so that programs with many types of values have its code once.
type Codec interface {
	// Append appends the encoding of *v to dst.
	Append(dst []byte, v unsafe.Pointer) ([]byte, error)

	// Decode reads *v, which is zero, from the beginning of src, and returns the rest of
	// src. It allocates in proportion to what it reads. It does not panic, whatever src
	// contains.
	Decode(src []byte, v unsafe.Pointer) ([]byte, error)
}

// Description is what a snapshot says about its type: two types with the same description
// have the same encodings.
type Description struct {
	Encoding Encoding
	Name     string // plain
	Parts    string // the structure of the type, unless it encodes itself; plain

	was [2]string // the same, as earlier versions wrote it: not plain
}

// placed matches what a generic type's name says about the place of its arguments: the paths
// of their packages, up to the last element, and the numbers of types within functions.
var placed = regexp.MustCompile(`[^][*(){},; ]+/|·[0-9]+`)

// plain removes from names of types what changes when their package moves, or when another
// type of the same name comes before.
func plain(names string) string { return placed.ReplaceAllString(names, "") }

// Accepts returns ErrType if the type described by d is not the one that want describes.
func (want Description) Accepts(d Description) error {
	if d.Encoding == want.Encoding && want.was == [2]string{d.Name, d.Parts} {
		return nil
	}
	d.Name, d.Parts = plain(d.Name), plain(d.Parts)
	switch {
	case d.Name != want.Name:
		return fmt.Errorf("%w: it is of %s, wanted is %s", ErrType, d.Name, want.Name)
	case d.Encoding != want.Encoding:
		return fmt.Errorf("%w: %s was written %v, and is now encoded %v", ErrType, d.Name, d.Encoding, want.Encoding)
	case d.Parts != want.Parts:
		return fmt.Errorf("%w: %s was %s, and is now %s", ErrType, d.Name, d.Parts, want.Parts)
	}
	return nil
}

// describedBytes is the length from which a name or a list of parts is shortened.
const describedBytes = 1000

// shorten replaces the end of a long description by a hash of all of it.
func shorten(s string) string {
	if len(s) <= describedBytes {
		return s
	}
	hash := fnv.New64a()
	hash.Write([]byte(s))
	return fmt.Sprintf("%s… (%016x)", s[:describedBytes], hash.Sum64())
}

// Encoding is how a type's values are encoded. Snapshots contain its numbers.
type Encoding uint8

const (
	fixedSize Encoding = 1 + iota
	marshaled
	gobbed // by an earlier version; no longer read
	byParts
)

func (e Encoding) String() string {
	switch e {
	case fixedSize:
		return "as fixed-size numbers"
	case marshaled:
		return "by MarshalBinary"
	case gobbed:
		return "by gob"
	case byParts:
		return "by its parts"
	}
	return fmt.Sprintf("in way %d", uint8(e))
}

// MaxValue is the greatest length of an encoded value.
const MaxValue = 1<<30 - 1

var (
	errTooLong = fmt.Errorf("its encoding is longer than %d bytes", MaxValue)
	errShort   = errors.New("the block ends before its values do")
)

// Of returns the codec of t and its description, or ErrType if every encoding would lose
// something.
func Of(t reflect.Type) (Codec, Description, error) {
	d := func(e Encoding, parts string) Description {
		name := t.String()
		return Description{e, shorten(plain(name)), shorten(plain(parts)), [2]string{shorten(name), shorten(parts)}}
	}
	own, err := encodesItself(t)
	if err != nil {
		return nil, Description{}, fmt.Errorf("%w: %v %w", ErrType, t, err)
	}
	if own {
		return marshalCodec{t}, d(marshaled, ""), nil
	}
	if size, numbers, ok := sizeOf(t); ok {
		if size > MaxValue {
			return nil, Description{}, fmt.Errorf("%w: %v: %w", ErrType, t, errTooLong)
		}
		if numbers && size == uint64(t.Size()) && littleEndian {
			return rawCodec(size), d(fixedSize, describe(t)), nil
		}
		return fixedCodec{t, int(size)}, d(fixedSize, describe(t)), nil
	}
	p, err := partsOf(t)
	if err != nil {
		return nil, Description{}, fmt.Errorf("%w: %v: %w", ErrType, t, err)
	}
	return partsCodec{p}, d(byParts, p.describe(map[*part]int{})), nil
}

// caught turns a panic of a decoder into an error: an UnmarshalBinary may index out of
// range, or make a key that cannot be hashed. It must be deferred.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("decoding panicked: %v", r)
	}
}

// marshalCodec is for types that encode themselves. Each encoding follows its length.
type marshalCodec struct{ typ reflect.Type }

func (c marshalCodec) Append(dst []byte, v unsafe.Pointer) ([]byte, error) {
	b, err := reflect.NewAt(c.typ, v).Interface().(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(b) > MaxValue {
		return nil, errTooLong
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...), nil
}

func (c marshalCodec) Decode(src []byte, v unsafe.Pointer) (rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k) {
		return nil, errShort
	}
	defer caught(&err)
	src = src[k:]
	return src[n:], reflect.NewAt(c.typ, v).Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(src[:n:n])
}
