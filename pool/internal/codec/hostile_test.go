//go:build !race

package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/internal/codec"
)

// bounded reads in as a T, and requires that this takes memory in proportion to in.
func bounded[T any](t *testing.T, in []byte) (err error) {
	t.Helper()
	_, _, _ = decode[T](nil) // reflect keeps the types of methods, once
	const slack = 56 << 10   // what a codec and errors take for any input
	got := testkit.Allocated(func() { _, _, err = decode[T](in) })
	require.LessOrEqual(t, got, 80*uint64(len(in))+slack, "%T from %d bytes", *new(T), len(in))
	return err
}

// TestHostileValues: the bound on memory holds even if a number in the input is replaced by a
// large one.
func TestHostileValues(t *testing.T) {
	type kid struct {
		Kids []kid
		Ints []int
		By   map[string]*kid
		Up   **kid
		At   time.Time
	}
	up := &kid{Ints: []int{1}}
	testHostile(t, kid{Kids: []kid{{Up: &up}, {}}, By: map[string]*kid{"a": {}, "b": nil}})
	testHostile(t, [2]map[float32][]string{1: {1: {"a"}}})
	testHostile(t, map[string]int{"a": 1})
	testHostile(t, map[struct{}]struct{}{{}: {}})
	testHostile(t, map[[0]int]string{{}: "a"})
	testHostile(t, map[bool]string{true: "a"})
	testHostile(t, [][]string{{"a"}, {}})
	testHostile(t, []struct{}{{}, {}})
	testHostile(t, [][][0]byte{{{}, {}}})
	testHostile(t, []struct{ A, B []struct{} }{{}, {}})
	testHostile(t, []*[1 << 12]uint64{nil, nil, new([1 << 12]uint64)})
	testHostile(t, new([1 << 12]string))
	testHostile(t, []map[string]string{nil, {"a": "b"}})
	testHostile(t, [][1 << 10]int{{}})
}

func testHostile[T any](t *testing.T, v T) {
	t.Helper()
	whole, err := encode(v)
	require.NoError(t, err)
	for at := 0; at < len(whole); at += 1 + at/20 {
		for _, n := range []uint32{1 << 20, 1<<32 - 1} {
			b := binary.LittleEndian.AppendUint32(whole[:at:at], n)
			for _, rest := range [][]byte{nil, whole[min(at+4, len(whole)):], make([]byte, 4096)} {
				_ = bounded[T](t, slices.Concat(b, rest))
			}
		}
	}
}

// TestLengthsBeyondAllAreRefused: a length that an int does not have, in nine bytes.
func TestLengthsBeyondAllAreRefused(t *testing.T) {
	for _, in := range [][]byte{bytes.Repeat([]byte{0xFF}, 9), {0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}} {
		require.Error(t, bounded[[]int](t, in), "%x", in)
		require.Error(t, bounded[string](t, in), "%x", in)
		require.Error(t, bounded[map[string]int](t, in), "%x", in)
		require.Error(t, bounded[[]map[uint8]string](t, append([]byte{2}, in...)), "%x", in)
	}
}

// TestMemoryOfValues: the bound on memory also holds for valid values of all shapes. Many
// small parts take most memory for each byte.
func TestMemoryOfValues(t *testing.T) {
	testMemory(t, "")
	testMemory(t, []string(nil))
	testMemory(t, (*string)(nil))
	testMemory(t, new(bool))
	testMemory(t, make([]bool, 1))
	testMemory(t, map[bool]bool{})
	testMemory(t, map[bool]bool{true: true})
	testMemory(t, map[string]string{"": ""})
	testMemory(t, map[uint8]*string{1: nil})
	testMemory(t, map[string][5][]byte{"": {}})
	testMemory(t, map[string][64]*byte{"": {}})
	testMemory(t, map[[8]string][8]string{{}: {}})
	testMemory(t, map[uint8][0]int{1: {}})
	for _, n := range []int{8, 9, 15, 57, 255, 256, 1000, 1793} { // just above the room of a map
		m := map[uint16]*bool{}
		for i := range n {
			m[uint16(i)] = nil
		}
		testMemory(t, m)
	}
	type chain struct{ Next *chain }
	links := chain{}
	for range 998 {
		links = chain{&chain{links.Next}}
	}
	testMemory(t, links)
	type tree struct{ Kids []tree }
	deep := tree{}
	for range 900 {
		deep = tree{[]tree{deep}}
	}
	testMemory(t, deep)
	testMemory(t, make([]struct { // just more than the allocator has a size for
		P *int8
		_ [56]byte
	}, 513))
	testMemory(t, map[string][1 << 20]byte{}) // without room for an entry
	testMemory(t, struct {
		In []bool // with no header besides
		_  [5]*int
	}{In: []bool{}})
	testMemory(t, struct { // what pays for the map's place does not pay for its entry
		In map[uint8]struct {
			A bool
			_ *int
		}
		_ [31]*int
	}{In: map[uint8]struct {
		A bool
		_ *int
	}{1: {}}})
}

