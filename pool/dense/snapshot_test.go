//go:build !race

package dense_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

func TestSnapshotOptions(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 7})
	fill(t, s, 10)
	b := testkit.Written(t, s)
	read := func(opts dense.Options[int]) error {
		_, err := dense.ReadFrom(bytes.NewReader(b), &opts)
		return err
	}
	require.NoError(t, read(dense.Options[int]{Capacity: 10, Origin: 7, Unordered: true}))
	small := read(dense.Options[int]{Capacity: 9})
	require.ErrorIs(t, small, pool.ErrFull)
	require.ErrorContains(t, small, "Capacity is 9: the value 9@1 lies beyond its 9 slots")
	require.ErrorContains(t, read(dense.Options[int]{Origin: 9}), "Origin is 9; the snapshot's generations begin at 7")
	require.ErrorContains(t, read(dense.Options[int]{Capacity: -1}), "Capacity is -1")
	_, err := dense.ReadFrom[string](bytes.NewReader(b), nil)
	require.ErrorIs(t, err, pool.ErrType)
	_, err = s.WriteTo(failing{})
	require.ErrorIs(t, err, errTest)
	require.NoError(t, dense.Check(s))

	s, err = dense.ReadFrom[int](bytes.NewReader(dense.Snapshot([]int{8}, []uint64{1 << 32, 5 << 32, 3 << 32})), &dense.Options[int]{Origin: 1})
	require.NoError(t, err)
	require.Equal(t, "1@5", create(t, s, 9).String(), "the slot may have had values before a Trim")
}

// TestReadFromFuncConverts: values keep their order and their handles, whose type changes.
func TestReadFromFuncConverts(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 7})
	hs := fill(t, s, 10)
	s.Kill(hs[3])
	s.Refresh()
	b := testkit.Written(t, s)
	c, err := dense.ReadFromFunc(bytes.NewReader(b), &dense.Options[string]{Origin: 7}, func(v *int) (string, error) { return strconv.Itoa(*v), nil })
	require.NoError(t, err)
	require.NoError(t, dense.Check(c))
	require.Equal(t, s.Len(), c.Len())
	for i, h := range s.Handles() {
		require.Equal(t, uint64(h), uint64(c.Handles()[i]))
		require.Equal(t, strconv.Itoa(s.Values()[i]), c.Values()[i])
	}
	h, h2 := create(t, s, 0), create(t, c, "")
	require.Equal(t, uint64(h), uint64(h2), "the copy goes on as the original")

	_, err = dense.ReadFromFunc(bytes.NewReader(b), nil, func(v *int) (string, error) { return "", errTest })
	require.ErrorIs(t, err, errTest)
	_, err = dense.ReadFromFunc(bytes.NewReader(b), nil, func(v *string) (string, error) { return "", nil })
	require.ErrorIs(t, err, pool.ErrType)
}

// short is a writer that has room for some bytes, and writes less without an error.
type short struct{ left int }

func (s *short) Write(b []byte) (int, error) {
	n := min(s.left, len(b))
	s.left -= n
	return n, nil
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errTest }

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
	b := testkit.Written(t, s)
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

// TestSnapshotGetsRoomForItsValues, and not for a value in each of its slots, which take few bytes
// in a forged one, and then 40 of memory and a handle, while they are read.
func TestSnapshotGetsRoomForItsValues(t *testing.T) {
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
		limit := 10*(len(large{})+8*slots) + 1<<20
		if testkit.Quarantine > 0 {
			limit += 8 * slots // a mark for each
		}
		require.Less(t, got, uint64(limit))
		require.Equal(t, large{1}, s.Values()[0])
		require.Equal(t, 1, s.Allocated())
		require.NoError(t, dense.Check(s))
	}
	type before struct {
		Name  string
		Cache [1 << 14]byte `coatcheck:"-"`
	}
	type cached struct {
		Name  string
		Cache [1 << 17]byte `coatcheck:"-"`
	}
	b := dense.Snapshot(make([]before, 200), []uint64{1 << 32, 1 << 32})
	require.Less(t, testkit.Allocated(func() {
		_, err := dense.ReadFromFunc(bytes.NewReader(b), nil, func(v *cached) (*cached, error) { return v, nil })
		require.ErrorContains(t, err, "takes more memory than so many bytes of a snapshot say")
	}), uint64(300*len(b)+1<<20), "what is converted takes memory too")
}

