package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard"
)

type bulky [1 << 17]byte

// valuesAt returns where in a record its values begin.
func valuesAt(record []byte) int {
	rest := record[16:]
	for slots := binary.LittleEndian.Uint32(record[8:]); slots > 0; {
		n, k := binary.Uvarint(rest)
		_, l := binary.Uvarint(rest[k:])
		rest = rest[k+l:]
		slots -= uint32(n)
	}
	return len(record) - len(rest)
}

const (
	valuesKind = 1 + iota
	generationsKind
	endKind
)

// end is the record that ends a snapshot.
func end(slots uint32, values uint64) []byte {
	return record(endKind, slots, 0, binary.LittleEndian.AppendUint64(nil, values)...)
}

// runs encodes generations of slots: how many, and which, counted from one before
// the first.
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
	return err
}

// sample is a small snapshot, and a function that reads it with a change.
type sample struct {
	whole []byte
	read  func(in []byte) error
}

// samples are snapshots in each encoding, with live, vacant and stale slots.
func samples(t testing.TB) map[string]sample {
	return map[string]sample{
		"fixed":     sampleOf(t, fixedOf),
		"marshaler": sampleOf(t, moodyOf),
		"parts":     sampleOf(t, func(i int) mixed { return mixed{Name: fmt.Sprint(i), Tags: []string{"a"}} }),
	}
}

func sampleOf[T any](t testing.TB, value func(int) T) sample {
	p := testkit.Tiny(t, &pool.Options[T]{Shards: 1, Origin: 7})
	hs := testkit.Fill(t, p, 4, value)
	p.RemoveBatch(hs[1:3])
	return sample{snapshotOf(t, p), func(in []byte) error { return refusal[T](t, in) }}
}

// A snapshot cut anywhere is refused, and the error says that bytes are missing.
func TestTruncatedSnapshots(t *testing.T) {
	for name, s := range samples(t) {
		for n := range s.whole {
			err := s.read(s.whole[:n:n])
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %d of %d bytes", name, n, len(s.whole))
			require.ErrorIs(t, err, pool.ErrCorrupt)
			require.ErrorContains(t, err, "at byte ")
		}
	}
}

// A snapshot with any bit of its header flipped is refused, and with a bit of any other byte.
func TestFlippedBits(t *testing.T) {
	rnd := testkit.Rand(t)
	for name, s := range samples(t) {
		for i := range s.whole {
			bits := []int{0, 1, 2, 3, 4, 5, 6, 7}
			if i >= 24 {
				bits = bits[:1]
				bits[0] = rnd.IntN(8)
			}
			for _, bit := range bits {
				in := bytes.Clone(s.whole)
				in[i] ^= 1 << bit
				err := s.read(in)
				if i < 8 {
					require.ErrorIs(t, err, pool.ErrCorrupt, "%s: the magic", name)
				} else if i < 12 {
					require.ErrorIs(t, err, pool.ErrVersion, "%s: the version", name)
				}
			}
		}
	}
}

// Records in another order, twice, or from another snapshot do not pass, although
// each is whole.
func TestMovedRecords(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[[2]uint64]{Origin: 1, Shards: 1})
	testkit.Fill(t, p, 5, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
	a := snapshotOf(t, p)
	for _, v := range p.All() {
		v[0]++
	}
	b := snapshotOf(t, p)
	whole := func(snapshot []byte) (records [][]byte) { // with checksums
		for _, r := range cut(snapshot) {
			records = append(records, snapshot[:len(r)+4:len(r)+4])
			snapshot = snapshot[len(r)+4:]
		}
		return records
	}
	ra, rb := whole(a), whole(b)
	require.Len(t, ra, 2+3, "header, three pages, end")
	refused := func(records ...[]byte) {
		t.Helper()
		refusal[[2]uint64](t, bytes.Join(records, nil))
	}
	refused(ra[0], ra[1], ra[1], ra[2], ra[3], ra[4])
	refused(ra[0], ra[2], ra[1], ra[3], ra[4])
	refused(ra[0], ra[1], ra[3], ra[4])
	refused(ra[0], ra[1], ra[2], ra[4])
	refused(ra[0], ra[0], ra[1], ra[2], ra[3], ra[4])
	refused(ra[0], ra[1], ra[2], rb[3], ra[4])
	refused(ra[0], rb[1], rb[2], rb[3], ra[4])
	refused(ra[1], ra[2], ra[3], ra[4])
	_, err := pool.ReadFrom[[2]uint64](bytes.NewReader(bytes.Join(rb, nil)), nil)
	require.NoError(t, err)
}

