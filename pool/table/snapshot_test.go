//go:build !race

package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

var (
	_ io.WriterTo   = (*table.Table[int, pair])(nil)
	_ io.ReaderFrom = (*table.Table[int, pair])(nil)
)

// saved is a record that can be written, by its parts.
type saved struct {
	ID   uint64
	Name string
	Tags []string
	In   struct{ X, Y float32 }
}

func savedOf(id int) saved {
	s := saved{ID: uint64(id), Name: strconv.Itoa(id), In: struct{ X, Y float32 }{float32(id), 1}}
	if id%3 == 0 {
		s.Tags = []string{s.Name}
	}
	return s
}

// requireRead reads a snapshot into tb, and requires that it reads no byte more.
func requireRead[K comparable, R any](t testing.TB, tb *table.Table[K, R], b []byte) {
	t.Helper()
	r := bytes.NewReader(append(slices.Clip(b), "more"...))
	n, err := tb.ReadFrom(iotest.HalfReader(r))
	require.NoError(t, err)
	require.EqualValues(t, len(b), n)
	require.Equal(t, len("more"), r.Len())
}

// other returns the other layout.
func other(l table.Layout) table.Layout { return table.AoS - l }

// TestSnapshotKeepsRecords: a copy has the same records by the same keys in the same order,
// whatever its layout is and whatever it held before.
func TestSnapshotKeepsRecords(t *testing.T) {
	type place struct {
		Map  string
		Line int
	}
	each(t, func(t *testing.T, l table.Layout) {
		for _, n := range []int{0, 1, 10} {
			testCopy(t, l, n, func(i int) int { return i - 5 })
			testCopy(t, l, n, func(i int) time.Time { return time.Unix(int64(i), 0).UTC() })
			testCopy(t, l, n, func(i int) place { return place{strconv.Itoa(i % 7), i} })
		}
		const piece = 256 << 10 / 64 // records, or fewer, since they are larger
		for _, n := range []int{piece - 1, 2 * piece} {
			testCopy(t, l, n, func(i int) uint16 { return uint16(i) })
			testCopy(t, l, n, func(i int) place { return place{strconv.Itoa(i % 7), i} })
		}
	})
}

func testCopy[K comparable](t *testing.T, l table.Layout, n int, key func(i int) K) {
	t.Helper()
	tb := of[K, saved](l)
	for i := range n + 1 {
		tb.Add(key(i), savedOf(i))
	}
	tb.RemoveAt(0) // the last one is the first now
	b := testkit.Written(t, tb)
	require.True(t, bytes.Equal(b, testkit.Written(t, tb)), "the same table writes the same bytes")

	c := of[K, saved](other(l))
	c.OnMove(func(K, table.Index, table.Index) { t.Error("OnMove is called") })
	ids := table.Column(c, func(r *saved) *uint64 { return &r.ID })
	for i := range 20 {
		c.Add(key(i+n-10), savedOf(-i))
	}
	requireRead(t, c, b)
	require.True(t, slices.Equal(tb.Keys(), c.Keys()), "the copy should have the same keys in the same order")
	require.Equal(t, n, ids.Len())
	for k, r := range tb.All() {
		got, ok := c.Get(k)
		require.True(t, ok)
		require.Equal(t, r, got)
		require.Equal(t, r.ID, *ids.At(c.Lookup(k)), "a View from before")
	}
	require.True(t, bytes.Equal(b, testkit.Written(t, c)), "the bytes should be the same")
	c.CloneFrom(tb, nil)
	require.True(t, bytes.Equal(b, testkit.Written(t, c)), "a clone should be what a snapshot is")
	require.EqualValues(t, n, c.Add(key(-1), savedOf(1)))
	require.EqualValues(t, n, ids.Len()-1)
}

// besidePool returns a table of records beside a pool's n values, of which every fifth, from the third on, was removed
// since, with all handles and those of the values that are left.
func besidePool(t *testing.T, l table.Layout, n int) (p *pool.Pool[int], tb *table.Table[handle, saved], hs, want []handle) {
	p = pool.Must[int](nil)
	hs = testkit.Fill(t, p, n, testkit.Number)
	tb = forHandles[saved](p, l)
	for i, h := range hs {
		tb.Add(h, savedOf(i))
	}
	for i, h := range hs {
		if i%5 == 2 {
			p.Remove(h)
		} else {
			want = append(want, h)
		}
	}
	return p, tb, hs, want
}

