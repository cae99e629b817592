// Package codec encodes the values of a snapshot and decodes them. It is a part of
// package pool, and the texts of its errors begin as that package's do.
//
// A type that encodes itself does so (own.go). One that consists of numbers and bools is
// encoded as by encoding/binary (fixed.go). Any other is encoded by its parts (parts.go has the
// format, values.go the code). A type that would silently lose something is refused, unless it
// says that it may lose it: by the tag `coatcheck:"-"` of a field.
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

// Description is what a snapshot says about its type. Types with the same encoding and the same
// parts have the same encodings, whatever their names.
type Description struct {
	Encoding Encoding
	Name     string // for people
	Parts    string // the structure of the type, unless it encodes itself

	// What version 1 wrote instead of Parts. It had the names of types that encode themselves, and the
	// very first one was not plain.
	named, was string
}

// placed matches what a generic type's name says about the place of its arguments: the paths
// of their packages, up to the last element, and the numbers of types within functions.
var placed = regexp.MustCompile(`[^][*(){},; ]+/|·[0-9]+`)

// plain removes from names of types what changes when their package moves, or when another
// type of the same name comes before.
func plain(names string) string { return placed.ReplaceAllString(names, "") }

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
	gobbed  // by an earlier version; no longer read
	unsized // by parts, as version 1 did, without the length
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
	case unsized, byParts:
		return "by its parts"
	}
	return fmt.Sprintf("in way %d", uint8(e))
}

// MaxValue is the greatest length of an encoded value.
const MaxValue = 1<<30 - 1

var (
	errTooLong = fmt.Errorf("its encoding is longer than %d bytes", MaxValue)
	errShort   = errors.New("the block ends before its values do")
	errLong    = errors.New("its encoding goes on after its last part")
)

// Of returns the codec that writes values of t, and reads them back, and its description. It returns
// ErrType if every encoding would lose something.
func Of(t reflect.Type) (Codec, Description, error) {
	content, d, err := plan(t, false)
	if d.Encoding == byParts {
		content = sizedCodec{content}
	}
	return content, d, err
}

// Target is a type whose values are read.
type Target struct {
	typ     reflect.Type
	content Codec
	want    Description
}

// Into returns t as a Target, or ErrType if its values cannot be read. UnmarshalBinary is enough,
// without MarshalBinary.
func Into(t reflect.Type) (Target, error) {
	content, want, err := plan(t, true)
	return Target{t, content, want}, err
}

// From returns a codec that reads values from a snapshot that says d, or ErrType if these are of
// another type. A type that encodes itself, and did not when the snapshot was written, is asked
// whether it knows what was written.
func (t Target) From(d Description) (Codec, error) {
	content, want := t.content, t.want
	written := fixedSize <= d.Encoding && d.Encoding <= byParts && d.Encoding != gobbed
	same := d.Parts == want.Parts
	if d.Encoding == unsized {
		same = d.Parts == want.was || plain(d.Parts) == want.named
	}
	switch {
	case want.Encoding == marshaled && d.Encoding == marshaled:
		return content, nil
	case want.Encoding == marshaled && (d.Encoding == fixedSize || d.Encoding == byParts):
		return &Asking{typ: t.typ, written: d.Encoding}, nil
	case !written || want.Encoding == marshaled || d.Encoding == marshaled:
		return nil, fmt.Errorf("%w: %s was written %v, and %s is encoded %v", ErrType, plain(d.Name), d.Encoding, want.Name, want.Encoding)
	case !same:
		return nil, fmt.Errorf("%w: the values are of %s, which was %s, and are read as %s, which is %s: ReadFromFunc converts values", ErrType, plain(d.Name), d.Parts, want.Name, want.Parts)
	case d.Encoding == byParts:
		return sizedCodec{content}, nil
	}
	return content, nil // of fixed size, or with parts that are
}