// Input with right checksums is checked all the same.
func TestForgedSnapshots(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[[2]uint64]{Origin: 7, Shards: 1})
	head := cut(snapshotOf(t, p))[0]
	value := make([]byte, 16)
	live := append(runs(1, 1), value...)
	forge := func(records ...[]byte) []byte {
		return joined(append([][]byte{bytes.Clone(head)}, records...))
	}
	for _, c := range []struct {
		text    string
		records [][]byte
	}{
		{"no record is of kind 0x4", [][]byte{record(4, 0, 0)}},
		{"no record is of kind 0x101", [][]byte{{1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}}},
		{"the end tells of 1 values, but there were 0", [][]byte{end(0, 1)}},
		{"the end tells of 0 values, but there were 1", [][]byte{record(valuesKind, 0, 1, live...), end(1, 0)}},
		{"kind 3 begins at slot 2 instead of 1", [][]byte{record(valuesKind, 0, 1, live...), end(2, 1)}},
		{"an end of 7 bytes", [][]byte{record(endKind, 0, 0, 1, 2, 3, 4, 5, 6, 7)}},
		{"an end with 1 slots", [][]byte{record(endKind, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)}},
		{"a record of 0 slots", [][]byte{record(valuesKind, 0, 0)}},
		{"a record of 4294967295 slots; the limit is 1365", [][]byte{record(valuesKind, 0, 1<<32-1, runs(1<<32-1, 0)...)}},
		{"a record of 1366 slots", [][]byte{record(valuesKind, 0, 1366, runs(1366, 0)...)}},
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
		{"generations of slots 0 to 1, where 1 were seen", [][]byte{record(valuesKind, 0, 1, live...), record(generationsKind, 0, 2, runs(2, 2)...)}},
	} {
		err := refusal[[2]uint64](t, forge(c.records...))
		require.ErrorIs(t, err, pool.ErrCorrupt, "%v", c.text)
		assert.ErrorContains(t, err, c.text)
	}
	for _, change := range []func(h []byte){
		func(h []byte) { h[17] = 6 },                        // the first generation is even
		func(h []byte) { copy(h[17:], "\xff\xff\xff\xff") }, // and beyond the last
		func(h []byte) { h[25] = 0xFF },                     // the name's length
	} {
		bad := bytes.Clone(head)
		change(bad)
		require.ErrorContains(t, refusal[[2]uint64](t, joined([][]byte{bad, end(0, 0)})), "the header makes no sense")
	}
	c, err := pool.ReadFrom[[2]uint64](bytes.NewReader(forge(record(valuesKind, 0, 1, live...), record(generationsKind, 0, 1, runs(1, 3)...), end(1, 1))), &pool.Options[[2]uint64]{Shards: 1})
	require.NoError(t, err)
	require.Zero(t, c.Len(), "a value whose slot moved on")
	require.Equal(t, "0@13", testkit.MustInsert(t, c, [2]uint64{}).String(), "9 lived in the original, and 11 is burned")
}

// Lengths are not trusted: nothing is allocated for bytes that do not come.
func TestHostileLengths(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	head := cut(snapshotOf(t, testkit.Tiny(t, &pool.Options[[2]uint64]{Origin: 1})))[0]
	lying := func(kind byte, slots, length uint32) []byte {
		in := append(joined([][]byte{bytes.Clone(head)}), record(kind, 0, slots)...)
		binary.LittleEndian.PutUint32(in[len(in)-4:], length)
		return in
	}
	for name, in := range map[string][]byte{
		"a payload of 1 GiB": lying(valuesKind, 1, 1<<30),
		"a payload of 4 GiB": lying(valuesKind, 1, 1<<32-1),
		"an end of 1 GiB":    lying(endKind, 0, 1<<30),
		"a header of 4 GiB":  append(bytes.Clone(head[:12]), 0xff, 0xff, 0xff, 0xff),
	} {
		require.LessOrEqual(t, testkit.Allocated(func() { refusal[[2]uint64](t, in) }), uint64(1<<20), name)
	}
	// A value that says that it has 2^60 bytes.
	head = cut(snapshotOf(t, testkit.Tiny(t, &pool.Options[moody]{Origin: 1})))[0]
	in := joined([][]byte{head, record(valuesKind, 0, 1, append(runs(1, 1), runs(1<<60)...)...)})
	require.LessOrEqual(t, testkit.Allocated(func() { refusal[moody](t, in) }), uint64(1<<20))
}

