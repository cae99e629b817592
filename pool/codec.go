package pool

import (
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// codec turns the values of one snapshot into bytes and back, in order. It is for
// one goroutine.
type codec[T any] interface {
	// append appends the encoding of *v to dst.
	append(dst []byte, v *T) ([]byte, error)

	// decode reads *v, which is zero, from the beginning of src, and returns the
	// rest of src. It allocates in proportion to what it reads.
	decode(src []byte, v *T) ([]byte, error)
}

// encodingOf is how a type's values are encoded, as the header says.
type encodingOf uint8

const (
	fixedSize encodingOf = 1 + iota
	marshaled
	gobbed
)

func (e encodingOf) String() string {
	switch e {
	case fixedSize:
		return "as fixed-size numbers"
	case marshaled:
		return "by MarshalBinary"
	case gobbed:
		return "by gob"
	}
	return fmt.Sprintf("in way %d", uint8(e))
}

const (
	// maxValue is the greatest length of an encoded value.
	maxValue = 1<<30 - 1

	// maxGob is the same for gob, which follows whatever input tells it into
	// depths that end the program: a level for each byte, in types of the
	// input's own making, some 500 bytes of stack each, of 250 MB on a 32-bit
	// platform.
	maxGob = 512 << 10
)

var (
	errTooLong = fmt.Errorf("its encoding is longer than %d bytes", maxValue)
	errGobLong = fmt.Errorf("its encoding by gob is longer than %d bytes; give the type a MarshalBinary", maxGob)
	errShort   = errors.New("the block ends before its values do")
)

// codecOf chooses the encoding of T, or answers with ErrType why there is none.
func codecOf[T any]() (codec[T], encodingOf, error) {
	t := reflect.TypeFor[T]()
	own, err := ownCodec(t, marshalBinary)
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%w: %v %w", ErrType, t, err)
	case own:
		return marshalCodec[T]{}, marshaled, nil
	}
	if l, ok := layoutOf(t); ok {
		if l.size > maxValue {
			return nil, 0, fmt.Errorf("%w: %v: %w", ErrType, t, errTooLong)
		}
		return &fixedCodec[T]{l}, fixedSize, nil
	}
	if err := (gobCheck{}).check(t, ""); err != nil {
		return nil, 0, fmt.Errorf("%w: %v: %w", ErrType, t, err)
	}
	return newGobCodec[T](), gobbed, nil
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

func (marshalCodec[T]) decode(src []byte, v *T) ([]byte, error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k) {
		return nil, errShort
	}
	src = src[k:]
	return src[n:], any(v).(encoding.BinaryUnmarshaler).UnmarshalBinary(src[:n:n])
}

// gobCodec is for all other types: one stream of gob, cut where blocks end. Its
// first value brings the description of the type along.
//
// Values travel as the field of a struct, where gob allows what it refuses alone:
// a nil pointer, a nil interface. The field points to the slot, so that a value
// is built where it will live; gob does not tell pointers from what they point to.
type gobCodec[T any] struct {
	enc *gob.Encoder
	dec *gob.Decoder
	b   gobBuffer
}

type gobBox[T any] struct{ V *T }

func newGobCodec[T any]() *gobCodec[T] {
	c := new(gobCodec[T])
	c.enc, c.dec = gob.NewEncoder(&c.b), gob.NewDecoder(&c.b)
	return c
}

func (c *gobCodec[T]) append(dst []byte, v *T) ([]byte, error) {
	c.b = dst
	err := c.enc.Encode(gobBox[T]{v})
	if err == nil && len(c.b)-len(dst) > maxGob {
		err = errGobLong
	}
	return c.b, err
}

func (c *gobCodec[T]) decode(src []byte, v *T) ([]byte, error) {
	c.b = src[:min(len(src), maxGob)]
	n := len(c.b)
	err := c.dec.Decode(&gobBox[T]{v})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
		if n == maxGob {
			err = errGobLong
		}
	}
	return src[n-len(c.b):], err
}

// gobBuffer is written at its end and read from its beginning. It reads single
// bytes so that gob reads a value and nothing beyond it.
type gobBuffer []byte

func (b *gobBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func (b *gobBuffer) Read(p []byte) (int, error) {
	if len(*b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, *b)
	*b = (*b)[n:]
	return n, nil
}

func (b *gobBuffer) ReadByte() (byte, error) {
	if len(*b) == 0 {
		return 0, io.EOF
	}
	c := (*b)[0]
	*b = (*b)[1:]
	return c, nil
}