// plan returns the codec of t, without lengths of values that are written by their parts, and its
// description. If the codec shall read alone, UnmarshalBinary is enough.
func plan(t reflect.Type, reads bool) (Codec, Description, error) {
	d := Description{Name: shorten(plain(t.String()))}
	own, err := encodesItself(t, reads)
	if err != nil {
		return nil, d, fmt.Errorf("%w: %v %w", ErrType, t, err)
	}
	if own {
		d.Encoding = marshaled
		return marshalCodec{t}, d, nil
	}
	if f := fixedOf(t); f != nil {
		if f.size > MaxValue {
			return nil, d, fmt.Errorf("%w: %v: %w", ErrType, t, errTooLong)
		}
		d.Encoding = fixedSize
		d.Parts = shorten(describe(t))
		d.named, d.was = d.Parts, d.Parts
		return fixedCodec{f}, d, nil
	}
	p, err := partsOf(t, reads)
	if err != nil {
		return nil, d, fmt.Errorf("%w: %v: %w", ErrType, t, err)
	}
	names := p.describe(map[*part]int{}, true)
	d.Encoding, d.Parts = byParts, shorten(p.describe(map[*part]int{}, false))
	d.named, d.was = shorten(plain(names)), shorten(names)
	return partsCodec{p}, d, nil
}

// caught turns a panic of a decoder into an error: an UnmarshalBinary may index out of
// range, or make a key that cannot be hashed. It must be deferred.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("decoding panicked: %v", r)
	}
}

// sizedCodec puts the length of each value before it.
type sizedCodec struct{ content Codec }

func (c sizedCodec) Append(dst []byte, v unsafe.Pointer) ([]byte, error) {
	start := len(dst)
	dst, err := c.content.Append(dst, v)
	if err != nil {
		return dst, err
	}
	var length [binary.MaxVarintLen64]byte
	n := len(dst) - start
	k := binary.PutUvarint(length[:], uint64(n))
	dst = append(dst, length[:k]...)
	copy(dst[start+k:], dst[start:start+n])
	copy(dst[start:], length[:k])
	return dst, nil
}

func (c sizedCodec) Decode(src []byte, v unsafe.Pointer) ([]byte, error) {
	value, rest, err := cutValue(src)
	if err != nil {
		return nil, err
	}
	if value, err = c.content.Decode(value, v); err == nil && len(value) > 0 {
		err = errLong
	}
	return rest, err
}

// cutValue reads a length, and returns that many bytes and the rest.
func cutValue(src []byte) (value, rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k) {
		return nil, nil, errShort
	}
	return src[k:][:n:n], src[k:][n:], nil
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
	value, rest, err := cutValue(src)
	if err == nil {
		err = unmarshal(c.typ, v, value)
	}
	return rest, err
}

func unmarshal(t reflect.Type, v unsafe.Pointer, value []byte) (err error) {
	defer caught(&err)
	return reflect.NewAt(t, v).Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(value)
}

// Asking reads values of a type that encodes itself now, and did not when they were written. Their
// UnmarshalBinary gets what was written.
type Asking struct {
	typ     reflect.Type
	written Encoding
	size    int // of a value, if written is fixedSize
}

// Expect says that so many bytes have the next values. It returns an error if they do not.
func (c *Asking) Expect(bytes, values int) error {
	if c.written != fixedSize || values == 0 {
		return nil
	}
	if c.size = bytes / values; c.size*values != bytes {
		return errShort
	}
	return nil
}

// Append must not be called: values are written as they are encoded now.
func (c *Asking) Append([]byte, unsafe.Pointer) ([]byte, error) {
	panic("codec: Append of an Asking")
}

func (c *Asking) Decode(src []byte, v unsafe.Pointer) (rest []byte, err error) {
	var value []byte
	switch {
	case c.written != fixedSize:
		value, rest, err = cutValue(src)
	case len(src) < c.size:
		err = errShort
	default:
		value, rest = src[:c.size:c.size], src[c.size:]
	}
	if err != nil {
		return nil, err
	}
	if err = unmarshal(c.typ, v, value); err != nil {
		err = fmt.Errorf("%w: it was written %v, and %v.UnmarshalBinary does not know it: %w", ErrType, c.written, c.typ, err)
	}
	return rest, err
}
