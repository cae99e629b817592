//go:build !race

package pool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// testRoundTrip copies pools of values, with vacant slots between them, through readers that
// return any number of bytes at a time, and takes nothing that follows. What becomes of handles
// is for the model test.
func testRoundTrip[T any](t *testing.T, most int, value func(int) T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[T]{Reuse: reuse, Shards: 3})
		hs := testkit.Fill(t, p, most, value)
		p.RemoveBatch(hs[most/3 : most/2])
		snapshot := testkit.Written(t, p)
		for _, with := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			in := with(io.MultiReader(bytes.NewReader(snapshot), strings.NewReader("and more")))
			c, err := pool.ReadTiny(in, &pool.Options[T]{Reuse: reuse, Shards: 2}, 1)
			require.NoError(t, err)
			requireCopy(t, p, c)
			rest, err := io.ReadAll(in)
			require.NoError(t, err)
			require.Equal(t, "and more", string(rest))
		}
	}
}

// What an encoding makes of values of other kinds is for package codec's tests.
func TestSnapshotRoundTrip(t *testing.T) {
	testRoundTrip(t, testkit.Long(3000), fixedOf)
	testRoundTrip(t, testkit.Long(3000), func(int) struct{} { return struct{}{} })
	testRoundTrip(t, 3, func(i int) bulky { return bulky{byte(i)} }) // each larger than the slots of a record
	testRoundTrip(t, 100, moodyOf)
	testRoundTrip(t, 100, mixedOf)
}

// A copy fits into a pool of the same Capacity. Of a preallocated pool it has all its memory, counts
// of holders among it.
func TestCopyFitsItsCapacity(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{1, 2, 70} {
			opts := &pool.Options[[2]uint64]{Capacity: capacity, Reuse: reuse}
			p := pool.Must(opts)
			for range 3 {
				p.Clear()
				testkit.Fill(t, p, capacity, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
			}
			c, err := pool.ReadFrom(bytes.NewReader(testkit.Written(t, p)), opts)
			require.NoError(t, err)
			requireCopy(t, p, c)
		}
		opts := &pool.Options[[2]uint64]{Capacity: 3000, Preallocate: true, Reuse: reuse, Shards: 2}
		p := pool.Must(opts)
		hs := testkit.Fill(t, p, 60, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
		c, err := pool.ReadFrom(bytes.NewReader(testkit.Written(t, p)), opts)
		require.NoError(t, err)
		requireCopy(t, p, c)
		before := c.Stats()
		require.GreaterOrEqual(t, before.Allocated, opts.Capacity)
		mustHold(t, c, hs[0]).Release()
		testkit.Fill(t, c, 2940, func(int) [2]uint64 { return [2]uint64{} })
		require.Equal(t, before.Bytes, c.Stats().Bytes)
	}
}

// ReadFrom returns an error that says which option does not fit.
func TestCopyThatDoesNotFit(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: 5})
	hs := testkit.Fill(t, p, 20, testkit.Number)
	for _, c := range []struct {
		opts pool.Options[int]
		text string
	}{
		{pool.Options[int]{Capacity: 19}, "Options.Capacity is 19: the value 19@5 lies beyond its 19 slots"},
		{pool.Options[int]{Origin: 7}, "pool: Options.Origin is 7; the original began at 5"},
		{pool.Options[int]{Capacity: -1}, "Options.Capacity"},
	} {
		_, err := pool.ReadFrom(bytes.NewReader(testkit.Written(t, p)), &c.opts)
		require.ErrorContains(t, err, c.text)
		require.Equal(t, c.opts.Capacity > 0, errors.Is(err, pool.ErrFull), err)
	}
	copyOf(t, p, &pool.Options[int]{Origin: 4}) // 4|1

	// What is vacant beyond the last value needs no slot.
	require.Equal(t, 10, p.RemoveBatch(hs[10:]))
	c, err := pool.ReadFrom(bytes.NewReader(testkit.Written(t, p)), &pool.Options[int]{Capacity: 10})
	require.NoError(t, err)
	requireCopy(t, p, c)
	requireRefusal(t, c, pool.ErrFull, "ten values")
	for _, h := range hs[10:] {
		require.False(t, c.Contains(h), "the value should be gone")
	}
}

// A value that was seen live is encoded as that incarnation, also if it is removed first: its
// slot waits for the snapshot's pin.
func TestSnapshotPinsWhatItEncodes(t *testing.T) {
	p := tiny(t, &pool.Options[moody]{Capacity: 2, Shards: 1})
	meddled := 0
	var next pool.Handle[moody]
	meddle := func() {
		meddled++
		require.True(t, p.Remove(next), "the value should be live")
		_, err := p.Insert(moody{mood: "another"})
		require.ErrorIs(t, err, pool.ErrStalled, "the slot is reused while it is encoded")
	}
	h := testkit.MustInsert(t, p, moody{"first", meddle})
	next = testkit.MustInsert(t, p, moody{mood: "second"})
	c := copyOf(t, p, nil)
	require.Equal(t, 1, meddled)
	v, ok := c.Get(h)
	require.True(t, ok, "the value should be live")
	require.Equal(t, "first", v.mood)
	require.False(t, c.Contains(next), "it was removed before the second look")
	testkit.MustInsert(t, p, moody{mood: "another"})
}

