// Package codec encodes the values of a snapshot and decodes them. It is a part of
// package pool, and the texts of its errors begin as that package's do.
//
// A type that encodes itself does so (own.go). One whose values all have encodings of one length is
// encoded as by encoding/binary (fixed.go). Any other is encoded by its parts (parts.go has the
// format, number.go that of numbers, encode.go and decode.go the code).
//
// A type that would silently lose something is refused, unless it says that it may lose it: by the tag
// `coatcheck:"-"` of a field. The error names the part: an unexported field of a type without MarshalBinary, a
// channel, function, interface, uintptr or unsafe.Pointer, a pointer in the key of a map, or a type with only one of
// MarshalBinary and UnmarshalBinary, or with those of an embedded field. A key of a map that is not of numbers or a
// string is read back when it is written, and must be equal. A value to which two pointers point is written twice.
//
// Not encoding/gob: that allocates what a length says before it has the bytes, and descends as deep as its input says.
// The price is that there are no interfaces.
//
// Input may be hostile. A decoder returns an error and does not panic, and what a value of n bytes refers to takes
// at most 80·n bytes (parts.go).
package codec

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ErrType is package pool's error of that name.
var ErrType = errors.New("pool: the type is not one for this snapshot")

// Codec encodes or decodes the values of one snapshot, in order. It is for one goroutine. It
// is made for a type, and its methods must get pointers to values of that type: a Codec is not
// generic, so that programs with many types of values have its code once. What it makes of a value
// may depend on the values before.
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
}

// placed matches those parts of a generic type's name that tell where its arguments are declared: the paths
// of their packages, up to the last element, and the numbers of types within functions.
var placed = regexp.MustCompile(`[^][*(){},; ]+/|·[0-9]+`)

// plain removes what placed matches from names of types. So a name stays the same when a package moves, or
// when a function declares another type of that name.
func plain(names string) string { return placed.ReplaceAllString(names, "") }

// printable returns what a snapshot says, for an error. It quotes it if it has more than printable characters,
// which a log would show as others, or as lines of its own.
func printable(s string) string {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// describedBytes is the length above which a name or a description of parts is shortened.
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
	byParts
	wideParts    // parts.go tells which types
	relatedParts // by parts, with handles that are relative to those of other values
)

