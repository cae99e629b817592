package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// The types that cannot be written without loss, and some that look like it.
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

// refused is what WriteTo and ReadFrom say about T.
func refused[T any](t *testing.T, text string) {
	t.Helper()
	p := tiny[T](t, nil)
	var v T
	mustInsert(t, p, v)
	var b bytes.Buffer
	n, err := p.WriteTo(&b)
	require.ErrorIs(t, err, pool.ErrType, "%T", v)
	assert.ErrorContains(t, err, text)
	assert.Zero(t, n)
	assert.Zero(t, b.Len())
	c, err := pool.ReadFrom[T](&b, nil)
	require.ErrorIs(t, err, pool.ErrType)
	assert.ErrorContains(t, err, text)
	assert.Nil(t, c)
}

// What would be lost in silence is refused by name, before anything is written.
func TestSnapshotRefusesLoss(t *testing.T) {
	refused[struct{ a int }](t, "field a is unexported")
	refused[struct{ a uint64 }](t, "field a is unexported") // of fixed size all the same
	refused[struct {
		A struct{ B []struct{ c string } }
	}](t, "field A.B[].c is unexported")
	refused[struct {
		M map[string]*struct{ c string }
	}](t, "field M[].c is unexported")
	refused[struct{ M map[struct{ c string }]int }](t, "field M[key].c is unexported")
	refused[struct{ Hits atomic.Uint64 }](t, "field Hits.v is unexported, and atomic.Uint64 has no MarshalBinary")
	refused[sync.Mutex](t, "is unexported")
	refused[*struct{ a int }](t, "field a is unexported")
	refused[loop](t, "field hid is unexported")
	refused[embeds](t, "field lowered is unexported")
	refused[struct{ F func() }](t, "field F: a func cannot be written")
	refused[struct{ C *chan int }](t, "field C: a chan cannot be written")
	refused[func()](t, "a func cannot be written")
	refused[unsafe.Pointer](t, "unsafe.Pointer cannot be written")
	refused[any](t, "a interface cannot be written")
	refused[struct{ M map[any]int }](t, "field M[key]: a interface cannot be written")
	refused[struct{ E []error }](t, "field E[]: a interface cannot be written")
	refused[uintptr](t, "a uintptr cannot be written")
	refused[map[*int]string](t, "field [key]: a pointer within a key")
	refused[map[[2]struct{ P *int }]string](t, "field [key]: a pointer within a key")
	refused[halfMarshaler](t, "pool_test.halfMarshaler has MarshalBinary but no UnmarshalBinary")
	refused[halfUnmarshaler](t, "pool_test.halfUnmarshaler has UnmarshalBinary but no MarshalBinary")
	refused[struct{ H []halfMarshaler }](t, "field H[]: type pool_test.halfMarshaler has MarshalBinary but no UnmarshalBinary")
}