// testMemory reads the value many times over, in some 100,000 bytes.
func testMemory[T any](t *testing.T, v T) {
	t.Helper()
	one, err := encode(v)
	require.NoError(t, err)
	in, err := encode(slices.Repeat([]T{v}, 1+100_000/len(one)))
	require.NoError(t, err)
	require.NoError(t, bounded[[]T](t, in))
}

// TestClaimsDoNotOverlap: nested slices do not each count on all of the input, which
// could take its square.
func TestClaimsDoNotOverlap(t *testing.T) {
	type tree struct{ Kids []tree }
	type array struct {
		Next *array
		Rest [1000]*int
	}
	number := func(left int) []byte { return binary.AppendUvarint(nil, uint64(left/4)) }
	testOverlap[tree](t, number)
	testOverlap[array](t, func(int) []byte { return []byte{1} })
	testOverlap[[]array](t, number)
}

// testOverlap reads a value in which each level claims the rest of the input.
func testOverlap[T any](t *testing.T, level func(left int) []byte) {
	t.Helper()
	const size = 64 << 10
	var in []byte
	for range 900 {
		in = append(in, level(size-len(in))...)
	}
	in = append(in, make([]byte, size-len(in))...)
	require.ErrorContains(t, bounded[T](t, in), "the block ends before its values do")
}

// TestValuesEndTooSoon: the beginning of an encoding is refused at its end, and nothing behind it is read. Where an entry
// of a map has spare bytes, its key and its element do not both get them.
func TestValuesEndTooSoon(t *testing.T) {
	endsTooSoon(t, map[string]large{strings.Repeat("a", 400): {n: 600}})
	endsTooSoon(t, map[string]large{"a": {n: 600}, "b": {n: 600}})
	endsTooSoon(t, map[marshalling]marshalling{{strings.Repeat("a", 200)}: {strings.Repeat("b", 200)}})
	endsTooSoon(t, []string{strings.Repeat("a", 200), "b"})
	endsTooSoon(t, []marshalling{{strings.Repeat("a", 200)}, {"b"}})
	endsTooSoon(t, [2]map[string]int64{{"a": 1, "b": 1 << 40}})
	endsTooSoon(t, struct {
		Text string
		To   *[3]uint64
	}{strings.Repeat("a", 200), new([3]uint64)})
	endsTooSoon(t, struct {
		To   *handle
		Wide [3]uint64
	}{To: ptr(handle(9<<32 | 300)), Wide: [3]uint64{1 << 63}})
}

func endsTooSoon[T any](t *testing.T, v T) {
	t.Helper()
	whole, err := encode(v)
	require.NoError(t, err)
	requireEncodes(t, v)
	for n := range whole {
		_, _, err := decode[T](whole[:n:n])
		require.ErrorContains(t, err, "the block ends before its values do", "%d of %d bytes of %T", n, len(whole), v)
	}
}

// TestDeepValues: a value that is nested too deep, as a cycle is, is refused before anything
// follows it to the end of the stack, which would be the end of the program.
func TestDeepValues(t *testing.T) {
	type chain struct{ Next *chain }
	deep := func(n int) []byte { return append(bytes.Repeat([]byte{1}, n-1), 0) }
	longest, _, err := decode[chain](deep(1000))
	require.NoError(t, err)
	again, err := encode(longest)
	require.NoError(t, err)
	require.Equal(t, deep(1000), again)
	for _, n := range []int{1001, 300_000} {
		_, _, err := decode[chain](deep(n))
		require.ErrorContains(t, err, "it is nested deeper than 1000 pointers")
	}
	requireTooDeep(t, chain{&longest})
	cycle := chain{new(chain)}
	*cycle.Next = cycle
	requireTooDeep(t, cycle)
	type slice []slice
	type table map[string]table
	s, m := slice{nil}, table{}
	s[0], m["again"] = s, m
	requireTooDeep(t, s)
	requireTooDeep(t, m)
	requireTooDeep(t, struct{ A, B *slice }{&s, &s})
}

// TestManyValuesAreNotDeep: the depth is that of one way down, and not how many ways there are.
func TestManyValuesAreNotDeep(t *testing.T) {
	type list [][]*uint16
	var l list
	for i := range uint16(3000) {
		l = append(l, []*uint16{&i, nil})
	}
	requireEncodes(t, l)
}