// TestSnapshotKeepsHandles: after a restart the handles that a pool issued before find their
// records. Those whose values have gone find nothing, and are left out.
func TestSnapshotKeepsHandles(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		const n = 2000
		p, tb, hs, want := besidePool(t, l, n)
		var values bytes.Buffer
		_, err := p.WriteTo(&values)
		require.NoError(t, err)
		b := testkit.Written(t, tb)

		q, err := pool.ReadFrom[int](&values, nil) // another process
		require.NoError(t, err)
		c := forHandles[saved](q, other(l))
		requireRead(t, c, b)
		require.Equal(t, want, c.Keys())
		require.Zero(t, c.RemoveDead())
		for i, h := range hs {
			if r, ok := c.Get(h); i%5 == 2 {
				require.False(t, ok)
			} else {
				require.Equal(t, savedOf(i), r)
			}
		}
		next := testkit.Fill(t, q, n, testkit.Number) // in the slots of the dead, and new ones
		for i, h := range next {
			require.EqualValues(t, len(want)+i, c.Add(h, savedOf(i)))
		}

		requireRead(t, c, b) // back again, in the same process
		require.Equal(t, want, c.Keys())
		require.Equal(t, table.None, c.Lookup(next[0]))

		stranger := forHandles[saved](pool.Must(&pool.Options[int]{Origin: 1}), l)
		requireRead(t, stranger, b)
		require.Zero(t, stranger.Len(), "a pool that knows none of the handles")
		require.Less(t, testkit.Allocated(func() { stranger.Grow(1) }), uint64(64<<10), "nothing is kept of them")
	})
}

// TestReadFromFuncConverts: records keep their keys and their order, whose type changes, also to
// one of another size, of which a piece has another number.
func TestReadFromFuncConverts(t *testing.T) {
	type long struct {
		Wide [40]uint64
		ID   int
	}
	each(t, func(t *testing.T, l table.Layout) {
		const n = 6000
		tb := of[int, pair](l)
		for i := range n {
			tb.Add(-i, pair{i, 2 * i})
		}
		tb.RemoveAt(0)
		b := testkit.Written(t, tb)
		c := of[int, long](other(l))
		c.Add(7, long{})
		calls := 0
		read, err := table.ReadFromFunc(c, bytes.NewReader(b), func(p *pair) (long, error) { calls++; return long{ID: p.B}, nil })
		require.NoError(t, err)
		require.EqualValues(t, len(b), read)
		require.Equal(t, n-1, calls)
		require.Equal(t, tb.Keys(), c.Keys())
		for k, r := range c.All() {
			require.Equal(t, -2*k, r.ID)
		}
		back := testkit.Written(t, c)
		_, err = table.ReadFromFunc(tb, bytes.NewReader(back), func(p *long) (pair, error) { return pair{p.ID, 0}, nil })
		require.NoError(t, err)
		require.Equal(t, tb.Keys(), c.Keys())

		full := fmt.Errorf("elsewhere: %w", pool.ErrFull)
		_, err = table.ReadFromFunc(c, bytes.NewReader(b), func(p *pair) (long, error) { return long{}, full })
		require.ErrorIs(t, err, full)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		_, err = c.ReadFrom(io.MultiReader(bytes.NewReader(b[:50]), iotest.ErrReader(full)))
		require.ErrorIs(t, err, full)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		_, err = table.ReadFromFunc(c, bytes.NewReader(b), func(p *saved) (long, error) { return long{}, nil })
		require.ErrorIs(t, err, pool.ErrType)
		require.Equal(t, n-1, c.Len(), "nothing has changed")
	})
}

