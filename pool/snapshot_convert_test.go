//go:build !race

package pool_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// converts writes a pool of n values of Old, some of them removed, and requires that it can be read
// as a pool of New, with the same handles.
func converts[Old, New any](t *testing.T, n int, value func(int) Old, convert func(*Old) (New, error)) {
	t.Helper()
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[Old]{Reuse: reuse, Shards: 3})
		hs := testkit.Fill(t, p, n, value)
		p.RemoveBatch(hs[n/3 : n/2])
		snapshot := testkit.Written(t, p)
		for _, o := range []pool.Options[New]{{}, {Capacity: n + 1000}, {Reuse: pool.FIFO, Shards: 1}} {
			c, err := pool.ReadFromFunc(bytes.NewReader(snapshot), &o, convert)
			require.NoError(t, err)
			require.Equal(t, p.Len(), c.Len())
			for i, h := range hs {
				got, ok := c.Get(pool.Handle[New](h))
				if require.Equal(t, i < n/3 || i >= n/2, ok, "%v", h); ok {
					old := value(i)
					want, err := convert(&old)
					require.NoError(t, err)
					require.Equal(t, want, got)
				}
			}
			testkit.RequireConserved(t, c)
			var v New
			testkit.MustInsert(t, c, v)
		}
	}
}

// Values of all encodings become larger and smaller ones, and such as no snapshot could have.
func TestReadFromFuncConverts(t *testing.T) {
	converts(t, 3000, fixedOf, func(v *fixed) (uint8, error) { return uint8(v.ID), nil })
	converts(t, 3000, fixedOf, func(v *fixed) (wide [100]uint64, _ error) { wide[99] = v.ID; return wide, nil })
	converts(t, 3000, fixedOf, func(v *fixed) (any, error) { return v.ID, nil })
	converts(t, 300, func(int) struct{} { return struct{}{} }, func(*struct{}) (string, error) { return "new", nil })
	converts(t, 300, moodyOf, func(v *moody) (string, error) { return v.mood, nil })
	converts(t, 300, mixedOf, func(v *mixed) (*mixed, error) { return v, nil }) // each has its own
	converts(t, 300, mixedOf, func(v *mixed) ([]string, error) { return v.Tags, nil })
	converts(t, 300, func(i int) cached { return cached{A: uint8(i)} }, func(v *cached) (*cached, error) { return v, nil })
}

// An error of the conversion is returned with the handle, and its panic goes up.
func TestReadFromFuncFails(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Origin: 1, Shards: 1})
	testkit.Fill(t, p, 5, testkit.Number)
	snapshot := testkit.Written(t, p)
	c, err := pool.ReadFromFunc(bytes.NewReader(snapshot), nil, func(v *int) (string, error) {
		if *v == 3 {
			return "", errMood
		}
		return fmt.Sprint(*v), nil
	})
	require.Nil(t, c)
	require.ErrorIs(t, err, errMood)
	require.NotErrorIs(t, err, pool.ErrCorrupt)
	require.EqualError(t, err, "pool: ReadFrom: value 2@1: not today; Pool[string]")
	require.Equal(t, "a bad mood", testkit.Recovered(func() {
		_, _ = pool.ReadFromFunc(bytes.NewReader(snapshot), nil, func(*int) (string, error) { panic("a bad mood") })
	}))
	_, err = pool.ReadFromFunc(bytes.NewReader(snapshot), nil, func(*string) (int, error) { return 0, nil })
	require.ErrorIs(t, err, pool.ErrType)
	require.ErrorContains(t, err, "the values are of int, which was int, and are read as string, which is string: ReadFromFunc converts values")
	_, err = pool.ReadFromFunc(bytes.NewReader(snapshot), nil, func(*chan int) (int, error) { return 0, nil })
	require.ErrorIs(t, err, pool.ErrType)
	_, err = pool.ReadFromFunc(bytes.NewReader(snapshot), &pool.Options[string]{Capacity: 4}, func(*int) (string, error) { return "", nil })
	require.ErrorIs(t, err, pool.ErrFull)
	for n := range snapshot {
		_, err := pool.ReadFromFunc(bytes.NewReader(snapshot[:n]), nil, func(*int) (string, error) { return "", nil })
		require.ErrorIs(t, err, pool.ErrCorrupt)
	}
}

// learned reads what it wrote, and what was written before it could.
type learned struct{ text string }

