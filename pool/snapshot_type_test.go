package pool_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// A type that is refused is so by WriteTo, before anything is written, and by ReadFrom.
func TestBothEndsRefuseTypes(t *testing.T) {
	testRefused[stamp](t, "field id is unexported")
	testRefused[any](t, "interface values cannot be written")
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
	one := snapshotOf(t, pool.Must[fixed](nil))
	changed := reseal(one, func(records [][]byte) {
		require.Equal(t, 1, bytes.Count(records[0], []byte("ToID uint64")))
		records[0] = bytes.Replace(records[0], []byte("ToID uint64"), []byte("ToNo uint64"), 1)
	})
	parts := reseal(one, func(records [][]byte) {
		require.Equal(t, byte(1), records[0][16])
		records[0][16] = 4
	})
	for text, err := range map[string]error{
		"pool_test.fixed was struct{ID uint64; ": refusal[fixed](t, changed),
		"ToID uint64; ":                          refusal[fixed](t, changed),
		"pool_test.fixed was written by its parts, and is now encoded as fixed-size numbers": refusal[fixed](t, parts),
		"it is of pool_test.fixed, wanted is int":                                            refusal[int](t, one),
	} {
		require.ErrorIs(t, err, pool.ErrType)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		assert.ErrorContains(t, err, text)
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

// moody encodes itself as it is told, after it has done what it likes to its neighbours.
type moody struct {
	mood   string
	meddle func()
}

var errMood = errors.New("not today")

func (m *moody) MarshalBinary() ([]byte, error) {
	if m.meddle != nil {
		m.meddle()
	}
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
	mustInsert(t, p, moody{mood: "fine"})
	h := mustInsert(t, p, moody{mood: "error"})
	_, err := p.WriteTo(io.Discard)
	require.ErrorIs(t, err, errMood)
	require.EqualError(t, err, "pool: WriteTo: value 1@1: not today")
	requireReclaimed(t, p) // nothing is pinned

	p.Remove(h)
	h = mustInsert(t, p, moody{mood: "panic"})
	require.Equal(t, "a bad mood", apart(func() { _, _ = p.WriteTo(io.Discard) }))
	require.Zero(t, p.Stats().Pinned)

	p.Remove(h)
	h = mustInsert(t, p, moody{mood: "no"})
	_, err = pool.ReadFrom[moody](bytes.NewReader(snapshotOf(t, p)), nil)
	require.ErrorIs(t, err, errMood)
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("value %v: not today", h))

	p.Remove(h)
	h = mustInsert(t, p, moody{mood: "fall"})
	err = refusal[moody](t, snapshotOf(t, p))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("value %v: decoding panicked: fell", h))
}

// The same within a value that is written by its parts.
func TestErrorsOfParts(t *testing.T) {
	p := tiny[mixed](t, &pool.Options[mixed]{Origin: 1})
	h := mustInsert(t, p, mixed{Moods: []*moody{nil, {mood: "error"}}})
	_, err := p.WriteTo(io.Discard)
	require.ErrorIs(t, err, errMood)
	require.EqualError(t, err, "pool: WriteTo: value 0@1: not today")
	for mood, text := range map[string]string{"no": "not today", "fall": "decoding panicked: fell"} {
		p.View(h, func(v *mixed) { v.Moods[1].mood = mood })
		err := refusal[mixed](t, snapshotOf(t, p))
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
	p := tiny[mixed](t, nil)
	mustInsert(t, p, mixed{Keys: map[unhashable]int{{"a"}: 1}})
	err := refusal[mixed](t, snapshotOf(t, p))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, "hash of unhashable type []uint8")
}

// A zero Pool has nothing to write.
func TestSnapshotOfZeroPool(t *testing.T) {
	requirePanicText(t, func() { _, _ = new(pool.Pool[int]).WriteTo(io.Discard) }, "zero Pool")
}

// A bool is never made but 0 or 1.
func TestForgedBool(t *testing.T) {
	p := tiny(t, &pool.Options[fixed]{Origin: 1})
	h := mustInsert(t, p, fixed{On: [2]bool{true, true}})
	in := reseal(snapshotOf(t, p), func(records [][]byte) {
		at := bytes.LastIndex(records[1], []byte{1, 1})
		require.Equal(t, valuesAt(records[1])+int(unsafe.Offsetof(fixed{}.On)), at)
		records[1][at+1] = 0x7F
	})
	c, err := pool.ReadFrom[fixed](bytes.NewReader(in), nil)
	require.NoError(t, err)
	v, ok := c.Get(h)
	require.True(t, ok)
	require.Equal(t, [2]bool{true, true}, v.On)
	require.Equal(t, byte(1), *(*byte)(unsafe.Pointer(&v.On[1])))
}
