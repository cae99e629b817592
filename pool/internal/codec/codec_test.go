//go:build !race

package codec_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/internal/codec"
)

// Types that cannot be written without loss, or seem so.
type (
	halfMarshaler   struct{ A int }
	halfUnmarshaler struct{ A int }
	lowered         struct{ A int }
	embeds          struct {
		lowered
		B int
	}
	embedsNumbers struct {
		numbers
		B int8
	}
	numbers struct{ A uint16 }
	loop    struct {
		Next *loop
		Up   []loop
		hid  int
	}
)

func (halfMarshaler) MarshalBinary() ([]byte, error)  { return nil, nil }
func (*halfUnmarshaler) UnmarshalBinary([]byte) error { return nil }

var _ = loop{hid: 1}

// marshalling encodes itself, and has an unexported field.
type marshalling struct{ text string }

func (m marshalling) MarshalBinary() ([]byte, error) { return []byte(m.text), nil }
func (m *marshalling) UnmarshalBinary(b []byte) error {
	m.text = string(b)
	return nil
}

// encode returns the encoding of v, without its length.
func encode[T any](v T) ([]byte, error) {
	c, _, err := codec.Content(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return c.Append(nil, unsafe.Pointer(&v))
}

// decode reads back what encode returned, and returns the rest of b.
func decode[T any](b []byte) (v T, rest []byte, err error) {
	c, _, err := codec.Content(reflect.TypeFor[T]())
	if err != nil {
		return v, b, err
	}
	rest, err = c.Decode(b, unsafe.Pointer(&v))
	return v, rest, err
}

// refused requires that T is refused as a type of snapshots.
func refused[T any](t *testing.T, text string) {
	t.Helper()
	var v T
	_, err := encode(v)
	require.ErrorIs(t, err, codec.ErrType, "%T", v)
	assert.ErrorContains(t, err, text)
	assert.NotContains(t, err.Error(), "%!", "a wrong format")
}

// requireEncodes requires that v is the same after encoding and decoding.
func requireEncodes[T any](t *testing.T, v T) {
	t.Helper()
	b, err := encode(v)
	require.NoError(t, err, "%T", v)
	got, rest, err := decode[T](append(b, 1, 2, 3))
	require.NoError(t, err, "%T", v)
	require.Equal(t, v, got)
	require.Equal(t, []byte{1, 2, 3}, rest)
}

// TestValuesOfEachLengthAreRead: the length before a value takes a byte up to 127, and two up to
// 16,383.
func TestValuesOfEachLengthAreRead(t *testing.T) {
	c, _, err := codec.Of(reflect.TypeFor[string]())
	require.NoError(t, err)
	for n := range 1<<14 + 10 {
		if n > 200 && n < 1<<14-10 {
			continue
		}
		v, got := strings.Repeat("x", n), ""
		b, err := c.Append([]byte{7}, unsafe.Pointer(&v))
		require.NoError(t, err)
		rest, err := c.Decode(append(b[1:], 1, 2, 3), unsafe.Pointer(&got))
		require.NoError(t, err)
		require.Equal(t, v, got)
		require.Equal(t, []byte{1, 2, 3}, rest)
	}
}

// TestOfRefusesLoss: a type that would silently lose something is refused, with the name
// of the field.
func TestOfRefusesLoss(t *testing.T) {
	refused[struct{ a int }](t, "field a is unexported")
	refused[struct{ a int }](t, "has no MarshalBinary; the tag `coatcheck:\"-\"` leaves a field out")
	refused[struct{ F func() }](t, "func values cannot be written; the tag `coatcheck:\"-\"` leaves a field out")
	refused[struct{ a uint64 }](t, "field a is unexported") // although of fixed size
	refused[struct {
		A struct{ B []struct{ c string } }
	}](t, "field A.B[].c is unexported")
	refused[struct {
		M map[string]*struct{ c string }
	}](t, "field M[].c is unexported")
	refused[struct{ M map[struct{ c string }]int }](t, "field M[key].c is unexported")
	refused[struct{ Hits atomic.Uint64 }](t, "field Hits.v is unexported, and atomic.Uint64 has no MarshalBinary")
	refused[sync.Mutex](t, "is unexported")
	refused[loop](t, "field hid is unexported")
	refused[struct{ F func() }](t, "field F: func values cannot be written")
	refused[struct{ C *chan int }](t, "field C: chan values cannot be written")
	refused[unsafe.Pointer](t, "unsafe.Pointer values cannot be written")
	refused[any](t, "interface values cannot be written")
	_, err := encode[any](nil)
	require.NotContains(t, err.Error(), "leaves a field out", "T itself is no field")
	refused[struct{ M map[any]int }](t, "field M[key]: interface values cannot be written")
	refused[struct{ E []error }](t, "field E[]: interface values cannot be written")
	refused[uintptr](t, "uintptr values cannot be written")
	refused[map[*int]string](t, "field [key]: a pointer within a key")
	refused[map[[2]struct{ P *int }]string](t, "field [key]: a pointer within a key")
	refused[map[struct {
		A int
		P *int
	}]string](t, "field [key]: a pointer within a key")
	refused[halfMarshaler](t, "codec_test.halfMarshaler has MarshalBinary but no UnmarshalBinary")
	refused[halfUnmarshaler](t, "codec_test.halfUnmarshaler has UnmarshalBinary but no MarshalBinary")
	refused[struct{ H []halfMarshaler }](t, "field H[]: type codec_test.halfMarshaler has MarshalBinary but no UnmarshalBinary")
}

// TestKeysAreFoundInTheCopy: a map with a key that is another one when it is read back is refused,
// since a look-up would not find it, and two keys could become one. NaN, which no look-up finds, is
// not.
func TestKeysAreFoundInTheCopy(t *testing.T) {
	now := time.Now() // its monotonic reading is not encoded
	lostKey(t, map[time.Time]int{now: 1})
	lostKey(t, map[time.Time]int{now: 1, now.Round(0): 2})
	zone := time.FixedZone("here", 3600) // the copy has a zone of its own
	lostKey(t, map[time.Time]int{time.Unix(7, 0).In(zone): 1})
	lostKey(t, map[struct {
		At   time.Time
		Name string
	}]int{{At: time.Unix(7, 0).In(zone)}: 1})
	lostKey(t, map[lossy]int{"A": 1})
	lostKey(t, map[unhashable]int{{}: 1})
	lostKey(t, map[unreadable]int{{}: 1})
	lostKey(t, map[struct {
		A uint8
		B uint8 `coatcheck:"-"`
	}]int{{1, 2}: 1})
	requireEncodes(t, map[lossy]int{"a": 1, "b": 2})
	requireEncodes(t, map[time.Time]int{time.Unix(7, 0): 1, time.Unix(8, 0).UTC(): 2})
	requireEncodes(t, map[struct {
		A uint8
		B uint8 `coatcheck:"-"`
	}]int{{A: 1}: 1})
	type key struct {
		F float64
		S string
	}
	b, err := encode(map[key]int{{F: math.NaN()}: 1, {F: math.NaN()}: 2})
	require.NoError(t, err)
	got, _, err := decode[map[key]int](b)
	require.NoError(t, err)
	require.Len(t, got, 2)
}

// TestPlainKeysAreNotReadBack: nothing can be lost of numbers and strings, and no key costs an allocation.
func TestPlainKeysAreNotReadBack(t *testing.T) {
	cheapKeys(t, func(i int) uint32 { return uint32(i) })
	cheapKeys(t, func(i int) [2]uint8 { return [2]uint8{uint8(i), uint8(i >> 8)} })
	cheapKeys(t, func(i int) string { return fmt.Sprint(i) })
}

func cheapKeys[K comparable](t *testing.T, key func(i int) K) {
	t.Helper()
	m := map[K]bool{}
	for i := range 1000 {
		m[key(i)] = true
	}
	require.Less(t, testing.AllocsPerRun(1, func() { _, _ = encode(m) }), 500.0, "%T", m)
}

func lostKey[K comparable, V any](t *testing.T, m map[K]V) {
	t.Helper()
	_, err := encode(m)
	require.ErrorIs(t, err, codec.ErrType, "%v", m)
	require.Regexp(t, `: [^%]+: a key of a map is another one when it is read back$`, err.Error())
}

type lossy string

func (l lossy) MarshalBinary() ([]byte, error)  { return []byte(strings.ToLower(string(l))), nil }
func (l *lossy) UnmarshalBinary(b []byte) error { *l = lossy(b); return nil }

// unreadable panics when it is read back.
type unreadable struct{}

func (unreadable) MarshalBinary() ([]byte, error)  { return nil, nil }
func (*unreadable) UnmarshalBinary(b []byte) error { panic(b[0]) }

// TestOfTakesWhatLosesNothing: a type that encodes itself may have any fields, and blank
// fields are not lost.
func TestOfTakesWhatLosesNothing(t *testing.T) {
	addr := netip.MustParseAddr("::1")
	requireEncodes(t, struct {
		At   time.Time
		From *netip.Addr
		_    int
		_    [0]func()
	}{At: time.Unix(7, 8).UTC(), From: &addr})
	requireEncodes(t, time.Unix(7, 8).UTC())
	requireEncodes(t, embedsNumbers{numbers{1}, 2})
	requireEncodes(t, embeds{lowered{1}, 2}) // A is promoted
	requireEncodes(t, struct{ time.Time }{time.Unix(1, 2).UTC()})
	requireEncodes(t, []struct{}{{}, {}})
	requireEncodes(t, map[struct{}]int{{}: 1})
	requireEncodes(t, [][0]int{{}, {}})
	requireEncodes(t, struct {
		Nil, None []int
		No, Empty map[string]int
	}{None: []int{}, Empty: map[string]int{}})
	requireEncodes(t, struct {
		Low, High int
		Most      uint
		Deep      **[]*int
	}{math.MinInt, math.MaxInt, math.MaxUint, new(*[]*int)})
	requireEncodes(t, [2][3]numbersAndMore{1: {2: {N: []embedsNumbers{{numbers{1}, 2}, {numbers{3}, 4}}}}})
	requireEncodes(t, map[time.Time]list{time.Unix(7, 0).UTC(): {nil, {{}}}})
	requireEncodes(t, map[float64][]bool{math.Inf(1): {true, false}, -1: nil})
}

type (
	numbersAndMore struct {
		N    []embedsNumbers
		Text string
		B    [2]struct {
			On bool
			N  uint64
		}
	}
	list []list
)

// Types that embed one that encodes itself. Some of them have nothing else.
type (
	stamped struct {
		time.Time
		Name string
	}
	stampedPointer struct {
		Name string
		*time.Time
	}
	stampedDeep struct{ stamped }
	stampedID   struct {
		coded
		More [8]byte
	}
	stampedHalf struct {
		time.Time
		Name string
	}
	stampedWrong struct{ time.Time }
	embedsAny    struct {
		self
		Name string
	}
	self interface {
		MarshalBinary() ([]byte, error)
		UnmarshalBinary(b []byte) error
	}
	wraps      struct{ marshalling }
	wrapsDeep  struct{ wraps }
	wrapsBlank struct {
		_ struct{}
		wraps
	}
	wrapsPointer struct{ *time.Time }
	declares     struct {
		marshalling
		Name string
	}
	declaresOf[V any] struct {
		marshalling
		Value V
	}
	coded       uint64
	idle        struct{}
	stampedIdle struct {
		idle
		Name string
	}
)

func (stampedHalf) MarshalBinary() ([]byte, error)   { return nil, nil }
func (*stampedWrong) UnmarshalBinary(b []byte) error { return nil }

func (c coded) MarshalBinary() ([]byte, error) { return binary.AppendUvarint(nil, uint64(c)), nil }
func (c *coded) UnmarshalBinary(b []byte) error {
	n, _ := binary.Uvarint(b)
	*c = coded(n)
	return nil
}

func (idle) MarshalBinary() ([]byte, error) { return nil, nil }
func (*idle) UnmarshalBinary([]byte) error  { return nil }

func (d declares) MarshalBinary() ([]byte, error) { return []byte(d.text + "," + d.Name), nil }
func (d *declares) UnmarshalBinary(b []byte) error {
	d.text, d.Name, _ = strings.Cut(string(b), ",")
	return nil
}

func (d *declaresOf[V]) MarshalBinary() ([]byte, error) {
	return fmt.Append(nil, d.text, " ", d.Value), nil
}
func (d *declaresOf[V]) UnmarshalBinary(b []byte) error {
	_, err := fmt.Sscan(string(b), &d.text, &d.Value)
	return err
}

// TestOfRefusesPromotedMethods: methods promoted from an embedded field do not encode the
// whole value, since the other fields would be lost.
func TestOfRefusesPromotedMethods(t *testing.T) {
	const text = "has MarshalBinary or UnmarshalBinary of its embedded field "
	refused[struct {
		time.Time
		Name string
	}](t, text+"Time")
	refused[stamped](t, "codec_test.stamped "+text+"Time")
	refused[stampedPointer](t, text+"Time")
	refused[stampedDeep](t, text+"Time")
	refused[stampedID](t, text+"coded")
	refused[stampedHalf](t, text+"Time")
	refused[stampedWrong](t, text+"Time")
	refused[stampedIdle](t, text+"idle")
	refused[struct {
		_ int
		time.Time
		Name string
	}](t, text+"Time")
	refused[embedsAny](t, text+"self")
	refused[struct{ self }](t, "field self is unexported")
	refused[struct{ At []stamped }](t, "field At[]: type codec_test.stamped "+text+"Time")
	refused[map[string]*stampedDeep](t, "field []: type codec_test.stampedDeep "+text+"Time")
	refused[map[stampedID]int](t, "field [key]: type codec_test.stampedID "+text+"coded")
	refused[struct {
		stampedDeep
		N int
	}](t, text+"stampedDeep")
}

// TestOfTakesDeclaredMethods: methods of an embedded field are used if there is no other
// field, or if they are declared again.
func TestOfTakesDeclaredMethods(t *testing.T) {
	at := time.Unix(1, 2).UTC()
	requireEncodes(t, wraps{marshalling{"a"}})
	requireEncodes(t, wrapsDeep{wraps{marshalling{"a"}}})
	requireEncodes(t, wrapsBlank{wraps: wraps{marshalling{"a"}}})
	requireEncodes(t, wrapsPointer{&at})
	requireEncodes(t, wrapsPointer{})
	requireEncodes(t, declares{marshalling{"a"}, "b"})
	requireEncodes(t, []declares{{marshalling{"a"}, "b"}})
	requireEncodes(t, declaresOf[int]{marshalling{"a"}, 7})
	requireEncodes(t, declaresOf[string]{marshalling{"a"}, "b"})
	requireEncodes(t, struct {
		Time time.Time
		Name string
	}{at, "a"})
}

// large encodes itself, in so many bytes.
type large struct {
	n int
	_ [1 << 10]string
}

func (l *large) MarshalBinary() ([]byte, error) { return make([]byte, l.n), nil }
func (l *large) UnmarshalBinary(b []byte) error { l.n = len(b); return nil }

// TestOfRefusesCostlyTypes: a type that takes much memory for little input is refused where
// a snapshot may have many of it.
func TestOfRefusesCostlyTypes(t *testing.T) {
	type costly struct {
		_ [1 << 10]uint64
		S string
	}
	requireEncodes(t, costly{S: "in the slot"})
	requireEncodes(t, [2]costly{{S: "in the slot"}})
	requireEncodes(t, large{})
	requireEncodes(t, []*large{nil, {n: 400}})
	requireEncodes(t, map[string]large{"a": {n: 600}}) // one is read, and then stored
	sparse(t, []*large{{n: 1}})
	sparse(t, []large{{n: 400}, {n: 1}})
	sparse(t, map[string]large{"a": {n: 1}})
	sparse(t, map[uint8]ownOf[[96]byte]{1: {}})
	requireEncodes(t, map[string]ownOf[[96]byte]{"long enough": {}})
	refused[[]costly](t, "field []: codec_test.costly may need 82")
	refused[struct{ P **costly }](t, "field P: codec_test.costly may need 82")
	refused[map[string]costly](t, "field []: codec_test.costly may need")
	refused[map[costly]string](t, "field []: string may need")
	refused[map[uint8]struct{ _, _, _, _ *int }](t, "bytes of memory where a snapshot has ")
	refused[map[uint16]struct { // its length pays for its place alone
		A [2]bool
		_ [55]byte
	}](t, "where a snapshot has 8;") // 4 and 4, as it is written wide
	refused[struct {
		In map[uint8]struct {
			A bool
			_ [4]uint64
		}
		W []wide
	}](t, "where a snapshot has 6;")
	refused[[]struct {
		Name  string
		Cache [64]uint64 `coatcheck:"-"`
	}](t, "bytes of memory where a snapshot has 4;")
	refused[*[1 << 27]float64](t, "longer than 1073741823 bytes")
	refused[struct{ P *[1 << 27]float64 }](t, "field P: its encoding is longer than 1073741823 bytes")
}

// sparse requires that v is refused, and so is its encoding if it is forged.
func sparse[T any](t *testing.T, v T) {
	t.Helper()
	_, err := encode(v)
	require.ErrorIs(t, err, codec.ErrType)
	require.Regexp(t, `: \S+: it takes more than 64 times as much memory as its encoding$`, err.Error())
}

// TestDescriptionsOfParts: a description has all that tells how values are written, and
// no names of types.
func TestDescriptionsOfParts(t *testing.T) {
	type part struct{ Name string }
	type value struct {
		Parts []part
		Next  *value
		By    map[string][2]part
		At    time.Time
		N     []uint16
	}
	described[value](t, "struct{Parts []struct{Name string}; Next *#0; By map[string][2]struct{Name string}; At binary; N []uint16}")
	described[*part](t, "*struct{Name string}")
	described[[2]string](t, "[2]string")
	described[list](t, "[]#0")
	described[[]list](t, "[]#0")
	described[map[time.Time][]numbersAndMore](t, "map[binary][]struct{N []struct{numbers struct{A uint16}; B int8}; Text string; B [2]struct{On bool; N uint64}}")
}

type (
	names  []string
	lists  [][]string
	posA   struct{ X, Y int }
	posB   struct{ X, Y int }
	chain  struct{ Next *chain }
	chainA struct{ Next *chainB }
	chainB struct{ Next *chainA }
	branch struct {
		Kids []branch
		By   map[string]*branch
	}
)

// twice doubles what a naive description has to write, and octave does so eight times.
type (
	twice[T any]  struct{ A, B []T }
	octave[T any] struct {
		In []twice[twice[twice[twice[twice[twice[twice[twice[T]]]]]]]]
	}
)

// TestDescriptionsAreStructures: types with the same structure have the same description, whichever of their
// parts have names, and others have another.
func TestDescriptionsAreStructures(t *testing.T) {
	described[struct{ A, B lists }](t, "struct{A [][]string; B [][]string}")
	described[struct {
		A []names
		B names
	}](t, "struct{A [][]string; B []string}")
	const both = "struct{From struct{X int; Y int}; To struct{X int; Y int}}"
	described[struct{ From, To posA }](t, both)
	described[struct {
		From posA
		To   posB
	}](t, both)
	described[chain](t, "struct{Next *#0}")
	described[chainA](t, "struct{Next *#0}")
	described[struct{ At *chainB }](t, "struct{At *struct{Next #1}}")
	described[struct{ At chainB }](t, "struct{At struct{Next *#1}}")
	described[branch](t, "struct{Kids []#0; By map[string]*#0}")

	require.Less(t, len(descriptionOf[octave[octave[octave[octave[octave[string]]]]]](t)), 1100)
	require.Equal(t, descriptionOf[octave[octave[octave[octave[octave[lists]]]]]](t), descriptionOf[octave[octave[octave[octave[octave[[]names]]]]]](t))
	require.NotEqual(t, descriptionOf[octave[octave[octave[octave[octave[lists]]]]]](t), descriptionOf[octave[octave[octave[octave[octave[names]]]]]](t), "they differ only at the end")
}

// TestLongDescriptionsAreCut: up to 1,000 bytes a name and a description are whole. A longer one ends in a hash, which
// differs where only what was cut differs.
func TestLongDescriptionsAreCut(t *testing.T) {
	of := func(letters int, last reflect.Type) codec.Description {
		_, d, err := codec.Of(reflect.StructOf([]reflect.StructField{
			{Name: strings.Repeat("X", letters), Type: reflect.TypeFor[string]()}, {Name: "Y", Type: last},
		}))
		require.NoError(t, err)
		return d
	}
	text := reflect.TypeFor[string]()
	for what, described := range map[string]func(d codec.Description) string{
		"name":  func(d codec.Description) string { return d.Name },
		"parts": func(d codec.Description) string { return d.Parts },
	} {
		letters := 1000 - len(described(of(1, text))) + 1
		whole := described(of(letters, text))
		require.Len(t, whole, 1000, what)
		require.Regexp(t, `X string; Y string ?}$`, whole)
		long := described(of(letters+1, text))
		require.Regexp(t, `^struct ?\{ ?X+ string; Y string ?… \([0-9a-f]{16}\)$`, long)
		require.Equal(t, 1000, strings.Index(long, "…"))
		ints := reflect.TypeFor[[]int]() // the struct itself is like that with texts
		require.NotEqual(t, described(of(2000, reflect.SliceOf(text))), described(of(2000, ints)), what)
	}
}

// TestDrawnTypesAreDescribed draws pairs of types and compares their descriptions with their structures.
func TestDrawnTypesAreDescribed(t *testing.T) {
	rnd := testkit.Rand(t)
	leaves := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[uint16](), reflect.TypeFor[int](), reflect.TypeFor[time.Time](),
		reflect.TypeFor[names](), reflect.TypeFor[lists](), reflect.TypeFor[[]string](), reflect.TypeFor[posA](), reflect.TypeFor[posB](),
		reflect.TypeFor[chain](), reflect.TypeFor[chainA](), reflect.TypeFor[chainB](), reflect.TypeFor[branch](), reflect.TypeFor[list](),
	}
	var draw func(depth int) reflect.Type
	draw = func(depth int) reflect.Type {
		how := rnd.IntN(8)
		if depth == 0 {
			how = 7
		}
		switch how {
		case 0:
			return reflect.SliceOf(draw(depth - 1))
		case 1:
			return reflect.PointerTo(draw(depth - 1))
		case 2:
			return reflect.ArrayOf(1+rnd.IntN(2), draw(depth-1))
		case 3:
			return reflect.MapOf(reflect.TypeFor[string](), draw(depth-1))
		case 4, 5:
			var fields []reflect.StructField
			for _, name := range []string{"Next", "Kids"}[:1+rnd.IntN(2)] {
				fields = append(fields, reflect.StructField{Name: name, Type: draw(depth - 1)})
			}
			return reflect.StructOf(fields)
		}
		return leaves[rnd.IntN(len(leaves))]
	}
	equal := 0
	for range testkit.Long(20_000) {
		a, b := draw(2), draw(2)
		_, da, errA := codec.Of(a)
		_, db, errB := codec.Of(b)
		if errA != nil || errB != nil {
			continue
		}
		want := alike(a, b, map[[2]reflect.Type]bool{})
		require.Equal(t, want, da.Parts == db.Parts && da.Encoding == db.Encoding, "%v is %s, %v is %s", a, da.Parts, b, db.Parts)
		if want && a != b {
			equal++
		}
	}
	require.Positive(t, equal)
}

