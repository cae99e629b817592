package dense_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// written returns a snapshot of s.
func written[T any](t testing.TB, s *dense.Store[T]) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := s.WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

func TestSnapshotOptions(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 7})
	fill(t, s, 10)
	b := written(t, s)
	read := func(opts dense.Options[int]) error {
		_, err := dense.ReadFrom(bytes.NewReader(b), &opts)
		return err
	}
	require.NoError(t, read(dense.Options[int]{Capacity: 10, Origin: 7, Unordered: true}))
	require.ErrorIs(t, read(dense.Options[int]{Capacity: 9}), pool.ErrFull)
	require.ErrorContains(t, read(dense.Options[int]{Origin: 9}), "Origin is 9; the snapshot's generations begin at 7")
	require.ErrorContains(t, read(dense.Options[int]{Capacity: -1}), "Capacity is -1")
	_, err := dense.ReadFrom[string](bytes.NewReader(b), nil)
	require.ErrorIs(t, err, pool.ErrType)
	_, err = s.WriteTo(failing{})
	require.ErrorIs(t, err, errTest)
	require.NoError(t, dense.Check(s))

	s, err = dense.ReadFrom[int](bytes.NewReader(dense.Snapshot([]int{8}, []uint64{1 << 32, 5 << 32, 3 << 32})), &dense.Options[int]{Origin: 1})
	require.NoError(t, err)
	require.Equal(t, "1@5", create(t, s, 9).String(), "the slot may have had values that an earlier version gave up")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errTest }

// TestSnapshotsOfEarlierVersions reads a snapshot that has values, a free slot and an
// exhausted one.
func TestSnapshotsOfEarlierVersions(t *testing.T) {
	const old = "89636f61740d0a1a01000000420000000489fc2f12000000001364656e73652e73617665645b737472696e675d247374727563747b" +
		"48616e646c652075696e7436343b2056616c7565202a737472696e677dd0a689da0100000000000000400000004900000006013a00000000" +
		"00fbffffff0002000000fbffffff01010000006303000000fbffffff01010000006404000000fbffffff01010000006501000000fdffffff" +
		"00000000000000000000939e7590030000004000000000000000080000000600000000000000d3b0ec4a"
	b, err := hex.DecodeString(old)
	require.NoError(t, err)
	s, err := dense.ReadFrom(bytes.NewReader(b), &dense.Options[string]{Capacity: 5, Origin: testkit.LastGeneration - 2})
	require.NoError(t, err)
	require.Equal(t, []string{"c", "d", "e"}, s.Values())
	require.Equal(t, "[2@4294967291 3@4294967291 4@4294967291]", fmt.Sprint(s.Handles()))
	require.Equal(t, 5, s.Cap())
	require.Equal(t, "1@4294967293", create(t, s, "next").String())
	require.NoError(t, dense.Check(s))
}

// TestSnapshotsHaveThePoolsTypes: a store writes the types that a pool does, under the same
// names. A local type is the same whichever types of its name come before it.
func TestSnapshotsHaveThePoolsTypes(t *testing.T) {
	type padded struct {
		_    [1000]byte
		Name string
	}
	s := dense.Must[padded](nil)
	create(t, s, padded{Name: "a"})
	s.Refresh()
	b := written(t, s)
	{
		type padded struct {
			_    [1000]byte
			Name string
		}
		c, err := dense.ReadFrom[padded](bytes.NewReader(b), nil)
		require.NoError(t, err)
		require.Equal(t, []padded{{Name: "a"}}, c.Values())
	}
}

// TestSnapshotGetsRoomForItsValues, and not for a value in each of its slots, which take 8 bytes
// in a forged one.
func TestSnapshotGetsRoomForItsValues(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	type large [1 << 16]byte
	for _, slots := range []int{2_000, 100_000} {
		handles := slices.Repeat([]uint64{1 << 32}, 2+slots)
		for i := range slots {
			handles[2+i] = 3<<32 + uint64(i)
		}
		b := dense.Snapshot([]large{{1}}, handles)
		var s *dense.Store[large]
		got := testkit.Allocated(func() {
			var err error
			s, err = dense.ReadFrom(bytes.NewReader(b), &dense.Options[large]{Capacity: 100})
			require.NoError(t, err)
		})
		t.Logf("%d bytes of memory from %d", got, len(b))
		require.Less(t, got, uint64(10*len(b)+1<<20))
		require.Equal(t, large{1}, s.Values()[0])
		require.Equal(t, 1, s.Allocated())
		require.NoError(t, dense.Check(s))
	}
}

