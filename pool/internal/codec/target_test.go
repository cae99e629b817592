//go:build !race

package codec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/pool/internal/codec"
)

// reread writes v, and reads it as a New.
func reread[New, Old any](t *testing.T, v Old) (New, error) {
	t.Helper()
	c, d, err := codec.Of(reflect.TypeFor[Old]())
	require.NoError(t, err)
	b, err := c.Append([]byte("before"), unsafe.Pointer(&v))
	require.NoError(t, err)
	return readAs[New](t, append(b, "after"...)[6:], d, "after")
}

// readAs reads a New of which a snapshot says d.
func readAs[New any](t *testing.T, b []byte, d codec.Description, after string) (v New, err error) {
	t.Helper()
	into, err := codec.Into(reflect.TypeFor[New]())
	if err != nil {
		return v, err
	}
	read, err := into.From(d)
	if err != nil {
		return v, err
	}
	if a, ok := read.(*codec.Asking); ok {
		require.NoError(t, a.Expect(len(b)-len(after), 1))
	}
	rest, err := read.Decode(b, unsafe.Pointer(&v))
	if err == nil {
		require.Equal(t, after, string(rest))
	}
	return v, err
}

// requireSame requires that v can be read as want.
func requireSame[New, Old any](t *testing.T, v Old, want New) {
	t.Helper()
	got, err := reread[New](t, v)
	require.NoError(t, err, "%T as %T", v, want)
	require.Equal(t, want, got)
}

// requireOther requires that v cannot be read as a New.
func requireOther[New, Old any](t *testing.T, v Old, text string) {
	t.Helper()
	_, err := reread[New](t, v)
	require.ErrorIs(t, err, codec.ErrType, "%T as %T", v, *new(New))
	require.ErrorContains(t, err, text)
}

// TestTypesAreTheirStructure: a type under another name is the same, and so are the types of its
// fields, whether they encode themselves or not.
func TestTypesAreTheirStructure(t *testing.T) {
	type point struct{ X, Y int32 }
	type pointOnce struct{ X, Y int32 }
	type shape struct {
		At     point
		Names  []string
		Origin *point
		Seen   coded
	}
	type shapeOnce struct {
		At     pointOnce
		Names  []string
		Origin *pointOnce
		Seen   codedOnce
	}
	requireSame(t, point{1, 2}, pointOnce{1, 2})
	requireSame(t, shapeOnce{pointOnce{1, 2}, []string{"a"}, &pointOnce{3, 4}, 5}, shape{point{1, 2}, []string{"a"}, &point{3, 4}, 5})
	requireSame(t, coded(7), codedOnce(7))
	requireSame(t, pair[int]{}, pair[string]{}) // which encode themselves, in no bytes
	requireOther[struct{ X, Z int32 }](t, point{}, "codec_test.point, which was struct{X int32; Y int32}, and are read as struct { X int32; Z int32 }, which is struct{X int32; Z int32}")
	requireOther[struct{ X, Y, Z int32 }](t, point{}, "codec_test.point, which was")
	requireOther[shape](t, point{}, "codec_test.point, which was")
	requireOther[point](t, coded(7), "codec_test.coded was written by MarshalBinary, and codec_test.point is encoded by its parts")
	requireOther[struct{ At time.Time }](t, struct{ At string }{}, "which was struct{At string}, and are read as struct { At time.Time }, which is struct{At binary}")
}

// TestForgedDescriptionsArePrinted on one line, in an error that has no other characters than a type's.
func TestForgedDescriptionsArePrinted(t *testing.T) {
	for said, printed := range map[string]string{
		"a\nb": `"a\nb"`, "\x1b[31m": `"\x1b[31m"`, "\x9b": `"\x9b"`, "\u202e": `"\u202e"`, `struct{Ä "b"}…`: `struct{Ä "b"}…`,
	} {
		d := codec.Description{Encoding: 3, Name: said, Parts: said} // by its parts, as a string is
		_, err := readAs[string](t, nil, d, "")
		require.ErrorContains(t, err, "are of "+printed+", which was "+printed+", and")
		d.Encoding = 1
		_, err = readAs[string](t, nil, d, "")
		require.ErrorContains(t, err, ": "+printed+" was written as numbers of fixed size, and string is encoded by its parts: it was "+printed+", and")
	}
}

