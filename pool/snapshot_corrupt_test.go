//go:build !race

package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

const (
	valuesKind = 1 + iota
	generationsKind
	endKind
	skipsKind
	orderKind
	vacantKind
	paddingKind
)

// end is the record that ends a snapshot.
func end(total uint32, values uint64) []byte {
	return record(endKind, total, 0, binary.LittleEndian.AppendUint64(nil, values)...)
}

// runs encodes stages of slots: how many, and which.
func runs(ns ...uint64) (b []byte) {
	for _, n := range ns {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// refusal reads in, which must be refused as a snapshot is, by one of its errors.
func refusal[T any](t testing.TB, in []byte) error {
	t.Helper()
	p, err := pool.ReadFrom[T](bytes.NewReader(in), nil)
	require.Error(t, err)
	require.Nil(t, p)
	require.Regexp(t, "^pool: ", err.Error())
	known := errors.Is(err, pool.ErrCorrupt) || errors.Is(err, pool.ErrVersion) || errors.Is(err, pool.ErrType)
	require.Truef(t, known, "%v", err)
	require.NotContains(t, err.Error(), "%!", "a wrong format")
	return err
}

// A snapshot cut anywhere is refused, and the error says that bytes are missing. A reader's error
// is returned as it is. So is refused one with any bit of its header flipped, or a bit of any
// other byte.
func TestDamagedSnapshots(t *testing.T) {
	rnd := testkit.Rand(t)
	p := tiny(t, &pool.Options[mixed]{Shards: 1, Origin: 7})
	hs := testkit.Fill(t, p, 4, func(i int) mixed { return mixed{Tags: []string{fmt.Sprint(i)}} })
	p.RemoveBatch(hs[1:3])
	whole := testkit.Written(t, p)
	for n := range whole {
		err := refusal[mixed](t, whole[:n:n])
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d of %d bytes", n, len(whole))
		require.ErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, "at byte ")
		_, err = pool.ReadFrom[mixed](io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(errMood)), nil)
		require.ErrorIs(t, err, errMood)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, fmt.Sprintf("pool: ReadFrom: at byte %d: ", n))
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			broken := fmt.Errorf("%w: %w", errMood, end) // the reader's, which says what became of the connection
			_, err = pool.ReadFrom[mixed](io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)), nil)
			require.ErrorIs(t, err, broken)
			require.NotErrorIs(t, err, pool.ErrCorrupt)
		}

		least, most := 0, 8
		if n >= 24 {
			least = rnd.IntN(8)
			most = least + 1
		}
		for bit := least; bit < most; bit++ {
			in := bytes.Clone(whole)
			in[n] ^= 1 << bit
			err := refusal[mixed](t, in)
			if n < 8 {
				require.ErrorIs(t, err, pool.ErrCorrupt, "the magic")
			} else if n < 12 {
				require.ErrorIs(t, err, pool.ErrVersion, "the version")
			}
			if n >= len(whole)-4 {
				require.Regexp(t, `: the checksum of \d{1,3} bytes, and all before them, is [0-9a-f]{8}; want [0-9a-f]{8}`, err.Error())
				require.NotRegexp(t, `is 00000`, err.Error(), "a length")
				sum := func(b []byte) uint32 { return binary.LittleEndian.Uint32(b[len(b)-4:]) }
				require.ErrorContains(t, err, fmt.Sprintf("is %08x; want %08x", sum(whole), sum(in)))
			}
		}
	}
}