// TestLongValuesAreRefusedAtTheLimit: a value is refused where its encoding is longer than the limit, and not
// where it is shorter by what the encoder keeps free: a map's head, and before each part the longest number
// and a length.
func TestLongValuesAreRefusedAtTheLimit(t *testing.T) {
	const head, part = codec.MapHead, codec.MapHead + codec.PartRoom
	refusedAt(t, strings.Repeat("a", 100), head-len("d"))
	refusedAt(t, make([]uint16, 50), head-len("3"))
	refusedAt(t, [1]marshalling{{strings.Repeat("a", 100)}}, head)
	refusedAt(t, slices.Repeat([]string{"ab"}, 60), part-len("2ab"))
	refusedAt(t, map[string]uint32{"a": 2, "b": 4, "c": 6, "d": 8, "e": 10}, part-len("8"))
	_, err := encode(make([]struct{}, codec.MaxValue+1)) // its length would be read as another
	require.ErrorContains(t, err, "its encoding is longer than")
}

// endless encodes itself in a byte more than a value may have.
type endless struct{}

func (*endless) MarshalBinary() ([]byte, error) { return nil, nil }
func (*endless) UnmarshalBinary([]byte) error   { return nil }
func (*endless) AppendBinary(b []byte) ([]byte, error) {
	return make([]byte, len(b)+codec.MaxValue+1), nil // memory that nobody touches
}

func TestLongOwnEncodingsAreRefused(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("there may be no room for so many addresses")
	}
	_, err := encode(endless{})
	require.ErrorContains(t, err, "its encoding is longer than 1073741823 bytes")
}

// refusedAt requires that v is not refused from a limit on that is so far above the length of its encoding.
func refusedAt[T any](t *testing.T, v T, spare int) {
	t.Helper()
	b, err := encode(v)
	require.NoError(t, err)
	for limit := range len(b) + 2*spare {
		got, err := codec.Within(reflect.TypeFor[T](), unsafe.Pointer(&v), limit)
		if limit < len(b)+spare {
			require.ErrorContains(t, err, "its encoding is longer than", "%T, of %d bytes, in %d", v, len(b), limit)
			continue
		}
		require.NoError(t, err, "%T, of %d bytes, in %d", v, len(b), limit)
		require.Equal(t, b, got)
	}
}

func requireTooDeep[T any](t *testing.T, v T) {
	t.Helper()
	_, err := encode(v)
	require.ErrorIs(t, err, codec.ErrType, "%T", v)
	require.ErrorContains(t, err, "or leads back to itself")
}

// ownOf encodes itself in no more bytes than it must.
type ownOf[M any] struct{ _ M }

func (*ownOf[M]) MarshalBinary() ([]byte, error) { return make([]byte, least[M]()), nil }
func (*ownOf[M]) UnmarshalBinary([]byte) error   { return nil }

func least[M any]() int { return max(0, (int(unsafe.Sizeof(*new(M)))+63)/64-4) }

// TestMemoryOfTypesThatEncodeThemselves: their memory counts as that of others does, in slices,
// behind pointers, and in maps, where an entry has room for eight.
func TestMemoryOfTypesThatEncodeThemselves(t *testing.T) {
	testOwnMemory[[24]byte](t)
	testOwnMemory[[128]byte](t)
	testOwnMemory[[129]byte](t)
	testOwnMemory[[1 << 12]byte](t)
}

func testOwnMemory[M any](t *testing.T) {
	own := ownOf[M]{}
	testMemory(t, []ownOf[M]{own})
	testMemory(t, []*ownOf[M]{&own, nil})
	testMemory(t, [2]ownOf[M]{})
	testMemory(t, struct {
		Own  ownOf[M]
		Text string
	}{})
	long := strings.Repeat("a", 2300) // one is read, and then stored
	testMemory(t, map[[2]string]ownOf[M]{{"a", long}: own})
	testHostile(t, []ownOf[M]{own, own})
	testHostile(t, []map[[2]string]ownOf[M]{{{"a", long}: own}, nil, {}})
	zeros := binary.AppendUvarint(nil, 1+16<<10)
	_ = bounded[[]ownOf[M]](t, append(zeros, make([]byte, 64<<10)...)) // no encoding of 0 bytes is that of a large value
}

// nest has a memo, for whose memory the entry of a map pays by its content.
type nest[Memo any] struct {
	Own   marshalling
	Memo  Memo `coatcheck:"-"`
	Text  string
	Bytes []byte
	Tags  []string
	Marks []mark
	Kids  [2]map[uint8]nest[Memo]
}

// mark takes less memory than bytes of its encoding, which has 9.
type mark struct {
	A, B ownOf[[0]byte]
	P    *bool
}

// wide is written wide.
type wide struct {
	N int
	_ [9]uint64
}

// forgedNest returns the encoding of a nest, whatever memos it has when it is read.
func forgedNest(t *testing.T, v nest[struct{}]) []byte {
	t.Helper()
	b, err := encode(struct {
		V nest[struct{}]
		W []wide
	}{V: v})
	require.NoError(t, err)
	return b[:len(b)-4] // without W
}