// codedOnce is coded under its old name.
type codedOnce uint64

func (c codedOnce) MarshalBinary() ([]byte, error)       { return coded(c).MarshalBinary() }
func (c *codedOnce) UnmarshalBinary(b []byte) error      { return (*coded)(c).UnmarshalBinary(b) }
func (p *gained) MarshalBinary() ([]byte, error)         { return []byte(fmt.Sprint(p.X, " ", p.Y)), nil }
func (g *gainedParts) UnmarshalBinary(b []byte) error    { g.bytes = append(g.bytes, b...); return nil }
func (*gainedStubborn) UnmarshalBinary(b []byte) error   { return errors.New("I know better") }
func (g *gainedStubborn) MarshalBinary() ([]byte, error) { return nil, nil }

// gained reads itself, and what was written before it did.
type gained struct{ X, Y int32 }

func (p *gained) UnmarshalBinary(b []byte) error {
	if len(b) == 2 {
		x, _ := binary.Varint(b)
		y, _ := binary.Varint(b[1:])
		p.X, p.Y = int32(x), int32(y)
		return nil
	}
	_, err := fmt.Sscan(string(b), &p.X, &p.Y)
	return err
}

type (
	gainedParts    struct{ bytes []byte }
	gainedStubborn struct{ X, Y int32 }
	gainedLarge    struct{ Cache [100]uint64 }
)

func (*gainedLarge) UnmarshalBinary([]byte) error { return nil }

func ptr[T any](v T) *T { return &v }

// TestTypesThatReadThemselvesAreAsked: a type that has gained UnmarshalBinary gets what was written
// before. It may have UnmarshalBinary alone, since it is not written.
func TestTypesThatReadThemselvesAreAsked(t *testing.T) {
	type plain struct{ X, Y int32 }
	requireSame(t, plain{1, 2}, gained{1, 2})
	requireSame(t, gained{1, 2}, gained{1, 2})
	requireSame(t, plain{1, 2}, gainedParts{[]byte{2, 4}})
	requireSame(t, [2]uint16{1, 2}, gainedParts{[]byte{1, 0, 2, 0}})
	requireSame(t, struct{ Name string }{"ab"}, gainedParts{[]byte("\x02ab")})
	requireSame(t, &plain{1, 2}, &gained{1, 2})
	requireSame(t, &gained{1, 2}, &gained{1, 2})
	requireSame(t, (*plain)(nil), (*gained)(nil))
	requireSame(t, &[2]uint16{1, 2}, &gainedParts{[]byte{1, 0, 2, 0}})
	requireOther[*gainedStubborn](t, &plain{}, "it was written by its parts, and codec_test.gainedStubborn.UnmarshalBinary does not know it: I know better")
	requireOther[*gainedLarge](t, &plain{}, "it takes more than 64 times as much memory")
	requireOther[**gained](t, ptr(&plain{}), "ReadFromFunc converts values")
	requireOther[gainedStubborn](t, plain{}, "it was written by its parts, and codec_test.gainedStubborn.UnmarshalBinary does not know it: I know better")
	requireOther[gainedParts](t, struct{ To handle }{}, "was written by its parts, with handles, and codec_test.gainedParts is encoded by MarshalBinary: ReadFromFunc converts values")
}