// chain is a value with n in all, each of which leads to the next.
func chain(n int) (v mixed) {
	for range n - 1 {
		v = mixed{Next: &mixed{Next: v.Next}}
	}
	return v
}

// A value that is nested too deep is refused before anything follows it to the end
// of the stack, which would be the end of the program. A cycle has no end.
func TestDeepValues(t *testing.T) {
	p := testkit.Tiny[mixed](t, &pool.Options[mixed]{Origin: 1})
	h := testkit.MustInsert(t, p, chain(1))
	records := cut(snapshotOf(t, p))
	head, value := records[1][:valuesAt(records[1])], records[1][valuesAt(records[1]):]
	require.Zero(t, value[0], "no Next; what follows is the rest of its fields")
	deep := func(n int) []byte {
		r := slices.Concat(head, bytes.Repeat([]byte{1}, n-1), value[:1], bytes.Repeat(value[1:], n))
		return joined([][]byte{bytes.Clone(records[0]), r, bytes.Clone(records[2])})
	}
	c, err := pool.ReadFrom[mixed](bytes.NewReader(deep(1000)), nil)
	require.NoError(t, err)
	require.Equal(t, chain(1000), c.MustGet(h))
	for _, n := range []int{1001, 300_000} {
		err = refusal[mixed](t, deep(n))
		require.ErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, "value "+h.String()+": it is nested deeper than 1000 pointers")
	}

	cycle := new(mixed)
	cycle.Next = cycle
	p.View(h, func(v *mixed) { *v = chain(1000) })
	requireCopy(t, p, copyOf(t, p, nil))
	for _, v := range []mixed{chain(1001), chain(300_000), *cycle} {
		p.View(h, func(to *mixed) { *to = v })
		_, err = p.WriteTo(io.Discard)
		require.ErrorIs(t, err, pool.ErrType)
		require.ErrorContains(t, err, "value "+h.String()+": ")
		require.ErrorContains(t, err, "or leads back to itself")
	}
}

// Vacant slots take few bytes to claim and much memory, which keeps to its bound: 32 KiB, or a
// slot, for 20 bytes.
func TestHostileVacancies(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	testVacancies[struct{}](t, 2048)
	testVacancies[[2]uint64](t, 32<<10/24)
	testVacancies[mixed](t, uint32(32<<10/unsafe.Sizeof(shard.Slot[mixed]{})))
	testVacancies[bulky](t, 1)
}

func testVacancies[T any](t *testing.T, most uint32) {
	const records = 200
	all := cut(snapshotOf(t, pool.Must(&pool.Options[T]{Origin: 1})))[:1]
	for i := range uint32(records) {
		all = append(all, record(valuesKind, i*most, most, runs(uint64(most), 0)...))
	}
	in := joined(append(all, end(records*most, 0)))
	require.Greater(t, len(in), 20*records)
	slot := uint64(unsafe.Sizeof(shard.Slot[T]{}))
	page := slot << shard.PageShift(uintptr(slot), pool.MaxCapacity, false)
	got := testkit.Allocated(func() {
		p, err := pool.ReadFrom[T](bytes.NewReader(in), nil)
		require.NoError(t, err)
		st := testkit.RequireConserved(t, p)
		require.GreaterOrEqual(t, st.Free, records*int(most))
	})
	require.LessOrEqual(t, got, records*max(32<<10, slot)*11/10+page+1<<20, "from %d bytes", len(in))
}

// A reader may return any number of bytes at a time, and its errors are returned as they are.
func TestReadersOfSnapshots(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[mixed]{Shards: 1})
	testkit.Fill(t, p, 3, mixedOf)
	snapshot := snapshotOf(t, p)
	for name, r := range map[string]io.Reader{
		"a byte":   iotest.OneByteReader(bytes.NewReader(snapshot)),
		"half":     iotest.HalfReader(bytes.NewReader(snapshot)),
		"EOF with": iotest.DataErrReader(bytes.NewReader(snapshot)),
	} {
		c, err := pool.ReadFrom[mixed](r, nil)
		require.NoError(t, err, name)
		requireCopy(t, p, c)
	}
	q := testkit.Tiny(t, &pool.Options[fixed]{Shards: 1})
	testkit.Fill(t, q, 3, fixedOf)
	snapshot = snapshotOf(t, q)
	for n := range snapshot {
		r := io.MultiReader(bytes.NewReader(snapshot[:n]), iotest.ErrReader(errMood))
		_, err := pool.ReadFrom[fixed](r, nil)
		require.ErrorIs(t, err, errMood)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, fmt.Sprintf("pool: ReadFrom: at byte %d: ", n))
	}
}