// What encodes itself may hide what it likes; blank fields are nobody's loss.
func TestSnapshotTakesWhatLosesNothing(t *testing.T) {
	addr := netip.MustParseAddr("::1")
	testFixedOrNot(t, struct {
		At   time.Time
		From *netip.Addr
		_    int
		_    [0]func()
	}{At: time.Unix(7, 8).UTC(), From: &addr})
	testFixedOrNot(t, time.Unix(7, 8).UTC())
	testFixedOrNot(t, embedsNumbers{numbers{1}, 2})
	testFixedOrNot(t, struct{ time.Time }{time.Unix(1, 2).UTC()})
	testFixedOrNot(t, map[string][]int{"a": {1}})
	testFixedOrNot(t, [3]string{"", "a", "b"})
	testFixedOrNot(t, map[string]struct{}{"a": {}})
	testFixedOrNot(t, []struct{}{{}, {}})
	testFixedOrNot(t, map[struct{}]int{{}: 1})
	testFixedOrNot(t, [][0]int{{}, {}})
	testFixedOrNot(t, struct {
		Nil, None []int
		No, Empty map[string]int
	}{None: []int{}, Empty: map[string]int{}})
	testFixedOrNot(t, struct {
		Low, High int
		Most      uint
		Deep      **[]*int
	}{math.MinInt, math.MaxInt, math.MaxUint, new(*[]*int)})
	testFixedOrNot(t, [2][3]numbersAndMore{1: {2: {N: []embedsNumbers{{numbers{1}, 2}, {numbers{3}, 4}}}}})
	testFixedOrNot(t, map[time.Time]list{time.Unix(7, 0).UTC(): {nil, {{}}}})
	testFixedOrNot(t, map[float64][]bool{math.Inf(1): {true, false}, -1: nil})
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

// Types that embed one with methods to encode itself, and may take them for their own.
type (
	stamped struct {
		time.Time
		Name string
	}
	stampedPointer struct {
		Name string
		*time.Time
	}
	stampedDeep   struct{ stamped }
	stampedHidden struct {
		marshalling
		ID uint64
	}
	stampedID struct {
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
	coded uint64
	// tiny methods are inlined into what the compiler makes of them.
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

// A method of an embedded field's is not taken for one of the whole value's, which
// would lose the other fields.
func TestSnapshotRefusesPromotedMethods(t *testing.T) {
	const text = "has MarshalBinary or UnmarshalBinary of its embedded field "
	refused[struct {
		time.Time
		Name string
	}](t, text+"Time")
	refused[stamped](t, "pool_test.stamped "+text+"Time")
	refused[stampedPointer](t, text+"Time")
	refused[stampedDeep](t, text+"Time")
	refused[stampedHidden](t, text+"marshalling")
	refused[stampedID](t, text+"coded")
	refused[stampedHalf](t, text+"Time")
	refused[stampedWrong](t, text+"Time")
	refused[stampedIdle](t, text+"idle")
	refused[embedsAny](t, text+"self")
	refused[struct{ self }](t, "field self is unexported")
	refused[*stamped](t, "pool_test.stamped "+text+"Time")
	refused[struct{ At []stamped }](t, "field At[]: type pool_test.stamped "+text+"Time")
	refused[map[string]*stampedDeep](t, "field []: type pool_test.stampedDeep "+text+"Time")
	refused[map[stampedID]int](t, "field [key]: type pool_test.stampedID "+text+"coded")
	refused[struct {
		stampedDeep
		N int
	}](t, text+"stampedDeep")
}

// Methods of an embedded field's serve where it is all that there is, and where they
// are declared anew.
func TestSnapshotTakesDeclaredMethods(t *testing.T) {
	at := time.Unix(1, 2).UTC()
	testFixedOrNot(t, wraps{marshalling{"a"}})
	testFixedOrNot(t, wrapsDeep{wraps{marshalling{"a"}}})
	testFixedOrNot(t, wrapsBlank{wraps: wraps{marshalling{"a"}}})
	testFixedOrNot(t, wrapsPointer{&at})
	testFixedOrNot(t, wrapsPointer{})
	testFixedOrNot(t, declares{marshalling{"a"}, "b"})
	testFixedOrNot(t, []declares{{marshalling{"a"}, "b"}})
	testFixedOrNot(t, declaresOf[int]{marshalling{"a"}, 7})
	testFixedOrNot(t, declaresOf[string]{marshalling{"a"}, "b"})
	testFixedOrNot(t, struct {
		Time time.Time
		Name string
	}{at, "a"})
}

// large encodes itself; its memory is its own affair, not so that of blank fields.
type large struct{ buf [1 << 10]string }

func (*large) MarshalBinary() ([]byte, error) { return nil, nil }
func (*large) UnmarshalBinary([]byte) error   { return nil }

// What would take much memory for little input is refused as a type, where it may be
// there many times.
func TestSnapshotRefusesDearTypes(t *testing.T) {
	type dear struct {
		_ [1 << 10]uint64
		S string
	}
	testFixedOrNot(t, dear{S: "in the slot"})
	testFixedOrNot(t, [2]dear{{S: "in the slot"}})
	testFixedOrNot(t, []*large{nil, {}})
	testFixedOrNot(t, map[string]large{"a": {}})
	refused[[]dear](t, "field []: pool_test.dear may need 8208 bytes of memory where a snapshot has 4; the limit is 64 times as many")
	refused[struct{ P **dear }](t, "field P: pool_test.dear may need 8208 bytes")
	refused[map[string]dear](t, "field []: pool_test.dear may need")
	refused[map[dear]string](t, "field []: string may need")
	refused[*[2][1 << 30]string](t, "longer than 1073741823 bytes")
}

// Snapshots that gob encoded, as they once were, are told apart.
func TestSnapshotByGobIsOfAnotherType(t *testing.T) {
	in := reseal(snapshotOf(t, tiny[string](t, nil)), func(records [][]byte) {
		require.Equal(t, byte(4), records[0][16])
		records[0][16] = 3
	})
	err := refusal[string](t, in)
	require.ErrorIs(t, err, pool.ErrType)
	require.ErrorContains(t, err, "string was written by gob, and is now encoded by its parts")
}

func testFixedOrNot[T any](t *testing.T, v T) {
	t.Helper()
	p := tiny[T](t, nil)
	h := mustInsert(t, p, v)
	c, err := pool.ReadTiny[T](bytes.NewReader(snapshotOf(t, p)), nil, 1)
	require.NoError(t, err)
	got, ok := c.Get(h)
	require.True(t, ok)
	require.Equal(t, v, got)
}

// A snapshot is one of its type alone: of its name, of how it is encoded, and of
// what it is made of.
func TestSnapshotOfAnotherType(t *testing.T) {
	one := func() any {
		type value struct{ A, B uint32 }
		return pool.Must[value](nil)
	}
	other := func(r io.Reader) error {
		type value struct{ A, C uint32 }
		_, err := pool.ReadFrom[value](r, nil)
		return err
	}
	parts := func(r io.Reader) error {
		type value struct{ A, B int }
		_, err := pool.ReadFrom[value](r, nil)
		return err
	}
	testOtherParts(t)
	var b bytes.Buffer
	_, err := one().(io.WriterTo).WriteTo(&b)
	require.NoError(t, err)
	for _, c := range []struct {
		read func(r io.Reader) error
		text string
	}{
		{other, "pool_test.value was struct{A uint32; B uint32}, and is now struct{A uint32; C uint32}"},
		{parts, "pool_test.value was written as fixed-size numbers, and is now encoded by its parts"},
		{func(r io.Reader) error { _, err := pool.ReadFrom[uint64](r, nil); return err }, "it is of pool_test.value, wanted is uint64"},
	} {
		err := c.read(bytes.NewReader(b.Bytes()))
		require.ErrorIs(t, err, pool.ErrType)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		assert.ErrorContains(t, err, c.text)
	}
}

func testOtherParts(t *testing.T) {
	written := func() []byte {
		type part struct{ Name string }
		type value struct {
			Parts []part
			Next  *value
			By    map[string][2]part
			At    time.Time
			N     []uint16
		}
		return snapshotOf(t, tiny[value](t, nil))
	}()
	type part struct{ Name string }
	type other struct{ Title string }
	renamed := func() error {
		type piece struct{ Name string }
		type value struct {
			Parts []piece
			Next  *value
			By    map[string][2]piece
			At    time.Time
			N     []uint16
		}
		_, err := pool.ReadFrom[value](bytes.NewReader(written), nil)
		return err
	}
	require.NoError(t, renamed(), "names of types aside")
	for i, read := range []func() error{
		func() error {
			type value struct {
				Parts []other
				Next  *value
				By    map[string][2]part
				At    time.Time
				N     []uint16
			}
			_, err := pool.ReadFrom[value](bytes.NewReader(written), nil)
			return err
		},
		func() error {
			type value struct {
				Parts []part
				Next  **value
				By    map[string][2]part
				At    time.Time
				N     []uint16
			}
			_, err := pool.ReadFrom[value](bytes.NewReader(written), nil)
			return err
		},
		func() error {
			type value struct {
				Parts []part
				Next  *part
				By    map[string][2]part
				At    time.Time
				N     []uint16
			}
			_, err := pool.ReadFrom[value](bytes.NewReader(written), nil)
			return err
		},
		func() error {
			type value struct {
				Parts []part
				Next  *value
				By    map[string][2]part
				At    marshalling
				N     []uint16
			}
			_, err := pool.ReadFrom[value](bytes.NewReader(written), nil)
			return err
		},
		func() error {
			type value struct {
				Parts []part
				Next  *value
				By    map[string][2]part
				At    time.Time
				N     []uint32
			}
			_, err := pool.ReadFrom[value](bytes.NewReader(written), nil)
			return err
		},
	} {
		err := read()
		require.ErrorIs(t, err, pool.ErrType, "%d", i)
		require.ErrorContains(t, err, "pool_test.value was struct{Parts []struct{Name string}; Next *#0; By map[string][2]#1; At time.Time; N []uint16}, and is now struct{")
	}
}

// moody encodes itself as it is told.
type moody struct{ mood string }

var errMood = errors.New("not today")

func (m *moody) MarshalBinary() ([]byte, error) {
	switch m.mood {
	case "error":
		return nil, errMood
	case "panic":
		panic("a bad mood")
	}
	return []byte(m.mood), nil
}

func (m *moody) UnmarshalBinary(b []byte) error {
	m.mood = string(b)
	switch m.mood {
	case "no":
		return errMood
	case "fall":
		panic("fell")
	}
	return nil
}

// Errors of T's own methods come with the handle that they happened at, panics come
// up, and no pin is left behind.
func TestErrorsOfMarshalers(t *testing.T) {
	p := tiny[moody](t, &pool.Options[moody]{Origin: 1, Shards: 1})
	mustInsert(t, p, moody{"fine"})
	h := mustInsert(t, p, moody{"error"})
	_, err := p.WriteTo(io.Discard)
	require.ErrorIs(t, err, errMood)
	require.EqualError(t, err, "pool: WriteTo: value 1@1: not today")
	requireReclaimed(t, p) // nothing is pinned

	p.Remove(h)
	h = mustInsert(t, p, moody{"panic"})
	require.Equal(t, "a bad mood", apart(func() { _, _ = p.WriteTo(io.Discard) }))
	require.Zero(t, p.Stats().Pinned)

	p.Remove(h)
	h = mustInsert(t, p, moody{"no"})
	_, err = pool.ReadFrom[moody](bytes.NewReader(snapshotOf(t, p)), nil)
	require.ErrorIs(t, err, errMood)
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("value %v: not today", h))

	p.Remove(h)
	h = mustInsert(t, p, moody{"fall"})
	err = refusal[moody](t, snapshotOf(t, p))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("value %v: decoding panicked: fell", h))
}

// The same within a value that is written by its parts.
func TestErrorsOfParts(t *testing.T) {
	type value struct{ Of []*moody }
	p := tiny[value](t, &pool.Options[value]{Origin: 1})
	h := mustInsert(t, p, value{[]*moody{nil, {"error"}}})
	_, err := p.WriteTo(io.Discard)
	require.ErrorIs(t, err, errMood)
	require.EqualError(t, err, "pool: WriteTo: value 0@1: not today")
	for mood, text := range map[string]string{"no": "not today", "fall": "decoding panicked: fell"} {
		p.View(h, func(v *value) { v.Of[1].mood = mood })
		err := refusal[value](t, snapshotOf(t, p))
		require.ErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, "value 0@1: "+text)
	}
}