// alike reports whether two types have the same structure, if those do that are compared already.
func alike(a, b reflect.Type, known map[[2]reflect.Type]bool) bool {
	pair := [2]reflect.Type{a, b}
	if known[pair] || a == b {
		return true
	}
	known[pair] = true
	own := reflect.TypeFor[time.Time]()
	if a.Kind() != b.Kind() || a == own || b == own {
		return false
	}
	switch a.Kind() {
	case reflect.Slice, reflect.Pointer:
		return alike(a.Elem(), b.Elem(), known)
	case reflect.Array:
		return a.Len() == b.Len() && alike(a.Elem(), b.Elem(), known)
	case reflect.Map:
		return alike(a.Key(), b.Key(), known) && alike(a.Elem(), b.Elem(), known)
	case reflect.Struct:
		if a.NumField() != b.NumField() {
			return false
		}
		for i := range a.NumField() {
			if a.Field(i).Name != b.Field(i).Name || !alike(a.Field(i).Type, b.Field(i).Type, known) {
				return false
			}
		}
	}
	return true
}

// pair encodes itself.
type pair[T any] struct{ A, B T }

func (pair[T]) MarshalBinary() ([]byte, error) { return nil, nil }
func (pair[T]) UnmarshalBinary([]byte) error   { return nil }

