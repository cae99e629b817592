package codec_test

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// fixed is a type of fixed size with gaps and blank fields.
type fixed struct {
	ID    uint64
	Score float32
	On    bool
	_     [3]byte
	Peers [2]named
	Names [3]struct {
		A uint8
		B uint16
	}
	C complex64
}

type named uint64

func fixedOf(i int) fixed {
	v := fixed{ID: uint64(i), Score: float32(i) / 3, On: i%2 == 1, C: complex(float32(i), -1)}
	v.Peers[1] = named(i)
	v.Names[2].A, v.Names[2].B = uint8(i), uint16(i)
	return v
}

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

// Values that are copied, and values with gaps, bools or blank fields, have the same encoding.
func TestFixedSizeIsEncodingBinary(t *testing.T) {
	requireFixed(t, struct {
		A uint32
		B [2]int16
		C struct{ D float64 }
	}{A: 1, B: [2]int16{2, -3}})
	requireFixed(t, fixedOf(77))
	requireFixed(t, true)
	requireFixed(t, int8(-3))
	requireFixed(t, float32(math.Pi))
	requireFixed(t, complex(1, math.Inf(1)))
	requireFixed(t, [3]uint16{1, 2, 0xFFFE})
	requireFixed(t, [2][2]bool{{true, false}, {false, true}})
	requireFixed(t, struct {
		A uint8
		B uint64
		C [2]struct {
			D int16
			_ uint8
			E int64
		}
	}{A: 1, B: 2})
}

// A bool that was read is 0 or 1, whatever its byte was.
func TestForgedBool(t *testing.T) {
	v, _, err := decode[[2]bool]([]byte{1, 0x7F})
	require.NoError(t, err)
	require.Equal(t, [2]bool{true, true}, v)
	require.Equal(t, byte(1), *(*byte)(unsafe.Pointer(&v[1])))
}
