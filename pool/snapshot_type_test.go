package pool_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
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
	halfGob         struct{ A int }
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
func (halfGob) GobEncode() ([]byte, error)            { return nil, nil }

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
	refused[struct{ M map[string]struct{} }](t, "field M[]: struct {} has no fields")
	refused[halfMarshaler](t, "pool_test.halfMarshaler has MarshalBinary but no UnmarshalBinary")
	refused[halfUnmarshaler](t, "pool_test.halfUnmarshaler has UnmarshalBinary but no MarshalBinary")
	refused[struct{ H []halfMarshaler }](t, "field H[]: type pool_test.halfMarshaler has MarshalBinary but no UnmarshalBinary")
	refused[halfGob](t, "type pool_test.halfGob has GobEncode but no GobDecode")
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
	testFixedOrNot(t, uintptr(7))
	testFixedOrNot(t, [3]string{"", "a", "b"})
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
	gobbed := func(r io.Reader) error {
		type value struct{ A, B int }
		_, err := pool.ReadFrom[value](r, nil)
		return err
	}
	var b bytes.Buffer
	_, err := one().(io.WriterTo).WriteTo(&b)
	require.NoError(t, err)
	for _, c := range []struct {
		read func(r io.Reader) error
		text string
	}{
		{other, "pool_test.value was struct{A uint32; B uint32}, and is now struct{A uint32; C uint32}"},
		{gobbed, "pool_test.value was written as fixed-size numbers, and is now encoded by gob"},
		{func(r io.Reader) error { _, err := pool.ReadFrom[uint64](r, nil); return err }, "it is of pool_test.value, wanted is uint64"},
	} {
		err := c.read(bytes.NewReader(b.Bytes()))
		require.ErrorIs(t, err, pool.ErrType)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		assert.ErrorContains(t, err, c.text)
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
	mustInsert(t, p, moody{"fall"})
	require.Equal(t, "fell", apart(func() { _, _ = pool.ReadFrom[moody](bytes.NewReader(snapshotOf(t, p)), nil) }))
}

// gob's errors come with their handle, too.
func TestErrorsOfGob(t *testing.T) {
	p := tiny(t, &pool.Options[any]{Origin: 1, Shards: 1})
	mustInsert[any](t, p, nil)
	mustInsert[any](t, p, struct{ A int }{1}) // not registered
	_, err := p.WriteTo(io.Discard)
	require.ErrorContains(t, err, "pool: WriteTo: value 1@1: gob: type not registered")
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