// TestFieldsThatAreLeftOut are as if they were not there, whatever they are.
func TestFieldsThatAreLeftOut(t *testing.T) {
	type was struct {
		A uint32
		B [2]bool
	}
	type now struct {
		mu   sync.Mutex `coatcheck:"-"`
		A    uint32
		Hits atomic.Int64 `json:"hits" coatcheck:"-"`
		B    [2]bool
		Done chan struct{} `coatcheck:"-"`
	}
	v := &now{A: 7, B: [2]bool{true}, Done: make(chan struct{})}
	v.mu.Lock()
	v.Hits.Store(3)
	c, d, err := codec.Of(reflect.TypeFor[now]())
	require.NoError(t, err)
	require.Equal(t, "struct{A uint32; B [2]bool}", d.Parts)
	b, err := c.Append(nil, unsafe.Pointer(v))
	require.NoError(t, err)
	requireNow := func(b []byte, d codec.Description) {
		into, err := codec.Into(reflect.TypeFor[now]())
		require.NoError(t, err)
		c, err := into.From(d)
		require.NoError(t, err)
		var got now
		_, err = c.Decode(b, unsafe.Pointer(&got))
		require.NoError(t, err)
		require.EqualValues(t, 7, got.A)
		require.Equal(t, v.B, got.B)
		require.Zero(t, got.Hits.Load())
		require.Nil(t, got.Done)
		require.True(t, got.mu.TryLock(), "the mutex should not be locked in the copy")
	}
	requireNow(b, d)

	// They have one structure, so either may be read as the other.
	older, err := readAs[was](t, b, d, "")
	require.NoError(t, err)
	require.Equal(t, was{7, [2]bool{true}}, older)
	c, d, err = codec.Of(reflect.TypeFor[was]())
	require.NoError(t, err)
	b, err = c.Append(nil, unsafe.Pointer(&older))
	require.NoError(t, err)
	requireNow(b, d)

	// What is promoted from a field that is left out is not T's.
	requireEncodes(t, struct {
		time.Time `coatcheck:"-"`
		Name      string
	}{Name: "a"})
	requireEncodes(t, struct {
		time.Time
		Cache []int `coatcheck:"-"`
	}{Time: time.Unix(1, 2).UTC()})
	refused[struct {
		mu sync.Mutex `coatcheck:"mu"`
	}](t, "field mu is unexported")
}

// TestSizedValues: a length that is wrong is an error.
func TestSizedValues(t *testing.T) {
	c, _, err := codec.Of(reflect.TypeFor[string]())
	require.NoError(t, err)
	for text, in := range map[string]string{
		"the block ends before its values do":       "\x03\x02a",
		"its encoding goes on after its last part":  "\x04\x02abc",
		"the block ends before its values do, once": "\x02\x02abc",
	} {
		var v string
		_, err := c.Decode([]byte(in), unsafe.Pointer(&v))
		require.ErrorContains(t, err, text[:35])
	}
}

// TestPointersThatAreNeitherNilNorSet: only 0 and 1 tell of a pointer to a value that is asked.
func TestPointersThatAreNeitherNilNorSet(t *testing.T) {
	type plain struct{ X, Y int32 }
	_, d, err := codec.Of(reflect.TypeFor[*plain]())
	require.NoError(t, err)
	for in, valid := range map[string]bool{"\x01\x00": true, "\x03\x01\x02\x04": true, "\x00": false, "\x01\x02": false, "\x03\x00\x02\x04": false, "\x03\x02\x02\x04": false} {
		_, err := readAs[*gained](t, []byte(in), d, "")
		require.Equal(t, valid, err == nil, "%q: %v", in, err)
	}
}

// TestNaNsKeepTheirBits, alone, between other fields, and in slices.
func TestNaNsKeepTheirBits(t *testing.T) {
	const signaling = 0x7fa00001
	nan := math.Float32frombits(signaling)
	type gaps struct {
		On bool
		F  [2]float32
	}
	g, err := reread[gaps](t, gaps{true, [2]float32{nan, 1}})
	require.NoError(t, err)
	require.EqualValues(t, signaling, math.Float32bits(g.F[0]))
	s, err := reread[[]gaps](t, []gaps{{F: [2]float32{1: nan}}})
	require.NoError(t, err)
	require.EqualValues(t, signaling, math.Float32bits(s[0].F[1]))
	p, err := reread[*float32](t, &nan)
	require.NoError(t, err)
	require.EqualValues(t, signaling, math.Float32bits(*p))
	c, err := reread[struct {
		On bool
		C  complex64
	}](t, struct {
		On bool
		C  complex64
	}{C: complex(nan, nan)})
	require.NoError(t, err)
	require.EqualValues(t, signaling, math.Float32bits(imag(c.C)))
}