// TestSnapshotRefusesWhatIsCorrupt: anything but a whole snapshot is an error, and the table
// stays as it was.
func TestSnapshotRefusesWhatIsCorrupt(t *testing.T) {
	tb := of[string, saved](table.SoA)
	for i := range 5 {
		tb.Add(strconv.Itoa(i), savedOf(i))
	}
	b := testkit.Written(t, tb)
	tb.RemoveAt(1)
	next := testkit.Written(t, tb)

	c := of[string, saved](table.AoS)
	c.Add("old", savedOf(7))
	errTest := fmt.Errorf("test: %w", io.EOF)
	refusal := func(r io.Reader) error {
		n, err := c.ReadFrom(r)
		require.LessOrEqual(t, n, int64(len(b)))
		require.Equal(t, []string{"old"}, c.Keys())
		require.Regexp(t, `^table: ReadFrom: after [0-9]+ bytes: .*; Table\[string, table_test.saved\]$`, err.Error())
		return err
	}
	for i := range b {
		err := refusal(bytes.NewReader(b[:i]))
		require.ErrorIs(t, err, pool.ErrCorrupt, "the first %d bytes", i)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		bad := bytes.Clone(b)
		bad[i] ^= 1 << (i % 8)
		err = refusal(bytes.NewReader(bad))
		require.True(t, errors.Is(err, pool.ErrCorrupt) || errors.Is(err, pool.ErrVersion), "byte %d: %v", i, err)
		err = refusal(io.MultiReader(bytes.NewReader(b[:i]), iotest.ErrReader(errTest)))
		require.ErrorIs(t, err, errTest, "after %d bytes", i)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		if mixed := slices.Concat(next[:min(i, len(next)-1)], b[i:]); !bytes.Equal(mixed, b) && !bytes.HasPrefix(mixed, next) { // what follows a snapshot is not read
			require.ErrorIs(t, refusal(bytes.NewReader(mixed)), pool.ErrCorrupt, "%d bytes of the next were written over it", i)
		}
	}
	r, ok := c.Get("old")
	require.True(t, ok)
	require.Equal(t, savedOf(7), r)
	for i := range int64(len(b)) {
		n, err := tb.WriteTo(&short{left: i})
		if i < int64(len(next)) {
			require.ErrorIs(t, err, errShort)
			require.Equal(t, i, n)
		}
	}
}

var errShort = errors.New("no more room")

// short is a writer with room for some bytes.
type short struct{ left int64 }

func (s *short) Write(b []byte) (int, error) {
	n := min(s.left, int64(len(b)))
	if s.left -= n; n < int64(len(b)) {
		return int(n), errShort
	}
	return int(n), nil
}

// silent is a writer that writes less than it should, and tells nobody.
type silent struct{}

func (silent) Write(b []byte) (int, error) { return len(b) / 2, nil }

// TestRecordsLargerThanAPiece: each has a piece of its own. A writer that writes less is refused.
func TestRecordsLargerThanAPiece(t *testing.T) {
	type huge struct{ A [300 << 10]byte }
	tb := of[int, huge](table.SoA)
	for i := range 3 {
		tb.Add(i, huge{[300 << 10]byte{byte(i)}})
	}
	_, err := tb.WriteTo(&short{left: 1 << 20})
	require.NoError(t, err)
	c := of[int, huge](table.AoS)
	requireRead(t, c, testkit.Written(t, tb))
	require.Equal(t, tb.Keys(), c.Keys())
	_, err = tb.WriteTo(silent{})
	require.ErrorIs(t, err, io.ErrShortWrite)
}