// TestSnapshotRefusesWhatIsCorrupt: anything but a whole snapshot is an error.
func TestSnapshotRefusesWhatIsCorrupt(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	fill(t, s, 20)
	b := testkit.Written(t, s)
	for i := range b {
		_, err := dense.ReadFrom[int](bytes.NewReader(b[:i]), nil)
		require.ErrorIs(t, err, pool.ErrCorrupt, "the first %d bytes", i)
		if i == 0 || i == len(b)-1 {
			require.EqualError(t, err, "dense: ReadFrom: "+pool.ErrCorrupt.Error()+": unexpected EOF; Store[int]")
		}
		bad := bytes.Clone(b)
		bad[i] ^= 1 << (i % 8)
		_, err = dense.ReadFrom[int](bytes.NewReader(bad), nil)
		require.True(t, errors.Is(err, pool.ErrCorrupt) || errors.Is(err, pool.ErrVersion), "byte %d: %v", i, err)
		if i == 0 {
			require.ErrorContains(t, err, "no snapshot of a store begins with")
		}
		_, err = dense.ReadFrom[int](io.MultiReader(bytes.NewReader(b[:i]), iotest.ErrReader(fmt.Errorf("%w: %w", errTest, io.EOF))), nil)
		require.ErrorIs(t, err, errTest, "after %d bytes", i)
		require.NotErrorIs(t, err, pool.ErrCorrupt)
		n, err := s.WriteTo(&short{i})
		require.ErrorIs(t, err, io.ErrShortWrite)
		require.EqualValues(t, i, n)
	}
	s.Kill(s.Handles()[0])
	s.Refresh()
	create(t, s, 20)
	s.Refresh()
	next := testkit.Written(t, s)
	for i := range b {
		mixed := slices.Concat(next[:i], b[i:])
		if !bytes.Equal(mixed, b) {
			_, err := dense.ReadFrom[int](bytes.NewReader(mixed), nil)
			require.ErrorIs(t, err, pool.ErrCorrupt, "a snapshot over which %d bytes of the next were written", i)
		}
	}
	type entry struct {
		handle uint64
		value  bool
	}
	one := func(h uint64) entry { return entry{h, true} }
	none := func(h uint64) entry { return entry{h, false} }
	const g1, g3, even, spent = 1 << 32, 3 << 32, 2 << 32, (testkit.LastGeneration + 2) << 32
	for what, entries := range map[string][]entry{
		"nothing":                      {},
		"no beginning":                 {none(0)},
		"an even beginning":            {none(even)},
		"a beginning after the last":   {none(spent)},
		"a beginning with an index":    {none(g1 + 1)},
		"an even handle":               {none(g1), one(even)},
		"a generation after the last":  {none(g1), none(spent)},
		"a value without a handle":     {none(g1), one(0)},
		"an index twice":               {none(g1), one(g1), one(g3)},
		"an index twice, free":         {none(g1), one(g1), none(g3)},
		"an index beyond the slots":    {none(g1), one(g1 + 1)},
		"a free slot never used":       {none(g1), none(g1)},
		"a slot after a spent one":     {none(g1), none(0), none(g3)},
		"a large index":                {none(g1), one(g1 + 1<<32 - 1)},
		"a free slot beyond the slots": {none(g1), none(g3 + 7)},
	} {
		var values []int
		var handles []uint64
		for i, e := range entries {
			if handles = append(handles, e.handle); i == 0 {
				handles = append(handles, e.handle)
			}
			if e.value {
				values = append(values, 0)
			}
		}
		_, err := dense.ReadFrom[int](bytes.NewReader(dense.Snapshot(values, handles)), nil)
		if assert.ErrorIs(t, err, pool.ErrCorrupt, what) {
			assert.NotContains(t, err.Error(), "%!", what)
		}
	}
}

// TestSnapshotRefusesNewSlotsBeforeTheFirst: new slots begin no earlier than the first ones, or Create would
// count back from there; and each has a life.
func TestSnapshotRefusesNewSlotsBeforeTheFirst(t *testing.T) {
	for _, first := range []uint64{0, 2, 1<<32 - 101, 1<<32 - 1} {
		b := dense.Snapshot([]int{7}, []uint64{101 << 32, first << 32, 101 << 32})
		_, err := dense.ReadFrom[int](bytes.NewReader(b), nil)
		require.ErrorIs(t, err, pool.ErrCorrupt)
		require.ErrorContains(t, err, "new slots do not begin with")
	}
	for _, first := range [][2]uint64{{1<<32 | 2, 1 << 32}, {1 << 32, 1<<32 | 1}, {1<<32 | 1<<31, 1 << 32}} {
		_, err := dense.ReadFrom[int](bytes.NewReader(dense.Snapshot([]int{7}, []uint64{first[0], first[1], 1 << 32})), nil)
		require.ErrorIs(t, err, pool.ErrCorrupt)
	}
}

