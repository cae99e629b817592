package pool_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// A type that is refused is so by WriteTo, before anything is written, and by ReadFrom.
func TestBothEndsRefuseTypes(t *testing.T) {
	testRefused[struct{ a int }](t, "field a is unexported")
	testRefused[struct {
		time.Time
		Name string
	}](t, "of its embedded field Time")
	testRefused[[]any](t, "interface values cannot be written")
}

func testRefused[T any](t *testing.T, text string) {
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
