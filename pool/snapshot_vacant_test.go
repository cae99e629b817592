//go:build !race

package pool_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// TestTrimmedPoolIsWrittenInShort: a pool that had a peak and was trimmed has a short snapshot, and ReadFrom allocates
// no page that has no memory in the original. A replay goes on as the original does.
func TestTrimmedPoolIsWrittenInShort(t *testing.T) {
	const peak, left = 1 << 19, 100
	for _, opts := range []pool.Options[plain]{{}, {Origin: 1, Shards: 1}, {Reuse: pool.FIFO}, {Origin: 1, Shards: 1, Reuse: pool.FIFO}} {
		p := pool.Must(&opts)
		hs := testkit.Fill(t, p, peak, func(int) plain { return plain{} })
		require.Equal(t, peak-left, p.RemoveBatch(hs[left:]))
		testkit.RequireReclaimed(t, p)
		require.Positive(t, p.Trim())
		in := testkit.Written(t, p)
		require.Less(t, len(in), 1000+left*8)
		var c *pool.Pool[plain]
		got := testkit.Allocated(func() { c = mustRead(t, in, &opts) })
		if !testkit.Watched {
			require.Less(t, got, uint64(150_000), "bytes")
		}
		require.LessOrEqual(t, testkit.RequireConserved(t, c).Allocated, testkit.RequireConserved(t, p).Allocated)
		again := testkit.Written(t, c)
		require.Less(t, len(again), len(in)+100, "the snapshot of the copy")
		if opts.Origin == 0 {
			continue
		}
		for i := range 3 * left {
			h := testkit.MustInsert(t, p, plain{})
			require.Equal(t, h, testkit.MustInsert(t, c, plain{}), "insertion %d", i)
			if i%3 == 0 {
				require.True(t, p.Remove(h), "the value should be live")
				require.True(t, c.Remove(h), "the value should be live")
			}
		}
		p.Trim()
		c.Trim()
		require.Equal(t, p.Stats().Allocated, c.Stats().Allocated)
		require.Equal(t, testkit.MustInsert(t, p, plain{}), testkit.MustInsert(t, c, plain{}))
	}
}

// TestCopyKeepsPromisesInVacantPages: the handle of a Reservation whose page needs no memory in the copy is not issued
// there.
func TestCopyKeepsPromisesInVacantPages(t *testing.T) {
	const peak = 1 << 13
	opts := &pool.Options[plain]{Origin: 1, Shards: 2}
	p := pool.Must(opts)
	hs := testkit.Fill(t, p, peak, func(int) plain { return plain{} })
	require.Equal(t, peak-10, p.RemoveBatch(hs[10:]))
	testkit.RequireReclaimed(t, p)
	promised := map[pool.Handle[plain]]bool{}
	for range 100 {
		r := mustReserve(t, p)
		defer r.Cancel()
		promised[r.Handle()] = true
	}
	in := testkit.Written(t, p)
	c := mustRead(t, in, opts)
	require.Less(t, c.Stats().Allocated, p.Stats().Allocated, "pages in which nothing lives need no memory, however many shards took part")
	for _, h := range testkit.Fill(t, c, peak-10, func(int) plain { return plain{} }) {
		require.False(t, promised[h], "%v is promised", h)
	}
}

// TestPagesOfTwoTypesShareFloors: slots whose pages have no memory in the original may share a page with values in the
// copy. Their handles are not issued again.
func TestPagesOfTwoTypesShareFloors(t *testing.T) {
	type large [4096]byte
	for _, stays := range []uint32{0, 130, 200, 400} {
		p := pool.Must(&pool.Options[large]{Origin: 1, Shards: 2})
		issued := map[uint64]bool{}
		var kept pool.Handle[large]
		for round := range 4 {
			for _, h := range testkit.Fill(t, p, 500-round, func(int) large { return large{} }) {
				if issued[uint64(h)] = true; round == 3 && (h.Index() == stays || kept.IsZero()) {
					kept = h
				}
			}
			for h := range p.All() {
				if h != kept {
					p.Remove(h)
				}
			}
			require.NoError(t, p.Synchronize(t.Context()))
		}
		require.True(t, p.Contains(kept), "the value should be live")
		require.Positive(t, p.Trim())
		c, err := pool.ReadFromFunc(bytes.NewReader(testkit.Written(t, p)), &pool.Options[uint32]{Origin: 1, Shards: 2}, func(*large) (uint32, error) { return 7, nil })
		require.NoError(t, err)
		require.EqualValues(t, 7, c.MustGet(pool.Handle[uint32](kept)))
		testkit.RequireConserved(t, c)
		for _, h := range testkit.Fill(t, c, 600, func(int) uint32 { return 1 }) {
			require.False(t, issued[uint64(h)], "%v is issued again", h)
		}
		testkit.RequireConserved(t, c)
	}
}

// TestVacantSlotsOfManyStages: a snapshot in which each vacant slot has another stage than the one before has several
// records of them, of which none is lost.
func TestVacantSlotsOfManyStages(t *testing.T) {
	const n = 300_000 // two bytes each, so that a record of 256 KiB ends
	opts := &pool.Options[struct{}]{Shards: 1}
	p := pool.Must(opts)
	hs := testkit.Fill(t, p, n, func(int) struct{} { return struct{}{} })
	var half []pool.Handle[struct{}]
	for i := 0; i < n; i += 2 {
		half = append(half, hs[i])
	}
	require.Equal(t, n/2, p.RemoveBatch(half))
	testkit.RequireReclaimed(t, p)
	testkit.Fill(t, p, n/2, func(int) struct{} { return struct{}{} }) // the second life of each second slot
	p.Clear()
	in := testkit.Written(t, p)
	vacant := 0
	for _, record := range cut(in) {
		require.NotEqual(t, byte(generationsKind), record[0], "nothing has changed between the two looks")
		if record[0] == vacantKind {
			vacant++
			require.Less(t, len(record), 300<<10)
		}
	}
	require.Greater(t, vacant, 1)
	requireCopy(t, p, mustRead(t, in, opts))
	for failing := range 1 + vacant {
		_, err := p.WriteTo(&moodyWriter{failing: failing})
		require.ErrorIs(t, err, errMood, "the error of write %d", failing)
	}
}

// TestSnapshotsOfThisVersionAreRead: a file that was written when the format was new is read, with its order. To renew
// it, delete it and run the test, which writes it.
func TestSnapshotsOfThisVersionAreRead(t *testing.T) {
	const name = "testdata/snapshots/version-4"
	opts := &pool.Options[uint64]{Origin: 101, Shards: 1}
	p := pool.Must(opts)
	hs := testkit.Fill(t, p, 3000, func(i int) uint64 { return uint64(i) })
	require.Equal(t, 2950, p.RemoveBatch(hs[50:]))
	testkit.RequireReclaimed(t, p)
	require.Positive(t, p.Trim())
	require.Equal(t, 10, p.RemoveBatch(hs[20:30]))
	in, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		require.NoError(t, os.WriteFile(name, testkit.Written(t, p), 0o644))
		t.Fatal("written: ", name)
	}
	require.NoError(t, err)
	c := mustRead(t, in, opts)
	requireCopy(t, p, c)
	require.Equal(t, p.Stats().Allocated, c.Stats().Allocated)
	for range 3000 {
		require.Equal(t, testkit.MustInsert(t, p, 0), testkit.MustInsert(t, c, 0))
	}
}