func (l *learned) MarshalBinary() ([]byte, error) { return []byte("text:" + l.text), nil }
func (l *learned) UnmarshalBinary(b []byte) error {
	text, ok := strings.CutPrefix(string(b), "text:")
	if l.text = text; !ok {
		l.text = fmt.Sprintf("%q", b)
	}
	if len(b) == 0 {
		return errMood
	}
	return nil
}

// A type that has gained UnmarshalBinary since the snapshot was written gets what was written, of
// each value its own. What it does not know is another type.
func TestTypeThatReadsItselfIsAsked(t *testing.T) {
	type pair struct{ A, B uint16 }
	p := paired(t, &pool.Options[pair]{Shards: 1})
	a := testkit.MustInsert(t, p, pair{1, 2})
	b := testkit.MustInsert(t, p, pair{'a', 'b'})
	c := mustRead[learned](t, testkit.Written(t, p), nil)
	require.Equal(t, `"\x01\x00\x02\x00"`, c.MustGet(pool.Handle[learned](a)).text)
	require.Equal(t, `"a\x00b\x00"`, c.MustGet(pool.Handle[learned](b)).text)
	again := mustRead[learned](t, testkit.Written(t, c), nil)
	require.Equal(t, contents(c), contents(again))

	texts := tiny(t, &pool.Options[string]{Shards: 1})
	h := testkit.MustInsert(t, texts, "once")
	k := testkit.MustInsert(t, texts, "twice")
	c = mustRead[learned](t, testkit.Written(t, texts), nil)
	require.Equal(t, `"\x04once"`, c.MustGet(pool.Handle[learned](h)).text)
	require.Equal(t, `"\x05twice"`, c.MustGet(pool.Handle[learned](k)).text)

	nothing := tiny(t, &pool.Options[struct{}]{Shards: 1, Origin: 1})
	testkit.MustInsert(t, nothing, struct{}{})
	err := refusal[learned](t, testkit.Written(t, nothing))
	require.ErrorIs(t, err, pool.ErrType)
	require.NotErrorIs(t, err, pool.ErrCorrupt)
	require.ErrorContains(t, err, "value 0@1: ")

	// Of fixed size, the values of a record have as many bytes each.
	torn := reseal(testkit.Written(t, p), func(records [][]byte) { records[1] = append(records[1], 0) })
	require.ErrorIs(t, refusal[learned](t, torn), pool.ErrCorrupt)
}

// Fields that the tag leaves out are zero in the copy. They may be added, and removed, without a
// change of the type.
func TestTagLeavesOutFields(t *testing.T) {
	type before struct {
		Name string
		N    int
	}
	type now struct {
		mu   sync.Mutex `coatcheck:"-"`
		Name string
		Hits atomic.Int64 `coatcheck:"-"`
		N    int
		Done chan struct{} `json:",omitempty" coatcheck:"-"`
	}
	p := tiny(t, &pool.Options[now]{Shards: 1})
	h, err := p.InsertFunc(func(_ pool.Handle[now], v *now) {
		v.Name, v.N, v.Done = "a", 7, make(chan struct{})
		v.Hits.Store(3)
		v.mu.Lock()
	})
	require.NoError(t, err)
	snapshot := testkit.Written(t, p)
	c := mustRead[now](t, snapshot, nil)
	require.True(t, c.View(h, func(v *now) {
		require.Equal(t, "a7", fmt.Sprint(v.Name, v.N))
		require.Zero(t, v.Hits.Load())
		require.Nil(t, v.Done)
		require.True(t, v.mu.TryLock(), "the mutex should not be locked in the copy")
	}), "the value should be live")
	b := mustRead[before](t, snapshot, nil)
	require.Equal(t, before{"a", 7}, b.MustGet(pool.Handle[before](h)))
	require.Equal(t, 1, mustRead[now](t, testkit.Written(t, b), nil).Len())
}

// A float32 that is not a number has its bits in the copy.
func TestSnapshotKeepsNaNs(t *testing.T) {
	type gaps struct {
		On bool
		F  float32
	}
	p := tiny(t, &pool.Options[gaps]{Shards: 1})
	h := testkit.MustInsert(t, p, gaps{F: math.Float32frombits(0x7fa00001)})
	v, ok := mustRead[gaps](t, testkit.Written(t, p), nil).Get(h)
	require.True(t, ok, "the value should be live")
	require.EqualValues(t, 0x7fa00001, math.Float32bits(v.F))
}