// TestSnapshotsThatDoNotSayWhoChoseTheSlots: generations before Origin show that CreateAt has. The copy's Trim
// keeps these slots, and so their handles stay refused.
func TestSnapshotsThatDoNotSayWhoChoseTheSlots(t *testing.T) {
	const origin, had = 101 << 32, 99 << 32
	for _, b := range [][]byte{
		dense.Snapshot([]int{7}, []uint64{origin, 1 << 32, had}),
		dense.Snapshot([]int{}, []uint64{origin, 1 << 32, had + 2<<32}), // what a slot that waits will issue
	} {
		s, err := dense.ReadFrom(bytes.NewReader(b), &dense.Options[int]{Origin: 101})
		require.NoError(t, err)
		s.Clear()
		s.Trim()
		require.NoError(t, dense.Check(s))
		require.ErrorIs(t, s.CreateAt(had, 0), dense.ErrStale)
	}
	s, err := dense.ReadFrom(bytes.NewReader(dense.Snapshot([]int{}, []uint64{1 << 32, 1 << 32, 2 << 32})), &dense.Options[int]{Origin: 1})
	require.NoError(t, err)
	require.NoError(t, dense.Check(s), "only CreateAt passes over a slot")
}

// TestDrawnHandlesMakeAStoreOrAnError: whatever handles a snapshot has, with the right checksums, a Store
// made from it issues handles of its own that never lived before. It goes on after another snapshot.
func TestDrawnHandlesMakeAStoreOrAnError(t *testing.T) {
	rnd, read := testkit.Rand(t), 0
	generations := []uint64{0, 1, 2, 3, 4, 5, 7, 1<<31 - 1, 1 << 31, testkit.LastGeneration - 2, testkit.LastGeneration, testkit.LastGeneration + 1, testkit.LastGeneration + 2}
	for range testkit.Long(20_000) {
		n := rnd.IntN(6)
		values, handles := make([]int, rnd.IntN(n+1)), make([]uint64, 2+n)
		orderly := rnd.IntN(3) > 0 // else hardly any makes a store
		some := [4]uint64{2}       // so that several are equal
		for i := range some[1:] {
			some[1+i] = generations[rnd.IntN(len(generations))]
		}
		for i := range handles {
			g := some[rnd.IntN(len(some))]
			if orderly && g != 2 {
				g |= 1
			}
			index := uint64(i - 2)
			if i < 2 || rnd.IntN(8) == 0 {
				index = uint64(rnd.IntN(3)) * uint64(rnd.IntN(2))
			}
			handles[i] = g<<32 | index
			if i >= 2+len(values) && rnd.IntN(8) == 0 {
				handles[i] = 0
			}
		}
		for _, o := range []dense.Options[int]{{}, {Origin: uint32(handles[0] >> 32)}, {Capacity: 8}} {
			s, err := dense.ReadFrom[int](bytes.NewReader(dense.Snapshot(values, handles)), &o)
			if err != nil {
				continue
			}
			read++
			past := map[handle]bool{}
			for range 3 {
				for i := range 8 {
					if h, err := s.Create(i); err == nil {
						require.True(t, h.Generation()%2 == 1 && h.Generation() <= testkit.LastGeneration && !past[h], "%x: it issues %v", handles, h)
						past[h] = true
						for _, had := range handles[2:] { // of generation 2 is a slot that was passed over
							require.False(t, uint32(had) == h.Index() && had>>32 > uint64(max(2, h.Generation())), "%x: it issues %v", handles, h)
						}
					}
				}
				s.Refresh()
				require.NoError(t, dense.Check(s), "%x", handles)
				s.Trim()
				s.Clear()
				s = restored(t, s, &o)
			}
		}
	}
	require.Greater(t, read, 100)
}

// TestSavesAllocateByRecords: a save of each frame makes no garbage for each value.
func TestSavesAllocateByRecords(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const n = 10_000
	s := dense.Must[[4]uint64](nil)
	for i := range uint64(n) {
		create(t, s, [4]uint64{i})
	}
	s.Refresh()
	write := func() { _, _ = s.WriteTo(io.Discard) }
	require.LessOrEqual(t, testing.AllocsPerRun(3, write), 200.0)
	require.Less(t, testkit.Allocated(write), uint64(8*n+256<<10), "the handles, and buffers")
}

// TestWriteToComesAfterRefresh: the error says whose values wait for it.
func TestWriteToComesAfterRefresh(t *testing.T) {
	s := tiny(t, &dense.Options[int]{})
	hs := fill(t, s, 3)
	const text = "dense: WriteTo: values were created or killed since the last Refresh; call it first; Store[int]"
	_ = testkit.Written(t, s)
	for _, change := range []func(){func() { fill(t, s, 1); _, _ = s.Create(1) }, func() { s.Kill(hs[0]) }} {
		change()
		_, err := s.WriteTo(io.Discard)
		require.EqualError(t, err, text)
		s.Refresh()
		_ = testkit.Written(t, s)
	}
}
