package pool

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
)

// codec turns the values of one snapshot into bytes and back, in order. It is for
// one goroutine.
type codec[T any] interface {
	// append appends the encoding of *v to dst.
	append(dst []byte, v *T) ([]byte, error)

	// decode reads *v, which is zero, from the beginning of src, and returns the
	// rest of src. It allocates in proportion to what it reads. Whatever src holds,
	// it does not panic.
	decode(src []byte, v *T) ([]byte, error)
}

// encodingOf is how a type's values are encoded, as the header says.
type encodingOf uint8

const (
	fixedSize encodingOf = 1 + iota
	marshaled
	gobbed // by an earlier state of this package; no longer read
	byParts
)

func (e encodingOf) String() string {
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

// maxValue is the greatest length of an encoded value.
const maxValue = 1<<30 - 1

var (
	errTooLong = fmt.Errorf("its encoding is longer than %d bytes", maxValue)
	errShort   = errors.New("the block ends before its values do")
)

// codecOf chooses the encoding of T and describes it in a header, or returns ErrType
// if there is none.
func codecOf[T any]() (codec[T], header, error) {
	t := reflect.TypeFor[T]()
	h := header{name: shorten(t.String())}
	own, err := encodesItself(t)
	if err != nil {
		return nil, h, fmt.Errorf("%w: %v %w", ErrType, t, err)
	}
	if own {
		h.encoding = marshaled
		return marshalCodec[T]{}, h, nil
	}
	if l, ok := layoutOf(t); ok {
		if l.size > maxValue {
			return nil, h, fmt.Errorf("%w: %v: %w", ErrType, t, errTooLong)
		}
		h.encoding, h.layout = fixedSize, shorten(describe(t))
		return &fixedCodec[T]{l}, h, nil
	}
	p, err := partsOf(t)
	if err != nil {
		return nil, h, fmt.Errorf("%w: %v: %w", ErrType, t, err)
	}
	h.encoding, h.layout = byParts, shorten(p.describe(map[*part]int{}))
	return partsCodec[T]{p}, h, nil
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

func (marshalCodec[T]) append(dst []byte, v *T) ([]byte, error) {
	b, err := any(v).(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(b) > maxValue {
		return nil, errTooLong
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...), nil
}

func (marshalCodec[T]) decode(src []byte, v *T) (rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k) {
		return nil, errShort
	}
	defer caught(&err)
	src = src[k:]
	return src[n:], any(v).(encoding.BinaryUnmarshaler).UnmarshalBinary(src[:n:n])
}
