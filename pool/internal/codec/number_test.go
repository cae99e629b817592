//go:build !race

package codec_test

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/internal/codec"
	"coatcheck/shard/slots"
)

// handle has what package pool's handles have.
type handle uint64

func (h handle) Index() uint32      { return uint32(h) }
func (h handle) Generation() uint32 { return uint32(h >> 32) }
func (h handle) IsZero() bool       { return h == 0 }

func handleOf(index, generation uint32) handle { return handle(generation)<<32 | handle(index) }

// TestNumbersTakeWhatTheyNeed: in fields, in slices of structs, and in maps. In arrays and slices of
// numbers they are as in memory, but for an int.
func TestNumbersTakeWhatTheyNeed(t *testing.T) {
	requireLength(t, 1, 0)
	requireLength(t, 1, -64)
	requireLength(t, 2, 64)
	requireLength(t, 2, int32(-65))
	requireLength(t, 9, int64(math.MinInt64))
	requireLength(t, 9, uint64(math.MaxUint64))
	requireLength(t, 8, uint64(1<<56-1))
	requireLength(t, 9, uint64(1<<56))
	requireLength(t, 5, uint32(math.MaxUint32))
	requireLength(t, 5, int32(math.MinInt32))
	requireLength(t, 2, int16(1))
	requireLength(t, 8, 1.0)
	requireLength(t, 12, [3]uint32{1})
	requireLength(t, 1+16, []uint64{1, math.MaxUint64})
	requireLength(t, 3, [3]int{1})
	requireLength(t, 1+2*3, []struct {
		N  int64
		On bool
		M  uint32
	}{{-1, true, 2}, {1, false, 3}})
	requireLength(t, 8+2, map[int64]uint32{-1: 2})
	rnd := testkit.Rand(t)
	for range 10_000 {
		x := rnd.Uint64() >> rnd.IntN(64)
		type all struct {
			A    int
			B    int32
			C    int64
			D    uint
			E    uint32
			F    uint64
			G    float32
			H, I handle
			J    []handle
			K    [2]int32
			L    map[handle]int64
		}
		y := rnd.Uint64() >> rnd.IntN(64)
		requireEncodes(t, all{int(x), int32(x), -int64(x), uint(x), uint32(x), x, float32(x), handle(x), handle(y), []handle{handle(y), 0, handle(x)}, [2]int32{int32(y)}, map[handle]int64{handle(x): 1, handle(y): 2}})
	}
}

func requireLength[T any](t *testing.T, n int, v T) {
	t.Helper()
	b, err := encode(v)
	require.NoError(t, err)
	require.Len(t, b, n, "%T %v", v, v)
	requireEncodes(t, v)
}

// TestHandlesAreRelative: each field's to the first one that it had, whichever types its handles have.
// What the first is in a map, and the order of entries, do not matter.
func TestHandlesAreRelative(t *testing.T) {
	const a, b = 1_000_000_001, 3_000_000_001
	type value struct {
		To, From handle
		List     []struct{ At handle }
		By       map[handle]handle
	}
	one := func(i uint32) value {
		v := value{handleOf(i, a+2*i), handleOf(100+i, b-2*i), make([]struct{ At handle }, 2), map[handle]handle{}}
		v.List[1].At = handleOf(i, b)
		for k := range i % 4 {
			v.By[handleOf(i, a+2*k)] = handleOf(k, b+2*k)
		}
		return v
	}
	_, d, err := codec.Of(reflect.TypeFor[value]())
	require.NoError(t, err)
	require.Equal(t, "struct{To handle; From handle; List []struct{At handle}; By map[handle]handle}", d.Parts)
	var encoded [2][]byte
	const n = 40
	for i := range encoded { // a map has another order each time
		w, _, err := codec.Of(reflect.TypeFor[value]())
		require.NoError(t, err)
		for k := range uint32(n) {
			v := one(k)
			encoded[i], err = w.Append(encoded[i], unsafe.Pointer(&v))
			require.NoError(t, err)
		}
	}
	require.Equal(t, encoded[0], encoded[1])
	into, err := codec.Into(reflect.TypeFor[value]())
	require.NoError(t, err)
	read, err := into.From(d)
	require.NoError(t, err)
	rest := encoded[0]
	for k := range uint32(n) {
		var v value
		rest, err = read.Decode(rest, unsafe.Pointer(&v))
		require.NoError(t, err)
		require.Equal(t, one(k), v, "value %d", k)
	}
	require.Empty(t, rest)

	type flat struct{ To, From handle }
	w, _, err := codec.Of(reflect.TypeFor[flat]())
	require.NoError(t, err)
	for k := range uint32(n) {
		v := flat{handleOf(k, a+2*k), handleOf(k, b-2*k)}
		out, err := w.Append(nil, unsafe.Pointer(&v))
		require.NoError(t, err)
		if k > 1 { // the second one tells that all slots begin alike
			require.Len(t, out, 5, "of %v", v)
		}
	}
}