// Records in another order, twice, or from another snapshot do not pass, although
// each is whole.
func TestMovedRecords(t *testing.T) {
	p := paired(t, &pool.Options[[2]uint64]{Shards: 1})
	testkit.Fill(t, p, 5, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
	var records [][]byte // with checksums; the second snapshot's from 5 on
	for range 2 {
		snapshot := testkit.Written(t, p)
		for _, r := range cut(snapshot) {
			records = append(records, snapshot[:len(r)+4:len(r)+4])
			snapshot = snapshot[len(r)+4:]
		}
		for _, v := range p.All() {
			v[0]++
		}
	}
	require.Len(t, records, 10, "header, three pages, end; twice")
	joined := func(which string) (in []byte) {
		for _, k := range which {
			in = append(in, records[k-'0']...)
		}
		return in
	}
	for _, which := range []string{"011234", "02134", "0134", "0124", "001234", "01284", "06784", "1234"} {
		refusal[[2]uint64](t, joined(which))
	}
	_, err := pool.ReadFrom[[2]uint64](bytes.NewReader(joined("56789")), nil)
	require.NoError(t, err)
}

// TestHeadersOfOtherLengths are refused, also where what is missing would be empty.
func TestHeadersOfOtherLengths(t *testing.T) {
	for name, c := range map[string]struct {
		empty []byte
		read  func(in []byte) error
	}{
		"encodes itself": {testkit.Written(t, pool.Must[time.Time](nil)), func(in []byte) error {
			_, err := pool.ReadFrom[time.Time](bytes.NewReader(in), nil)
			return err
		}},
		"of parts": {testkit.Written(t, pool.Must[[2]uint16](nil)), func(in []byte) error {
			_, err := pool.ReadFrom[[2]uint16](bytes.NewReader(in), nil)
			return err
		}},
	} {
		head := cut(c.empty)[0]
		for n := 16; n <= len(head)+1; n++ {
			in := joined([][]byte{append(bytes.Clone(head), 0)[:n:n], end(0, 0)})
			if err := c.read(in); n == len(head) {
				require.NoError(t, err, name)
			} else {
				require.ErrorIs(t, err, pool.ErrCorrupt, "%s: %d of %d bytes", name, n, len(head))
				require.ErrorContains(t, err, "the header makes no sense")
			}
		}
	}
}

// Input with right checksums is checked all the same.
func TestForgedSnapshots(t *testing.T) {
	p := tiny(t, &pool.Options[[2]uint64]{Origin: 7, Shards: 1})
	head := cut(testkit.Written(t, p))[0]
	value := make([]byte, 16)
	live := append(runs(1, 1), value...)
	two, order := record(valuesKind, 0, 2, runs(2, 0)...), record(orderKind, 0, 0)
	skip := func(i uint32) []byte { return record(skipsKind, i, 1, runs(1, 0)...) }
	forge := func(records ...[]byte) []byte {
		return joined(append([][]byte{bytes.Clone(head)}, records...))
	}
	for _, c := range []struct {
		text    string
		records [][]byte
	}{
		{"no record is of kind 0x9", [][]byte{record(9, 0, 0)}},
		{"no record is of kind 0x101", [][]byte{{1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}}},
		{"the end tells of 1 values, but there were 0", [][]byte{end(0, 1)}},
		{"the end tells of 0 values, but there were 1", [][]byte{record(valuesKind, 0, 1, live...), end(1, 0)}},
		{"kind 3 begins at slot 2 instead of 1", [][]byte{record(valuesKind, 0, 1, live...), end(2, 1)}},
		{"an end of 7 bytes", [][]byte{record(endKind, 0, 0, 1, 2, 3, 4, 5, 6, 7)}},
		{"an end with 1 slots", [][]byte{record(endKind, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)}},
		{"a record of 0 slots", [][]byte{record(valuesKind, 0, 0)}},
		{"a record of 4294967295 slots; the limit is 1024", [][]byte{record(valuesKind, 0, 1<<32-1, runs(1<<32-1, 0)...)}},
		{"a record of 1025 slots", [][]byte{record(valuesKind, 0, 1025, runs(1025, 0)...)}},
		{"kind 1 begins at slot 1 instead of 0", [][]byte{record(valuesKind, 1, 1, live...)}},
		{"kind 2 begins at slot 1 instead of 0", [][]byte{record(generationsKind, 1, 1, runs(1, 0)...)}},
		{"kind 1 begins at slot 4294967295 instead of 1", [][]byte{record(valuesKind, 0, 1, live...), record(valuesKind, 1<<32-1, 1, live...)}},
		{"make no sense", [][]byte{record(valuesKind, 0, 2, runs(1, 0)...)}},
		{"make no sense", [][]byte{record(valuesKind, 0, 2, runs(3, 0)...)}},
		{"make no sense", [][]byte{record(valuesKind, 0, 2, runs(0, 0)...)}},
		{"make no sense", [][]byte{record(valuesKind, 0, 2, runs(1<<60, 0)...)}},
		{"make no sense", [][]byte{record(valuesKind, 0, 1, runs(1, 1<<60)...)}},
		{"make no sense", [][]byte{record(valuesKind, 0, 1, runs(1, 1<<32-7)...)}}, // beyond Spent
		{"value 0@7: the block ends before its values do", [][]byte{record(valuesKind, 0, 1, live[:9]...)}},
		{"1 bytes after the last value", [][]byte{record(valuesKind, 0, 1, append(live, 0)...)}},
		{"1 bytes after the last generation", [][]byte{record(generationsKind, 0, 1, append(runs(1, 0), 0)...)}},
		{"values of slot 1 after generations", [][]byte{record(generationsKind, 0, 1, runs(1, 0)...), record(valuesKind, 1, 1, live...)}},
		{"slot 0 goes back from generation 7 to 6", [][]byte{record(valuesKind, 0, 1, live...), record(generationsKind, 0, 1, runs(1, 0)...)}},
		{"kind 2 begins at slot 0 instead of 1", [][]byte{record(generationsKind, 0, 1, runs(1, 0)...), record(generationsKind, 0, 1, runs(1, 2)...)}},
		{"make no sense", [][]byte{record(vacantKind, 0, 2, runs(1, 2)...)}},
		{"make no sense", [][]byte{record(vacantKind, 0, 2, runs(3, 2)...)}},
		{"make no sense", [][]byte{record(vacantKind, 0, 2, runs(2, 1)...)}},           // live
		{"make no sense", [][]byte{record(vacantKind, 0, 2, runs(2, 1<<32-8)...)}},     // exhausted
		{"make no sense", [][]byte{record(vacantKind, 0, 2, runs(2, 1<<32-1<<28)...)}}, // too old for a floor
		{"1 bytes after the last generation", [][]byte{record(vacantKind, 0, 2, append(runs(2, 2), 0)...)}},
		{"a record of 0 slots", [][]byte{record(vacantKind, 0, 0)}},
		{"kind 6 begins at slot 1 instead of 0", [][]byte{record(vacantKind, 1, 1, runs(1, 2)...)}},
		{"slots up to 4294966273; the limit is 4294966272", [][]byte{record(vacantKind, 0, 1, runs(1, 2)...), record(vacantKind, 1, 1<<32-1024, runs(1<<32-1024, 2)...)}},
		{"values of slot 1 after generations", [][]byte{record(generationsKind, 0, 1, runs(1, 0)...), record(vacantKind, 1, 1, runs(1, 2)...)}},
		{"kind 1 begins at slot 1 instead of 2", [][]byte{record(vacantKind, 0, 2, runs(2, 2)...), record(valuesKind, 1, 1, live...)}},
		{"padding of slots 0 to 0", [][]byte{record(paddingKind, 0, 1)}},
		{"padding of slots 1 to 0", [][]byte{record(paddingKind, 1, 0)}},
		{"generations of slots 0 to 1, where 1 were seen", [][]byte{record(valuesKind, 0, 1, live...), record(generationsKind, 0, 2, runs(2, 2)...)}},
		{"values of slot 2 after generations, skips or an order", [][]byte{two, skip(1), record(valuesKind, 2, 1, live...)}},
		{"values of slot 2 after generations, skips or an order", [][]byte{two, order, record(vacantKind, 2, 1, runs(1, 2)...)}},
		{"skips of slots 1 to 2, where 2 were seen", [][]byte{two, record(skipsKind, 1, 2, runs(2, 0)...)}},
		{"skips of slots 2 to 2, where 2 were seen", [][]byte{two, skip(2)}},
		{"skips of slots 1 to 1, where 2 were seen", [][]byte{two, order, skip(1)}},
		{"skips of slots 1 to 1, where 2 were seen", [][]byte{two, record(generationsKind, 0, 1, runs(1, 2)...), skip(1)}},
		{"kind 4 begins at slot 0 instead of 2", [][]byte{two, skip(1), skip(0)}},
		{"kind 4 begins at slot 1 instead of 2", [][]byte{two, skip(1), skip(1)}},
		{"a record of 0 slots", [][]byte{two, record(skipsKind, 0, 0)}},
		{"what slots 1 to 1 skip makes no sense", [][]byte{two, record(skipsKind, 1, 1, runs(2, 0)...)}},
		{"what slots 0 to 1 skip makes no sense", [][]byte{two, record(skipsKind, 0, 2, runs(1, 0)...)}},
		{"what slots 0 to 1 skip makes no sense", [][]byte{two, record(skipsKind, 0, 2, append(runs(2, 0), 0)...)}},
		{"part 1 of an order instead of part 0", [][]byte{two, record(orderKind, 1, 0)}},
		{"part 0 of an order instead of part 1", [][]byte{two, order, order}},
		{"part 0 of an order instead of part 0", [][]byte{two, record(orderKind, 0, 1)}},
		{"part 0 of an order instead of part 0", [][]byte{two, record(generationsKind, 0, 1, runs(1, 2)...), order}},
	} {
		err := refusal[[2]uint64](t, forge(c.records...))
		require.ErrorIs(t, err, pool.ErrCorrupt, "%v", c.text)
		assert.ErrorContains(t, err, c.text)
	}
	for _, change := range []func(h []byte){
		func(h []byte) { copy(h[17:], "\xff\xff\xff\xff") },                 // the first generation is beyond the last
		func(h []byte) { copy(h[17:], "\x00\x00\x00\x80") },                 // there is no such offset
		func(h []byte) { h[21] = 2 },                                        // slots that were never used begin vacant
		func(h []byte) { copy(h[21:], "\xff\xff\xff\xff") },                 // or have no life
		func(h []byte) { copy(h[17:], "\x00\x00\x00\x00\x01\x00\x00\x80") }, // the one that begins last has none
		func(h []byte) { h[25] = 0xFF },                                     // the name's length
	} {
		bad := bytes.Clone(head)
		change(bad)
		require.ErrorContains(t, refusal[[2]uint64](t, joined([][]byte{bad, end(0, 0)})), "the header makes no sense")
	}
	long := record(valuesKind, 0, 1)
	copy(long[12:], "\xff\xff\xff\xff")
	require.Regexp(t, `: a length of 4294967295 bytes; the limit is \d{4,10};`, refusal[[2]uint64](t, append(joined([][]byte{bytes.Clone(head)}), long...)))
	for _, v := range []byte{0, 1, 2, 3, 5} {
		bad := bytes.Clone(head)
		bad[8] = v
		err := refusal[[2]uint64](t, joined([][]byte{bad, end(0, 0)}))
		require.ErrorIs(t, err, pool.ErrVersion)
		require.ErrorContains(t, err, fmt.Sprintf(": it is %d, known is 4;", v))
	}
	for _, records := range [][][]byte{{two}, {two, skip(0), skip(1), order, record(orderKind, 1, 0)}, {two, skip(1), order, record(generationsKind, 1, 1, runs(1, 2)...)}} {
		_, err := pool.ReadFrom[[2]uint64](bytes.NewReader(forge(append(records, end(2, 0))...)), nil)
		require.NoError(t, err)
	}
	c, err := pool.ReadFrom[[2]uint64](bytes.NewReader(forge(record(valuesKind, 0, 1, live...), record(generationsKind, 0, 1, runs(1, 3)...), end(1, 1))), &pool.Options[[2]uint64]{Shards: 1, Origin: 7})
	require.NoError(t, err)
	require.Zero(t, c.Len(), "a value whose slot moved on")
	require.Equal(t, "0@13", testkit.MustInsert(t, c, [2]uint64{}).String(), "9 lived in the original, and 11 is burned")
}

// WriteTo refuses such types before anything is written, and so does ReadFrom.
func TestBothEndsRefuseTypes(t *testing.T) {
	const text = "field id is unexported"
	p := tiny[stamp](t, nil)
	testkit.MustInsert(t, p, stamp{})
	var b bytes.Buffer
	n, err := p.WriteTo(&b)
	require.ErrorIs(t, err, pool.ErrType)
	assert.ErrorContains(t, err, text)
	assert.Zero(t, n)
	assert.Zero(t, b.Len())
	c, err := pool.ReadFrom[stamp](&b, nil)
	require.ErrorIs(t, err, pool.ErrType)
	assert.ErrorContains(t, err, text)
	assert.Nil(t, c)
}

// A snapshot is one of its type alone: of how it is encoded, and of what it is made of, whatever its
// name.
func TestSnapshotOfAnotherType(t *testing.T) {
	one := testkit.Written(t, pool.Must[fixed](nil))
	changed := reseal(one, func(records [][]byte) {
		require.Equal(t, 1, bytes.Count(records[0], []byte("ToID uint64")))
		records[0] = bytes.Replace(records[0], []byte("ToID uint64"), []byte("ToNo uint64"), 1)
	})
	encoded := func(in []byte, was, is byte) []byte {
		return reseal(in, func(records [][]byte) {
			require.Equal(t, was, records[0][16])
			records[0][16] = is
		})
	}
	for text, err := range map[string]error{
		"pool_test.fixed, which was struct{ID uint64; ": refusal[fixed](t, changed),
		"ToID uint64; ": refusal[fixed](t, changed),
		"pool_test.fixed was written by MarshalBinary, and pool_test.fixed is encoded by its parts, with handles": refusal[fixed](t, encoded(one, 5, 2)),
		"string was written in way 9, and string is encoded by its parts":                                         refusal[string](t, encoded(testkit.Written(t, tiny[string](t, nil)), 3, 9)),
		"C complex64}, and is int: ReadFromFunc converts values":                                                  refusal[int](t, one),
	} {
		require.ErrorIs(t, err, pool.ErrType)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		assert.ErrorContains(t, err, text)
	}
}

// Errors of T's own methods, and of its parts', are returned with the handle of the value,
// panics go up, and no pin is left.
func TestErrorsOfMarshalers(t *testing.T) {
	testErrors(t, func(mood string) moody { return moody{mood: mood} })
	testErrors(t, func(mood string) mixed { return mixed{Moods: []*moody{nil, {mood: mood}}} })
}

func testErrors[T any](t *testing.T, value func(mood string) T) {
	p := tiny(t, &pool.Options[T]{Origin: 1, Shards: 1})
	testkit.MustInsert(t, p, value("fine"))
	h := testkit.MustInsert(t, p, value("error"))
	_, err := p.WriteTo(io.Discard)
	require.ErrorIs(t, err, errMood)
	require.EqualError(t, err, fmt.Sprintf("pool: WriteTo: value 1@1: not today; Pool[%v]", reflect.TypeFor[T]()))
	p.View(h, func(v *T) { *v = value("panic") })
	require.Equal(t, "a bad mood", testkit.Apart(func() { _, _ = p.WriteTo(io.Discard) }))
	require.Zero(t, p.Stats().Pinned)
	for mood, text := range map[string]string{"no": "not today", "fall": "decoding panicked: fell"} {
		p.View(h, func(v *T) { *v = value(mood) })
		err := refusal[T](t, testkit.Written(t, p))
		require.ErrorIs(t, err, pool.ErrCorrupt)
		require.Equal(t, mood == "no", errors.Is(err, errMood))
		require.ErrorContains(t, err, "value 1@1: "+text)
	}
}