// Synchronize waits for the pin of a snapshot or a clone. Where these pin nothing, because the pool replays, it leaves
// the value that they read.
func TestSynchronizeBesideASnapshot(t *testing.T) {
	for _, o := range []pool.Options[moody]{{}, {Origin: 1, Shards: 1}} {
		p := tiny(t, &o)
		var h pool.Handle[moody]
		done, cancel := context.WithCancel(t.Context())
		cancel()
		calls := 0
		remove := func() {
			calls++
			require.True(t, p.Remove(h), "the value should be live")
			if err := p.Synchronize(done); o.Origin == 0 {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, 1, p.Stats().Limbo, "the slot is reclaimed while it is read")
		}
		h = testkit.MustInsert(t, p, moody{"", remove})
		testkit.Written(t, p)
		require.NoError(t, p.Synchronize(t.Context()))
		h = testkit.MustInsert(t, p, moody{})
		mustClone(t, p, nil, func(dst, src *moody) { remove() })
		require.Equal(t, 2, calls)
	}
}

// WriteTo stops at a writer's error, and returns it with the count of bytes.
func TestWritersThatFail(t *testing.T) {
	p := tiny(t, &pool.Options[[2]uint64]{Shards: 1})
	testkit.Fill(t, p, 25, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
	whole := testkit.Written(t, p)
	for room := range len(whole) {
		for _, fails := range []error{errMood, nil} {
			w := &narrow{room: room, err: fails}
			n, err := p.WriteTo(w)
			if fails == nil {
				fails = io.ErrShortWrite
			}
			require.ErrorIs(t, err, fails)
			require.EqualValues(t, room, n)
			require.Equal(t, string(whole[:room]), w.String())
		}
	}
	testkit.RequireReclaimed(t, p) // nothing is pinned
}

// TestWritersThatFailOnce: WriteTo stops at the first error, also where the next write would succeed.
func TestWritersThatFailOnce(t *testing.T) {
	opts := pool.Options[[2]uint64]{Shards: 1, Origin: 1}
	p := pool.Must(&opts)
	hs := testkit.Fill(t, p, 2000, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
	require.Equal(t, 100, p.RemoveBatch(hs[:100]))
	for _, p := range []*pool.Pool[[2]uint64]{p, mustRead(t, testkit.Written(t, p), &opts), mustRead(t, testkit.Written(t, p), &pool.Options[[2]uint64]{Shards: 1})} {
		failed := 0
		for failing := 0; failing == failed; failing++ {
			w := &moodyWriter{failing: failing}
			_, err := p.WriteTo(w)
			if w.writes > failing {
				require.ErrorIs(t, err, errMood, "the error of write %d", failing)
				failed++
			}
		}
		require.Greater(t, failed, 3)
		testkit.RequireReclaimed(t, p) // nothing is pinned
	}
}

// TestWritersThatFailBesideChanges: so it does where values come and go meanwhile, and where the snapshot is longer than
// its values because the copy needs so much memory.
func TestWritersThatFailBesideChanges(t *testing.T) {
	opts := pool.Options[[2]uint64]{Shards: 1, Origin: 1}
	for _, c := range []struct {
		to       pool.Options[[2]uint64]
		n, apart int // values before, and how far apart those lie that stay
	}{{opts, 20_000, 3000}, {pool.Options[[2]uint64]{Shards: 1}, 20_000, 3000}, {opts, 2000, 1}, {opts, 40_000, 20_000}} {
		n, apart, to := c.n, c.apart, c.to
		p := pool.Must(&opts)
		hs := testkit.Fill(t, p, n, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
		var gone []pool.Handle[[2]uint64]
		for i, h := range hs {
			if i%apart > 0 {
				gone = append(gone, h)
			}
		}
		require.Equal(t, len(gone), p.RemoveBatch(gone))
		p.Trim()
		in, failed := testkit.Written(t, p), 0
		for failing := 0; failing == failed; failing++ {
			c := mustRead(t, in, &to)
			k := 0
			w := &moodyWriter{failing: failing, meddle: func() {
				testkit.Fill(t, c, 100, func(int) [2]uint64 { return [2]uint64{} })
				c.Remove(hs[k])
				k = (k + apart) % n
			}}
			_, err := c.WriteTo(w)
			if w.writes > failing {
				require.ErrorIs(t, err, errMood, "the error of write %d", failing)
				failed++
			}
		}
		require.Greater(t, failed, 5)
	}
}

// moodyWriter fails in one write, and panics in the next one. It calls meddle, if it has one, in each.
type moodyWriter struct {
	failing, writes int
	meddle          func()
}

func (w *moodyWriter) Write(b []byte) (int, error) {
	if w.meddle != nil {
		w.meddle()
	}
	switch w.writes++; w.writes {
	case w.failing + 1:
		return 0, errMood
	case w.failing + 2:
		panic("a write after one that has failed")
	}
	return len(b), nil
}

// narrow is a writer with room for so many bytes.
type narrow struct {
	bytes.Buffer
	room int
	err  error // of what did not fit
}

func (w *narrow) Write(b []byte) (int, error) {
	k := min(len(b), w.room)
	w.room -= k
	w.Buffer.Write(b[:k])
	if k < len(b) {
		return k, w.err
	}
	return k, nil
}

// TestSavesAllocateByRecords: a save of each frame makes no garbage for each value, also in a pool
// that replays, whose values are held one after the other.
func TestSavesAllocateByRecords(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const n = 10_000
	for _, o := range []pool.Options[fixed]{{}, {Origin: 1, Shards: 1}} {
		p := pool.Must(&o)
		testkit.Fill(t, p, n, fixedOf)
		got := testing.AllocsPerRun(3, func() { _, _ = p.WriteTo(io.Discard) })
		require.LessOrEqual(t, got, 200.0, "of %d values, Origin %d", n, o.Origin)
	}
}