// TestHandlesOfSlotsThatBeginApartAreShort: as those of slots that begin alike, and also of slots of which some have
// had more lives.
func TestHandlesOfSlotsThatBeginApartAreShort(t *testing.T) {
	rnd := testkit.Rand(t)
	for range 20 {
		o := slots.OriginsOf(slots.DrawOrigin(rnd.Uint32()))
		w, d, err := codec.Of(reflect.TypeFor[handle]())
		require.NoError(t, err)
		into, err := codec.Into(reflect.TypeFor[handle]())
		require.NoError(t, err)
		read, err := into.From(d)
		require.NoError(t, err)
		long := 0
		for k := range 1000 {
			i := uint32(rnd.IntN(10_000))
			v := handleOf(i, o.Generation(i, 1+2*uint32(rnd.IntN(30))))
			out, err := w.Append(nil, unsafe.Pointer(&v))
			require.NoError(t, err)
			if k > 0 && len(out) > 4 { // with its own length
				long++
			}
			var again handle
			left, err := read.Decode(out, unsafe.Pointer(&again))
			require.NoError(t, err)
			require.Empty(t, left)
			require.Equal(t, v, again)
		}
		require.LessOrEqual(t, long, 10)
	}
}

// TestHandlesHalfwayAreReadAsEver: a generation lies as far from the first one as from its counterpart. If it is the
// lesser of the two, the next handle is written as one of slots that begin alike. Another answer could be read back
// too, but files have this one.
func TestHandlesHalfwayAreReadAsEver(t *testing.T) {
	const first = 1_000_000_001
	lengths := map[bool][]int{}
	for i := uint32(2); i < 50; i += 2 { // half of the difference is even, as between live handles
		w, _, err := codec.Of(reflect.TypeFor[handle]())
		require.NoError(t, err)
		half := int32(slots.Counterpart(i, 0, first)-first) / 2
		var out []byte
		for _, h := range []handle{handleOf(0, first), handleOf(i, first+uint32(half)), handleOf(60, first)} {
			out, err = w.Append(out[:0], unsafe.Pointer(&h))
			require.NoError(t, err)
		}
		lengths[half < 0] = append(lengths[half < 0], len(out))
	}
	require.Equal(t, []int{3}, slices.Compact(lengths[true]), "its own length, the index, and no distance")
	require.Equal(t, []int{6}, slices.Compact(lengths[false]))

	// A handle of the first one's slot lies as far from both, and tells nothing of the slots.
	w, _, err := codec.Of(reflect.TypeFor[handle]())
	require.NoError(t, err)
	var out []byte
	for _, h := range []handle{handleOf(0, first), handleOf(0, first+2), handleOf(60, slots.Counterpart(60, 0, first))} {
		out, err = w.Append(out[:0], unsafe.Pointer(&h))
		require.NoError(t, err)
	}
	require.Len(t, out, 3)
}

