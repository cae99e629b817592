//go:build !race

package codec_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/pool/internal/codec"
)

type named uint64

// requireFixed requires that v's encoding is that of encoding/binary.
func requireFixed[T any](t *testing.T, v T) {
	t.Helper()
	want, err := binary.Append(nil, binary.LittleEndian, v)
	require.NoError(t, err)
	got, err := encode(v)
	require.NoError(t, err)
	require.Equal(t, want, got, "%T", v)
	requireEncodes(t, v)
}

// Values that are copied, and values with gaps or bools, have the same encoding.
func TestFixedSizeIsEncodingBinary(t *testing.T) {
	requireFixed(t, struct {
		A uint16
		B [2]int16
		C struct{ D float64 }
	}{A: 1, B: [2]int16{2, -3}})
	requireFixed(t, struct {
		F  float32
		On bool
		N  [2]named
		C  complex64
	}{F: 1.5, On: true, N: [2]named{1: 7}, C: -1})
	requireFixed(t, true)
	requireFixed(t, int8(-3))
	requireFixed(t, float32(math.Pi))
	requireFixed(t, complex(1, math.Inf(1)))
	requireFixed(t, [3]uint32{1, 2, 0xFFFE})
	requireFixed(t, [2][2]bool{{true, false}, {false, true}})
	requireFixed(t, struct {
		A uint8
		B float64
		C [2]struct {
			D int16
			E [1]int64
		}
	}{A: 1, B: 2})
}

// TestOtherOrderOfBytes: where memory has the other order, each number is reversed, on its way there and back. No
// processor of our tests needs it.
func TestOtherOrderOfBytes(t *testing.T) {
	type numbers struct {
		A uint16
		B [2]int32
		C complex64
		D uint8
		E bool
	}
	v := numbers{0x201, [2]int32{0x4030201, -1}, complex(1, 2), 7, true}
	usual, err := encode(v)
	require.NoError(t, err)
	defer codec.OnOtherProcessors()()
	other, err := encode(v)
	require.NoError(t, err)
	for _, number := range [][2]int{{0, 2}, {2, 6}, {6, 10}, {10, 14}, {14, 18}} {
		slices.Reverse(usual[number[0]:number[1]])
	}
	require.Equal(t, usual, other)
	requireEncodes(t, v)
}

// Blank fields are no part of a value.
func TestBlankFieldsAreLeftOut(t *testing.T) {
	b, err := encode(struct {
		_ [3]byte
		A uint16
		_ uint64
		B bool
	}{A: 0x201, B: true})
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 1}, b)
}

// A bool that was read is 0 or 1, whatever its byte was.
func TestForgedBool(t *testing.T) {
	v, _, err := decode[[2]bool]([]byte{1, 0x7F})
	require.NoError(t, err)
	require.Equal(t, [2]bool{true, true}, v)
	require.Equal(t, byte(1), *(*byte)(unsafe.Pointer(&v[1])))
}