// TestReadFromSeesWhatItsReaderBegins: a change that is under way when the snapshot has been read is not run over.
func TestReadFromSeesWhatItsReaderBegins(t *testing.T) {
	tb, b := pairs(t, table.SoA, 3), testkit.Written(t, pairs(t, table.SoA, 5))
	next, stop := iter.Pull(func(yield func(int) bool) {
		tb.DeleteFunc(func(k int, _ table.Index) bool { return yield(k) })
	})
	defer stop()
	r := io.MultiReader(bytes.NewReader(b[:len(b)-1]), readerFunc(func(p []byte) (int, error) {
		next()
		return copy(p, b[len(b)-1:]), nil
	}))
	requirePanicText(t, func() { _, _ = tb.ReadFrom(r) }, "a function passed to DeleteFunc changes the table")
	require.Equal(t, 3, tb.Len())
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// dynamic is a key that decodes itself, perhaps as what a map cannot hash.
type dynamic struct{ v any }

func (d *dynamic) MarshalBinary() ([]byte, error) { return []byte(fmt.Sprint(d.v)), nil }

func (d *dynamic) UnmarshalBinary(b []byte) error {
	switch d.v = string(b); d.v {
	case "slice":
		d.v = b
	case "panic":
		panic("fell")
	}
	return nil
}

// tens is a number that encodes itself without its last digit, and folded a text that does so in one case.
type tens uint8

func (d tens) MarshalBinary() ([]byte, error) { return []byte{byte(d) / 10}, nil }

func (d *tens) UnmarshalBinary(b []byte) error { *d = tens(b[0] * 10); return nil }

type folded string

func (f folded) MarshalBinary() ([]byte, error) { return []byte(strings.ToLower(string(f))), nil }

func (f *folded) UnmarshalBinary(b []byte) error { *f = folded(b); return nil }

// TestSnapshotsThatAreForged: input with right checksums is checked all the same.
func TestSnapshotsThatAreForged(t *testing.T) {
	type entries = []table.Entry[float64, pair]
	one, two := entries{{Key: 1}}, entries{{Key: 1}, {Key: 2}}
	for what, b := range map[string][]byte{
		"a key twice":                  table.Forge(1, 2, entries{{Key: 1}, {Key: 1}}),
		"a key twice, in two pieces":   table.Forge(1, 2, one, one),
		"a key that is none":           table.Forge(1, 1, entries{{Key: math.NaN()}}),
		"fewer records than it says":   table.Forge(1, 3, one, entries{}),
		"more records than it says":    table.Forge(1, 1, two),
		"records where it says none":   table.Forge(1, 0, one),
		"an empty piece":               table.Forge(1, 1, entries{}, one),
		"no piece":                     table.Forge[float64, pair](1, 0),
		"more records than there are":  table.Forge(1, 1<<63, one),
		"as many as can be, but empty": table.Forge[float64, pair](1, math.MaxUint64),
	} {
		took := testkit.Allocated(func() {
			_, err := of[float64, pair](table.SoA).ReadFrom(bytes.NewReader(b))
			require.ErrorIs(t, err, pool.ErrCorrupt, what)
		})
		require.Less(t, took, uint64(512<<10), what)
	}
	a, b := table.Forge(1, 2, entries{{1, pair{1, 1}}}, entries{{2, pair{}}}), table.Forge(1, 2, entries{{1, pair{2, 2}}}, entries{{2, pair{}}})
	first := len(table.Forge(1, 2, one)) - 4
	for _, whole := range [][]byte{a, b} {
		_, err := of[float64, pair](table.SoA).ReadFrom(bytes.NewReader(whole))
		require.NoError(t, err)
	}
	_, err := of[float64, pair](table.SoA).ReadFrom(bytes.NewReader(slices.Concat(a[:first], b[first:])))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, "the checksum of the whole is")
	_, err = of[float64, pair](table.SoA).ReadFrom(bytes.NewReader(table.Forge(1, 3, two, entries{})))
	require.ErrorContains(t, err, "a piece of 0 records, where 1 are missing")

	_, err = of[float64, pair](table.SoA).ReadFrom(bytes.NewReader(table.Forge(2, 1, one)))
	require.ErrorIs(t, err, pool.ErrVersion)
	require.ErrorContains(t, err, "it is 2, known is 1")

	h := pool.Handle[int](1 << 32)
	p := pool.Must(&pool.Options[int]{Origin: 1})
	require.Equal(t, h, testkit.MustInsert(t, p, 1))
	_, err = forHandles[pair](p, table.SoA).ReadFrom(bytes.NewReader(table.Forge(1, 2, []table.Entry[handle, pair]{{Key: h}, {Key: h}})))
	require.ErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, "key 0@1 of record 1")

	falls, err := table.ForLive[int, pair](func(handle) bool { panic(errTest) }, table.SoA)
	require.NoError(t, err)
	require.Equal(t, errTest, testkit.Recovered(func() {
		_, _ = falls.ReadFrom(bytes.NewReader(table.Forge(1, 1, []table.Entry[handle, pair]{{Key: h}})))
	}), "a panic of the program's function continues")

	for v, text := range map[string]string{"slice": "a key: runtime error: ", "panic": "fell"} {
		_, err = of[dynamic, pair](table.AoS).ReadFrom(bytes.NewReader(table.Forge(1, 1, []table.Entry[dynamic, pair]{{Key: dynamic{v}}})))
		require.ErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, text)
	}
}

// TestSnapshotRefusesTypes: what would lose something is refused, before anything is written,
// and so is a snapshot of other types, of an empty table too.
func TestSnapshotRefusesTypes(t *testing.T) {
	type hidden struct{ id int }
	refused(t, 1, hidden{1}, "field Record.id is unexported")
	refused(t, new(int), saved{}, "not equal to its copy")
	refused(t, any(1), saved{}, "interface values cannot be written")
	refused(t, time.Now(), saved{}, "not equal to its copy") // with a monotonic reading
	refused(t, dynamic{7}, saved{}, "not equal to its copy")
	refused(t, tens(17), saved{}, "not equal to its copy") // 10 and 17 would become one
	refused(t, folded("Ann"), saved{}, "not equal to its copy")

	for _, n := range []int{0, 3} {
		tb := of[int, saved](table.SoA)
		for i := range n {
			tb.Add(i, savedOf(i))
		}
		b := testkit.Written(t, tb)
		_, err := of[int, pair](table.SoA).ReadFrom(bytes.NewReader(b))
		require.ErrorIs(t, err, pool.ErrType)
		_, err = of[string, saved](table.SoA).ReadFrom(bytes.NewReader(b))
		require.ErrorIs(t, err, pool.ErrType)
	}
	requirePanicText(t, func() { _, _ = new(table.Table[int, pair]).WriteTo(io.Discard) }, "zero Table")
}