// drawNest returns a nest, how much content it has for entries around it, and whether all within it have spare bytes.
func drawNest[Memo any](rnd *rand.Rand, spare, depth int) (v nest[Memo], content int, pays bool) {
	text := func() string { return strings.Repeat("a", rnd.IntN(2)*rnd.IntN(spare)) }
	v.Own.text, v.Bytes, v.Tags = text(), []byte(text()), []string{text(), ""}
	v.Marks = make([]mark, rnd.IntN(5))
	content, pays = len(v.Own.text)+len(v.Bytes)+len(v.Tags[0])+9*len(v.Marks), true
	for i := range rnd.IntN(1 + min(depth, len(v.Kids))) {
		kids := map[uint8]nest[Memo]{}
		for k := range rnd.IntN(3) {
			kid, n, kidPays := drawNest[Memo](rnd, spare, depth-1)
			kids[uint8(k)] = kid
			pays = pays && kidPays && n >= spare
			content += max(0, n-spare)
		}
		v.Kids[i] = kids
	}
	if missing := spare - content - rnd.IntN(4)/3; missing > 0 {
		v.Text = strings.Repeat("a", missing)
		content += missing
	}
	return v, content, pays
}

// TestEntriesPayByContent: an entry of a map whose shortest encoding would not pay for its memory needs content,
// which no other map has. The encoder refuses what the decoder does.
func TestEntriesPayByContent(t *testing.T) {
	deep := nest[struct{}]{Text: strings.Repeat("a", 3200)}
	for range 900 {
		deep = nest[struct{}]{Kids: [2]map[uint8]nest[struct{}]{{1: deep}}}
	}
	require.Error(t, bounded[nest[[100_000]byte]](t, forgedNest(t, deep)))

	type memo [8000]byte
	spare := 0
	for ; ; spare++ {
		if _, err := encode(map[uint8]nest[memo]{1: {Text: strings.Repeat("a", spare)}}); err == nil {
			break
		}
	}
	rnd := testkit.Rand(t)
	var paid [2]int // not, and yes
	for range testkit.Long(2000) {
		seed := rnd.Uint64()
		want, _, pays := drawNest[memo](rand.New(rand.NewPCG(seed, 0)), spare, 3)
		plain, _, _ := drawNest[struct{}](rand.New(rand.NewPCG(seed, 0)), spare, 3)
		in := forgedNest(t, plain)
		b, err := encode(want)
		if !pays {
			paid[0]++
			require.ErrorContains(t, err, "times as much memory as its encoding", "seed %d", seed)
			require.Error(t, bounded[nest[memo]](t, in), "seed %d", seed)
			continue
		}
		paid[1]++
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, in, b)
		require.NoError(t, bounded[nest[memo]](t, in), "seed %d", seed)
		requireEncodes(t, want)
	}
	require.NotContains(t, paid, 0)
}

// TestMemoryOfMaps: however many entries there are, and whatever they have.
func TestMemoryOfMaps(t *testing.T) {
	type blank struct{ _, _ *int }
	for _, n := range []int{1, 8, 9, 15, 29, 225, 256} {
		testMapMemory[uint8, bool](t, n)
		testMapMemory[uint8, *bool](t, n)
		testMapMemory[uint8, [5]bool](t, n)
		testMapMemory[uint16, string](t, n)
		testMapMemory[uint16, blank](t, n)
		testMapMemory[uint8, struct {
			A bool
			_ [19]*int
		}](t, n)
		testMapMemory[uint8, struct {
			A [40]bool
			_ [20]*int
		}](t, n)
		testMapMemory[uint16, struct {
			A bool
			B [2]*int `coatcheck:"-"`
		}](t, n)
		testMapMemory[[4]uint16, [16]string](t, n)
		testMapMemory[[64]uint16, [2]string](t, n)
		testMapMemory[[80]uint16, [16]*bool](t, n)
	}
}

// testMapMemory reads maps of n entries. A type that is refused takes no memory.
func testMapMemory[K comparable, V any](t *testing.T, n int) {
	m := map[K]V{}
	for i := range n {
		var k K
		*(*uint8)(unsafe.Pointer(&k)) = uint8(i)
		m[k] = *new(V)
	}
	if _, err := encode(m); !errors.Is(err, codec.ErrType) {
		testMemory(t, m)
	}
}

// TestMapsAlignTheirEntries to words of 64 bits.
func TestMapsAlignTheirEntries(t *testing.T) {
	for memory := range uint64(129) {
		require.Equal(t, (memory/8+min(1, memory%8))*8, codec.InMap(memory), "%d bytes", memory)
	}
	require.EqualValues(t, 8, codec.InMap(129), "a pointer")
}