// unhashable is a key until it has been decoded.
type unhashable struct{ v any }

func (u unhashable) MarshalBinary() ([]byte, error)  { return []byte(fmt.Sprint(u.v)), nil }
func (u *unhashable) UnmarshalBinary(b []byte) error { u.v = b; return nil }

// A key that no map takes is an error, not a panic of the map's.
func TestUnhashableKeysAreCorrupt(t *testing.T) {
	p := tiny[map[unhashable]int](t, nil)
	mustInsert(t, p, map[unhashable]int{{"a"}: 1})
	err := refusal[map[unhashable]int](t, snapshotOf(t, p))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, "hash of unhashable type []uint8")
}

// A zero Pool has nothing to write.
func TestSnapshotOfZeroPool(t *testing.T) {
	requirePanicText(t, func() { _, _ = new(pool.Pool[int]).WriteTo(io.Discard) }, "zero Pool")
}

// A bool is never made but 0 or 1.
func TestForgedBool(t *testing.T) {
	p := tiny(t, &pool.Options[[2]bool]{Origin: 1})
	h := mustInsert(t, p, [2]bool{true, true})
	in := reseal(snapshotOf(t, p), func(records [][]byte) {
		values := records[1]
		values[len(values)-1] = 0x7F
	})
	c, err := pool.ReadFrom[[2]bool](bytes.NewReader(in), nil)
	require.NoError(t, err)
	v, ok := c.Get(h)
	require.True(t, ok)
	require.Equal(t, [2]bool{true, true}, v)
	require.Equal(t, byte(1), *(*byte)(unsafe.Pointer(&v[1])))
}
