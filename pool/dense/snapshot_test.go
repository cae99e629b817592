package dense_test

import (
	"bytes"
	"errors"
	"testing"

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
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errTest }

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
		assert.ErrorIs(t, err, pool.ErrCorrupt, what)
	}
}