func refused[K comparable, R any](t *testing.T, k K, r R, text string) {
	t.Helper()
	tb := of[K, R](table.AoS)
	tb.Add(k, r)
	n, err := tb.WriteTo(&short{})
	require.ErrorIs(t, err, pool.ErrType)
	require.ErrorContains(t, err, text)
	require.Zero(t, n)
}

// TestSnapshotTakesLittleMemory: memory grows with the input, and a table is written without a
// copy of it.
func TestSnapshotTakesLittleMemory(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	type large struct{ A [1 << 12]byte }
	const vacant = 4000
	forged := table.ForgeVacant(1, 3, vacant, []table.Entry[int, large]{{Key: 1}}, []table.Entry[int, large]{{Key: 2}}, []table.Entry[int, large]{{Key: 3}})
	require.Less(t, len(forged), 3*vacant*10)
	d := of[int, large](table.SoA)
	require.Less(t, testkit.Allocated(func() { requireRead(t, d, forged) }), uint64(2<<20), "vacant slots would take 16 MB a piece")
	require.Equal(t, 3, d.Len())
	empty := table.ForgeVacant(1, 0, vacant, []table.Entry[int, large]{})
	require.Less(t, testkit.Allocated(func() { requireRead(t, d, empty) }), uint64(2<<20))
	require.Zero(t, d.Len())

	type cached struct {
		Name  string
		Cache [1 << 18]byte `coatcheck:"-"`
	}
	type kept struct{ *cached }
	type before struct {
		Name  string
		Cache [1 << 13]byte `coatcheck:"-"`
	}
	var pieces [][]table.Entry[int, before]
	for i := range 20 {
		pieces = append(pieces, []table.Entry[int, before]{{Key: i}})
	}
	short := table.Forge(1, 20, pieces...)
	require.Less(t, testkit.Allocated(func() {
		_, err := table.ReadFromFunc(of[int, kept](table.SoA), bytes.NewReader(short), func(v *cached) (kept, error) { return kept{v}, nil })
		require.ErrorContains(t, err, "takes more memory than so many bytes of a snapshot say")
	}), uint64(300*len(short)+1<<20), "what is converted takes memory too")

	const n = 100_000
	tb := of[uint32, struct{ A, B uint64 }](table.SoA)
	for i := range uint32(n) {
		tb.Add(i, struct{ A, B uint64 }{uint64(i), 1})
	}
	b := testkit.Written(t, tb)
	require.Less(t, testkit.Allocated(func() { _, _ = tb.WriteTo(io.Discard) }), uint64(6*len(b)))
	c := of[uint32, struct{ A, B uint64 }](table.SoA)
	const inMemory = n * (4 + 16) // where a number takes more than in the snapshot
	require.Less(t, testkit.Allocated(func() { requireRead(t, c, b) }), uint64(16*inMemory))
}

// TestSavesAllocateByRecords: a save of each frame makes no garbage for each record, whatever the
// keys are.
func TestSavesAllocateByRecords(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	testSaves(t, func(i int) uint32 { return uint32(i) })
	testSaves(t, func(i int) string { return fmt.Sprint(i) })
	testSaves(t, func(i int) [2]uint32 { return [2]uint32{uint32(i)} }) // each is compared with its copy
}

func testSaves[K comparable](t *testing.T, key func(i int) K) {
	const n = 10_000
	for _, l := range []table.Layout{table.SoA, table.AoS} {
		tb := of[K, struct{ V [4]uint64 }](l)
		for i := range n {
			tb.Add(key(i), struct{ V [4]uint64 }{[4]uint64{uint64(i)}})
		}
		write := func() { _, _ = tb.WriteTo(io.Discard) }
		require.LessOrEqual(t, testing.AllocsPerRun(3, write), 400.0, "%T", *new(K))
		require.Less(t, testkit.Allocated(write), uint64(512<<10), "%T", *new(K))
	}
}
