// Package codec turns the values of a snapshot into bytes and back. It is package
// pool's: texts of its errors begin as that package's do.
//
// A type that encodes itself does so (own.go); one of numbers and bools alone is
// copied as bytes (layout.go); any other is written by its parts (parts.go says how,
// values.go does it). A type that would lose something in silence is refused.
//
// Input may be hostile. A decoder returns an error and does not panic, and allocates in
// proportion to the bytes that it has read.
package codec

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
)

// ErrType is package pool's error of that name.
var ErrType = errors.New("pool: the type is not one for this snapshot")

// Codec turns the values of one snapshot into bytes and back, in order. It is for
// one goroutine.
type Codec[T any] interface {
	// Append appends the encoding of *v to dst.
	Append(dst []byte, v *T) ([]byte, error)

	// Decode reads *v, which is zero, from the beginning of src, and returns the
	// rest of src. It allocates in proportion to what it reads. Whatever src holds,
	// it does not panic.
	Decode(src []byte, v *T) ([]byte, error)
}

// Description is what a snapshot says about its type: two types with the same
// description have the same encodings.
type Description struct {
	Encoding Encoding
	Name     string // with the last element of its package's path
	Parts    string // what the type is made of, unless it encodes itself
}

// Accepts returns ErrType if values that are described by d are not of the type that
// want describes.
func (want Description) Accepts(d Description) error {
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

// describedBytes is how long a name or a list of parts is before it is cut short.
const describedBytes = 1000

// shorten keeps a long description's beginning and its hash.
func shorten(s string) string {
	if len(s) <= describedBytes {
		return s
	}
	hash := fnv.New64a()
	hash.Write([]byte(s))
	return fmt.Sprintf("%s… (%016x)", s[:describedBytes], hash.Sum64())
}

// Encoding is how a type's values are encoded. The numbers are those in snapshots.
type Encoding uint8

const (
	fixedSize Encoding = 1 + iota
	marshaled
	gobbed // by an earlier state of this package; no longer read
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

// Of returns the codec of T and its description, or ErrType if there is no encoding
// that loses nothing.
func Of[T any]() (Codec[T], Description, error) {
	t := reflect.TypeFor[T]()
	d := Description{Name: shorten(t.String())}
	own, err := encodesItself(t)
	if err != nil {
		return nil, d, fmt.Errorf("%w: %v %w", ErrType, t, err)
	}
	if own {
		d.Encoding = marshaled
		return marshalCodec[T]{}, d, nil
	}
	if l, ok := layoutOf(t); ok {
		if l.size > MaxValue {
			return nil, d, fmt.Errorf("%w: %v: %w", ErrType, t, errTooLong)
		}
		d.Encoding, d.Parts = fixedSize, shorten(describe(t))
		return &fixedCodec[T]{l}, d, nil
	}
	p, err := partsOf(t)
	if err != nil {
		return nil, d, fmt.Errorf("%w: %v: %w", ErrType, t, err)
	}
	d.Encoding, d.Parts = byParts, shorten(p.describe(map[*part]int{}))
	return partsCodec[T]{p}, d, nil
}

// caught makes a panic of a decoder an error: an UnmarshalBinary may index what is
// not there, or make a key that no map takes. It is to be deferred.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("decoding panicked: %v", r)
	}
}

// marshalCodec is for types that encode themselves. Each encoding has its length
// before it.
type marshalCodec[T any] struct{}

func (marshalCodec[T]) Append(dst []byte, v *T) ([]byte, error) {
	b, err := any(v).(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(b) > MaxValue {
		return nil, errTooLong
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...), nil
}

func (marshalCodec[T]) Decode(src []byte, v *T) (rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k) {
		return nil, errShort
	}
	defer caught(&err)
	src = src[k:]
	return src[n:], any(v).(encoding.BinaryUnmarshaler).UnmarshalBinary(src[:n:n])
}