func described[T any](t *testing.T, want string) {
	t.Helper()
	require.Equal(t, want, descriptionOf[T](t))
}

func descriptionOf[T any](t *testing.T) string {
	t.Helper()
	_, d, err := codec.Of(reflect.TypeFor[T]())
	require.NoError(t, err)
	return d.Parts
}

// TestForgedParts: a value that the encoder never writes is an error.
func TestForgedParts(t *testing.T) {
	forged[*int](t, "a pointer is marked neither nil nor set", 2, 0, 0, 0, 0, 0, 0, 0, 0)
	forged[map[uint8]struct{}](t, "a map has a key twice", 3, 0, 0, 0, 0, 0, 0, 0, 7, 7)
	forged[map[struct{}]struct{}](t, "a map has a key twice", 0x80, 0x80, 0x80, 0x80, 4, 0, 0, 0)
	forged[map[uint8]struct{}](t, "the length of a map is not filled up", 2, 0, 0, 0, 0, 0, 0, 1, 7)
	for _, length := range []uint64{1 << 50, 1 << 60} { // 8 bytes, and 9
		forged[map[uint8]struct{}](t, "the length of a map is not filled up", append(binary.AppendUvarint(nil, length), 1, 7)...)
	}
	forged[string](t, "the block ends before its values do", 2, 'a')
	forged[string](t, "the block ends before its values do", 0x80)
	forged[uint64](t, "the block ends before its values do", 0x80, 0x80)
	forged[handle](t, "the block ends before its values do", 7)
	forged[marshalling](t, "the block ends before its values do", 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10)
	forged[[]time.Time](t, "Time.UnmarshalBinary", 2, 1, 0)
	err := forged[map[unhashable]int](t, "hash of unhashable type []uint8", 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	require.ErrorAs(t, err, new(runtime.Error), "the cause of a panic")
}

func forged[T any](t *testing.T, text string, in ...byte) error {
	t.Helper()
	_, _, err := decode[T](in)
	require.ErrorContains(t, err, text)
	return err
}

// unhashable is a key until it has been decoded.
type unhashable struct{ v any }

func (u unhashable) MarshalBinary() ([]byte, error)  { return nil, nil }
func (u *unhashable) UnmarshalBinary(b []byte) error { u.v = b; return nil }

// TestNaNKeys: each NaN is a key of its own.
func TestNaNKeys(t *testing.T) {
	b, err := encode(map[float32]string{float32(math.NaN()): "a", -float32(math.NaN()): "b", 1: "c"})
	require.NoError(t, err)
	m, _, err := decode[map[float32]string](b)
	require.NoError(t, err)
	values := slices.Sorted(maps.Values(m))
	require.Equal(t, []string{"a", "b", "c"}, values)
}

// TestEntriesAreInTheOrderOfTheirBytes: so snapshots of equal pools are equal, of each version.
func TestEntriesAreInTheOrderOfTheirBytes(t *testing.T) {
	b, err := encode(map[uint8]string{3: "c", 1: "a", 2: "b"})
	require.NoError(t, err)
	require.Equal(t, []byte{4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'a', 2, 1, 'b', 3, 1, 'c'}, b)
}

// Equal maps have one encoding, however they came to be, also as keys' elements and in slices.
func TestEqualMapsHaveOneEncoding(t *testing.T) {
	type nested map[string][]map[int16]string
	build := func(order func(n int) []int) nested {
		m := nested{}
		for _, i := range order(50) {
			in := map[int16]string{}
			for _, k := range order(20) {
				in[int16(k)] = fmt.Sprint(i, k)
			}
			m[fmt.Sprint(i)] = []map[int16]string{in, nil, {}}
		}
		return m
	}
	up := func(n int) (all []int) {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	down := func(n int) []int {
		all := up(n)
		slices.Reverse(all)
		return all
	}
	want, err := encode(build(up))
	require.NoError(t, err)
	for range 20 {
		got, err := encode(build(down))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	back, _, err := decode[nested](want)
	require.NoError(t, err)
	require.Equal(t, build(up), back)
}