// WriteTo stops at a writer's error, and returns it with the count of bytes.
func TestWritersThatFail(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[[2]uint64]{Shards: 1})
	testkit.Fill(t, p, 25, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
	whole := snapshotOf(t, p)
	for room := range len(whole) {
		w := &narrow{room: room}
		n, err := p.WriteTo(w)
		require.ErrorIs(t, err, errMood)
		require.EqualValues(t, room, n)
		require.Equal(t, string(whole[:room]), w.String())
	}
	_, err := p.WriteTo(&narrow{room: 40, quiet: true})
	require.ErrorIs(t, err, io.ErrShortWrite)
	testkit.RequireReclaimed(t, p) // nothing is pinned
}

// narrow is a writer with room for so many bytes.
type narrow struct {
	bytes.Buffer
	room  int
	quiet bool // says nothing about what did not fit
}

func (w *narrow) Write(b []byte) (int, error) {
	k := min(len(b), w.room)
	w.room -= k
	w.Buffer.Write(b[:k])
	if k < len(b) && !w.quiet {
		return k, errMood
	}
	return k, nil
}

// WriteTo refuses such types before anything is written, and so does ReadFrom.
func TestBothEndsRefuseTypes(t *testing.T) {
	const text = "field id is unexported"
	p := testkit.Tiny[stamp](t, nil)
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
	in := reseal(snapshotOf(t, testkit.Tiny[string](t, nil)), func(records [][]byte) {
		require.Equal(t, byte(4), records[0][16])
		records[0][16] = 3
	})
	err := refusal[string](t, in)
	require.ErrorIs(t, err, pool.ErrType)
	require.ErrorContains(t, err, "string was written by gob, and is now encoded by its parts")
}

// Errors of T's own methods are returned with the handle of the value, panics go up, and no
// pin is left.
func TestErrorsOfMarshalers(t *testing.T) {
	p := testkit.Tiny[moody](t, &pool.Options[moody]{Origin: 1, Shards: 1})
	testkit.MustInsert(t, p, moody{mood: "fine"})
	h := testkit.MustInsert(t, p, moody{mood: "error"})
	_, err := p.WriteTo(io.Discard)
	require.ErrorIs(t, err, errMood)
	require.EqualError(t, err, "pool: WriteTo: value 1@1: not today")
	testkit.RequireReclaimed(t, p) // nothing is pinned

	p.Remove(h)
	h = testkit.MustInsert(t, p, moody{mood: "panic"})
	require.Equal(t, "a bad mood", testkit.Apart(func() { _, _ = p.WriteTo(io.Discard) }))
	require.Zero(t, p.Stats().Pinned)

	p.Remove(h)
	h = testkit.MustInsert(t, p, moody{mood: "no"})
	_, err = pool.ReadFrom[moody](bytes.NewReader(snapshotOf(t, p)), nil)
	require.ErrorIs(t, err, errMood)
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("value %v: not today", h))

	p.Remove(h)
	h = testkit.MustInsert(t, p, moody{mood: "fall"})
	err = refusal[moody](t, snapshotOf(t, p))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("value %v: decoding panicked: fell", h))
}

// The same within a value that is written by its parts.
func TestErrorsOfParts(t *testing.T) {
	p := testkit.Tiny[mixed](t, &pool.Options[mixed]{Origin: 1})
	h := testkit.MustInsert(t, p, mixed{Moods: []*moody{nil, {mood: "error"}}})
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

// A key that cannot be hashed is an error, not a panic.
func TestUnhashableKeysAreCorrupt(t *testing.T) {
	p := testkit.Tiny[mixed](t, nil)
	testkit.MustInsert(t, p, mixed{Keys: map[unhashable]int{{"a"}: 1}})
	err := refusal[mixed](t, snapshotOf(t, p))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, "hash of unhashable type []uint8")
}

// A bool of the copy is 0 or 1, whatever its byte in the snapshot is.
func TestForgedBool(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[fixed]{Origin: 1})
	h := testkit.MustInsert(t, p, fixed{On: [2]bool{true, true}})
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