func (e Encoding) String() string {
	switch e {
	case fixedSize:
		return "as numbers of fixed size"
	case marshaled:
		return "by MarshalBinary"
	case byParts, wideParts:
		return "by its parts"
	case relatedParts:
		return "by its parts, with handles"
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
	p, err := planOf(t, false)
	if err != nil {
		return nil, p.Description, err
	}
	return p.codec(), p.Description, nil
}

// Target is a type whose values are read.
type Target struct{ plan }

// Into returns t as a Target, or ErrType if its values cannot be read. UnmarshalBinary is enough,
// without MarshalBinary.
func Into(t reflect.Type) (Target, error) {
	p, err := planOf(t, true)
	return Target{p}, err
}

// From returns a codec that reads values from a snapshot that says d, or ErrType if these are of
// another type. A type that encodes itself, and did not when the snapshot was written, is asked
// whether it knows what was written.
func (t Target) From(d Description) (Codec, error) {
	want := t.plan
	if marshals := want.Encoding == marshaled; d.Encoding == wideParts && want.Encoding != wideParts && !marshals {
		// On the platform that wrote it, values take more memory.
		if p, err := planParts(t.typ, true, true); err == nil {
			want = p
		}
	}
	switch {
	case want.Encoding == marshaled && (d.Encoding == fixedSize || d.Encoding == byParts || d.Encoding == wideParts):
		return &Asking{typ: t.typ, written: d.Encoding}, nil
	case want.top.kind == reflect.Pointer && want.top.elem.marshals && d.Parts != want.Parts && strings.HasPrefix(d.Parts, "*") &&
		(d.Encoding == byParts || d.Encoding == wideParts):
		return &pointerAsking{Asking{typ: t.typ.Elem(), written: d.Encoding}}, nil
	case want.Encoding != d.Encoding:
		return nil, fmt.Errorf("%w: %s was written %v, and %s is encoded %v%s", ErrType, printable(plain(d.Name)), d.Encoding, want.Name, want.Encoding, structures(d, want.Description))
	case d.Encoding != marshaled && d.Parts != want.Parts:
		return nil, fmt.Errorf("%w: the values are of %s, which was %s, and are read as %s, which is %s: ReadFromFunc converts values", ErrType, printable(plain(d.Name)), printable(d.Parts), want.Name, want.Parts)
	}
	return want.codec(), nil
}

// structures returns the end of an error about a type of another structure. It has both structures, unless one
// of the types encodes itself.
func structures(d, want Description) string {
	if d.Encoding == marshaled || want.Encoding == marshaled {
		return ": ReadFromFunc converts values"
	}
	return fmt.Sprintf(": it was %s, and is %s: ReadFromFunc converts values", printable(d.Parts), want.Parts)
}

// plan tells how values of a type are written and read.
type plan struct {
	Description
	typ   reflect.Type
	top   *part
	bases int // how many bases of generations its fields have
}

// planOf returns the plan of t, wide only if it must be. If values are only read, UnmarshalBinary is enough.
func planOf(t reflect.Type, reads bool) (plan, error) {
	p, err := planParts(t, reads, false)
	if costly := (errCostly{}); errors.As(err, &costly) {
		p, err = planParts(t, reads, true)
	}
	return p, err
}

// planParts returns the plan of t, which is wide or not, as the caller says.
func planParts(t reflect.Type, reads, wide bool) (p plan, err error) {
	p.typ, p.Name = t, shorten(plain(t.String()))
	if p.top, p.bases, err = partsOf(t, reads, wide); err != nil {
		return p, fmt.Errorf("%w: %v: %w", ErrType, t, err)
	}
	switch {
	case p.top.marshals:
		p.Encoding = marshaled
		return p, nil
	case p.top.fixed != nil:
		p.Encoding = fixedSize
	case wide:
		p.Encoding = wideParts
	case p.top.hasHandle(map[*part]bool{}):
		p.Encoding = relatedParts
	default:
		p.Encoding = byParts
	}
	p.Parts = describe(p.top)
	return p, nil
}

// content returns the codec of values that do not begin with their lengths.
func (p plan) content() Codec {
	switch p.Encoding {
	case marshaled:
		return marshalCodec{p.typ, p.top.appends}
	case fixedSize:
		return fixedCodec{p.top.fixed}
	case relatedParts:
		return partsCodec{top: p.top, bases: make([]base, p.bases)}
	}
	return partsCodec{top: p.top, wide: p.Encoding == wideParts}
}

// codec returns the codec of values.
func (p plan) codec() Codec {
	if p.Encoding == marshaled || p.Encoding == fixedSize {
		return p.content()
	}
	return sizedCodec{p.content()}
}

// caught turns a panic of a decoder into an error: an UnmarshalBinary may index out of
// range, or make a key that cannot be hashed. Callers defer it.
func caught(err *error) {
	if r := recover(); r != nil {
		if cause, ok := r.(error); ok {
			*err = fmt.Errorf("decoding panicked: %w", cause)
			return
		}
		*err = fmt.Errorf("decoding panicked: %v", r)
	}
}

// sizedCodec puts the length of each value before it.
type sizedCodec struct{ content Codec }

func (c sizedCodec) Append(dst []byte, v unsafe.Pointer) ([]byte, error) {
	start := len(dst)
	dst, err := c.content.Append(append(dst, 0), v)
	if err != nil {
		return dst, err
	}
	n := len(dst) - start - 1
	if n < 0x80 {
		dst[start] = byte(n)
		return dst, nil
	}
	return putLength(dst, start, n), nil
}

// putLength replaces the byte at start by n, as a number of variable length. The last n bytes of dst follow it.
func putLength(dst []byte, start, n int) []byte {
	var length [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(length[:], uint64(n))
	dst = append(dst, length[:k-1]...) // room
	copy(dst[start+k:], dst[start+1:][:n])
	copy(dst[start:], length[:k])
	return dst
}

func (c sizedCodec) Decode(src []byte, v unsafe.Pointer) ([]byte, error) {
	value, tail, err := cutValue(src)
	if err != nil {
		return nil, err
	}
	if value, err = c.content.Decode(value, v); err == nil && len(value) > 0 {
		err = errLong
	}
	return tail, err
}

// cutValue reads a length, and returns that many bytes and the rest.
func cutValue(src []byte) (value, tail []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k) {
		return nil, nil, errShort
	}
	return src[k:][:n:n], src[k:][n:], nil
}

// marshalCodec is the Codec of types that encode themselves. It writes the length before each encoding.
type marshalCodec struct {
	typ     reflect.Type
	appends bool
}

func (c marshalCodec) Append(dst []byte, v unsafe.Pointer) (_ []byte, err error) {
	start := len(dst)
	dst, err = appendOwn(dst, c.typ, v, c.appends)
	if err != nil {
		return dst, err
	}
	n := len(dst) - start - 1
	if n > MaxValue {
		return dst, errTooLong
	}
	return putLength(dst, start, n), nil
}

func (c marshalCodec) Decode(src []byte, v unsafe.Pointer) (tail []byte, err error) {
	value, tail, err := cutValue(src)
	if err == nil {
		err = unmarshal(c.typ, v, value)
	}
	return tail, err
}

// unmarshal calls UnmarshalBinary of the value that v points to.
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

// Expect tells that the next values take so many bytes. It returns an error if they cannot.
func (c *Asking) Expect(bytes, values int) error {
	if c.written != fixedSize || values == 0 {
		return nil
	}
	if c.size = bytes / values; c.size*values != bytes {
		return errShort
	}
	return nil
}

// Append panics: values are written as their type encodes them now.
func (c *Asking) Append([]byte, unsafe.Pointer) ([]byte, error) {
	panic("codec: Append of an Asking")
}

func (c *Asking) Decode(src []byte, v unsafe.Pointer) (tail []byte, err error) {
	if c.written == fixedSize {
		return src[c.size:], c.ask(v, src[:c.size:c.size]) // Expect has divided what there is
	}
	value, tail, err := cutValue(src)
	if err != nil {
		return nil, err
	}
	return tail, c.ask(v, value)
}

// ask gives UnmarshalBinary the bytes that were written.
func (c *Asking) ask(v unsafe.Pointer, value []byte) error {
	if err := unmarshal(c.typ, v, value); err != nil {
		return fmt.Errorf("%w: it was written %v, and %v.UnmarshalBinary does not know it: %w", ErrType, c.written, c.typ, err)
	}
	return nil
}

// pointerAsking reads pointers to values that an Asking would read.
type pointerAsking struct{ Asking }

func (c *pointerAsking) Decode(src []byte, v unsafe.Pointer) (tail []byte, err error) {
	value, tail, err := cutValue(src)
	switch {
	case err != nil:
		return nil, err
	case len(value) == 1 && value[0] == 0:
		return tail, nil // nil
	case len(value) == 0 || value[0] != 1:
		return nil, errShort
	case uint64(c.typ.Size()) > memoryFactor*uint64(len(value)):
		return nil, fmt.Errorf("%w: %v: %w", ErrType, c.typ, errSparse)
	}
	pointee := reflect.New(c.typ)
	*(*unsafe.Pointer)(v) = pointee.UnsafePointer()
	return tail, c.ask(pointee.UnsafePointer(), value[1:])
}

// Copier makes copies of values, each by encoding and decoding it, as a snapshot does.
type Copier struct {
	write, read Codec
	encoding    []byte
}

// Copies returns a Copier of values of t, or an error that wraps ErrType if they cannot be written or read.
func Copies(t reflect.Type) (*Copier, error) {
	write, d, err := Of(t)
	if err != nil {
		return nil, err
	}
	target, err := Into(t)
	if err != nil {
		return nil, err
	}
	read, err := target.From(d)
	return &Copier{write: write, read: read}, err
}

// Copy makes *dst, which is zero, a copy of *src.
func (c *Copier) Copy(src, dst unsafe.Pointer) (err error) {
	if c.encoding, err = c.write.Append(c.encoding[:0], src); err != nil {
		return err
	}
	if _, err = c.read.Decode(c.encoding, dst); err != nil {
		err = fmt.Errorf("%w: it cannot be read back: %w", ErrType, err)
	}
	return err
}