// TestSnapshotRefusesWhatIsCorrupt: anything but a whole snapshot is an error.
func TestSnapshotRefusesWhatIsCorrupt(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	fill(t, s, 20)
	b := written(t, s)
	for i := range b {
		_, err := dense.ReadFrom[int](bytes.NewReader(b[:i]), nil)
		require.ErrorIs(t, err, pool.ErrCorrupt, "the first %d bytes", i)
		bad := bytes.Clone(b)
		bad[i] ^= 1 << (i % 8)
		_, err = dense.ReadFrom[int](bytes.NewReader(bad), nil)
		require.True(t, errors.Is(err, pool.ErrCorrupt) || errors.Is(err, pool.ErrVersion), "byte %d: %v", i, err)
		_, err = dense.ReadFrom[int](io.MultiReader(bytes.NewReader(b[:i]), iotest.ErrReader(errTest)), nil)
		require.ErrorIs(t, err, errTest, "after %d bytes", i)
	}
	s.Kill(s.Handles()[0])
	s.Refresh()
	create(t, s, 20)
	s.Refresh()
	next := written(t, s)
	for i := range b {
		mixed := slices.Concat(next[:i], b[i:])
		if !bytes.Equal(mixed, b) {
			_, err := dense.ReadFrom[int](bytes.NewReader(mixed), nil)
			require.ErrorIs(t, err, pool.ErrCorrupt, "a snapshot over which %d bytes of the next were written", i)
		}
	}
	one := func(h uint64) dense.Saved[int] { return dense.Saved[int]{Handle: h, Value: new(int)} }
	none := func(h uint64) dense.Saved[int] { return dense.Saved[int]{Handle: h} }
	const g1, g3, even, spent = 1 << 32, 3 << 32, 2 << 32, (testkit.LastGeneration + 2) << 32
	for what, entries := range map[string][]dense.Saved[int]{
		"nothing":                      {},
		"no beginning":                 {none(0)},
		"an even beginning":            {none(even)},
		"a beginning after the last":   {none(spent)},
		"a beginning with an index":    {none(g1 + 1)},
		"a beginning with a value":     {one(g1)},
		"an even handle":               {none(g1), one(even)},
		"a generation after the last":  {none(g1), none(spent)},
		"a value without a handle":     {none(g1), one(0)},
		"an index twice":               {none(g1), one(g1), one(g3)},
		"an index twice, free":         {none(g1), one(g1), none(g3)},
		"an index beyond the slots":    {none(g1), one(g1 + 1)},
		"a value after a free slot":    {none(g1), none(g1), one(g1 + 1)},
		"a slot after a spent one":     {none(g1), none(0), none(g1)},
		"a large index":                {none(g1), one(g1 + 1<<32 - 1)},
		"a free slot beyond the slots": {none(g1), none(g1 + 7)},
	} {
		p := pool.Must(&pool.Options[dense.Saved[int]]{Shards: 1})
		for _, e := range entries {
			_, err := p.Insert(e)
			require.NoError(t, err)
		}
		var b bytes.Buffer
		_, err := p.WriteTo(&b)
		require.NoError(t, err)
		_, err = dense.ReadFrom[int](&b, nil)
		assert.ErrorIs(t, err, pool.ErrCorrupt, "%s, in an earlier version", what)

		var values []int
		var handles []uint64
		for i, e := range entries {
			if handles = append(handles, e.Handle); i == 0 {
				handles = append(handles, e.Handle)
			}
			if e.Value != nil {
				values = append(values, 0)
			}
		}
		if what == "a beginning with a value" || what == "a value after a free slot" {
			continue // the values are not among the handles any more
		}
		_, err = dense.ReadFrom[int](bytes.NewReader(dense.Snapshot(values, handles)), nil)
		assert.ErrorIs(t, err, pool.ErrCorrupt, what)
	}
}