// TestZeroHandleIsAByte: whatever the others are relative to, of which it is none.
func TestZeroHandleIsAByte(t *testing.T) {
	h := handleOf(3, 1_000_000_001)
	alone, err := encode([]handle{h})
	require.NoError(t, err)
	requireLength(t, 1, handle(0))
	requireLength(t, len(alone)+2, []handle{0, h, 0})
}

// TestAnyWordIsAHandle: whatever its generation is.
func TestAnyWordIsAHandle(t *testing.T) {
	rnd := testkit.Rand(t)
	type pair struct{ A, B handle }
	for range 10_000 {
		first := rnd.Uint64() >> rnd.IntN(64)
		second := first + uint64(rnd.IntN(1000)-500)<<32
		if rnd.IntN(3) == 0 {
			second = bits.RotateLeft64(first, rnd.IntN(64))
		}
		requireEncodes(t, []pair{{handle(first), handle(second)}, {handle(second), handle(first)}})
	}
	requireEncodes(t, []pair{{1, 1 << 32}, {1<<64 - 1, 0}, {1<<32 - 1, 1<<63 | 1}})
}

// TestCostlyTypesAreWide: what takes much memory beside its numbers is written with numbers of fixed
// size, and read back. Nothing that could be written with these is refused.
func TestCostlyTypesAreWide(t *testing.T) {
	type costly struct {
		ID   int
		To   handle
		N    uint32
		Name string
		memo [40]uint64 `coatcheck:"-"`
	}
	_ = costly{}.memo
	v := []costly{{ID: -7, To: handleOf(3, 5), N: 9, Name: "a"}, {}}
	requireLength(t, 4+2*24+1, v)
	requireLength(t, 8+4+1+4+600, map[string]large{"a": {n: 600}}) // the length of an entry tells its memory
	_, err := encode([]struct {
		N    int16
		memo [200]uint64 `coatcheck:"-"`
	}{})
	require.ErrorIs(t, err, codec.ErrType, fmt.Sprint(err))
}

// TestIntsBeyondRange: a number beyond the range of its type, or of this platform's int, is an error.
func TestIntsBeyondRange(t *testing.T) {
	forged[int32](t, "beyond the range", 0x80, 0x80, 0x80, 0x80, 0x10)
	forged[uint32](t, "beyond the range", 0x80, 0x80, 0x80, 0x80, 0x10)
	forged[handle](t, "beyond the range", 0x81, 0x80, 0x80, 0x80, 0x10, 0)
	forged[handle](t, "beyond the range", 1, 0x80, 0x80, 0x80, 0x80, 0x10)
	if strconv.IntSize == 64 {
		return
	}
	forged[int](t, "beyond the range", 0x80, 0x80, 0x80, 0x80, 0x10)
	forged[uint](t, "beyond the range", 0x80, 0x80, 0x80, 0x80, 0x10)
}

// TestLongNumbersHaveTheirLength: a number is written in as many bytes as asked, or in as many as it needs.
func TestLongNumbersHaveTheirLength(t *testing.T) {
	for length := 1; length <= 8; length++ {
		require.Len(t, codec.AppendLong(nil, 1, length), length)
		require.Len(t, codec.AppendLong(nil, 1<<20, length), max(3, length))
	}
}

// TestHandlesBehindAMapAreRelative: a map changes no base of the handles in it, and those behind it go on.
func TestHandlesBehindAMapAreRelative(t *testing.T) {
	const first = 1_000_000_001
	type behind struct {
		Map     map[uint8]uint8
		Handles []handle
	}
	v := behind{map[uint8]uint8{1: 2}, []handle{handleOf(0, first), handleOf(2, slots.Counterpart(2, 0, first)), handleOf(4, slots.Counterpart(4, 0, first))}}
	requireEncodes(t, v)
	requireEncodes(t, behind{v.Map, []handle{v.Handles[0], handleOf(2, first), handleOf(4, first)}})
}
