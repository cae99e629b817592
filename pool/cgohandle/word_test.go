//go:build !race

package cgohandle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// TestNarrowWordsAreNeverGivenOutTwice: a slot issues each of its words once, and then it
// is exhausted. The code for 32-bit platforms is tested on all.
func TestNarrowWordsAreNeverGivenOutTwice(t *testing.T) {
	slots := 1
	if !testkit.Short() {
		slots = 3
	}
	opts := narrowOptions[int]()
	opts.Shards = 1
	p := pool.Must(opts)
	testkit.Fill(t, p, 1<<indexBits-slots, func(int) int { return 0 }) // so that others are exhausted soon
	seen := make(map[uint32]bool)
	insert := func() (w uint32, full any) {
		h, err := insertNarrow(p, 0)
		if err != nil {
			return 0, err
		}
		return narrow(uint64(h)), nil
	}
	if !wide {
		insert = func() (w uint32, full any) {
			full = testkit.Recovered(func() { w = uint32((*Table[int])(p).New(0)) })
			return w, full
		}
	}
	for {
		w, full := insert()
		if full != nil {
			require.Contains(t, fmt.Sprint(full), pool.ErrFull.Error())
			break
		}
		require.False(t, seen[w], "%#x", w)
		seen[w] = true
		require.True(t, p.Remove(pool.Handle[int](widen(w))), "the wide handle should be live")
	}
	require.Len(t, seen, slots*lives)
	if !wide {
		require.Equal(t, 1<<indexBits-slots, (*Table[int])(p).Len(), "without what fills the slots whose indexes do not fit")
	}
	for w := range seen {
		require.False(t, p.Contains(pool.Handle[int](widen(w))), "%#x is stale", w)
	}
	for w := range uint32(2 * slots) { // life 0
		require.False(t, seen[w] || p.Contains(pool.Handle[int](widen(w))), "%#x was never issued", w)
	}
	require.Equal(t, slots, p.Stats().Exhausted)
	const last = lastGeneration<<32 | (1<<indexBits - 1)
	require.EqualValues(t, ^uint32(0), narrow(last), "every word except those of life 0")
	require.EqualValues(t, uint64(last), widen(^uint32(0)))
}

// TestNarrowTableFills: a table with all its indexes live is full.
func TestNarrowTableFills(t *testing.T) {
	if testkit.Short() {
		t.Skip("fills a million slots")
	}
	p := pool.Must(narrowOptions[struct{}]())
	for range 1 << indexBits {
		if h, err := p.Insert(struct{}{}); err != nil || h.Index() >= 1<<indexBits { // a million calls of require would be slow
			t.Fatal(h, err)
		}
	}
	testkit.RequirePanicText(t, func() { (*Table[struct{}])(p).New(struct{}{}) }, "cgohandle: New in a table that is full: "+pool.ErrFull.Error())
}

// TestLenOfALargeTable: where words have 64 bits, more than a million handles count.
func TestLenOfALargeTable(t *testing.T) {
	if !wide {
		t.Skip("a table has no more than a million")
	}
	p := pool.Must[struct{}](nil)
	for range 1<<indexBits + 1 {
		_, _ = p.Insert(struct{}{})
	}
	require.Equal(t, 1<<indexBits+1, (*Table[struct{}])(p).Len())
}

// TestNewInAFullTablePanics: a narrow table is full after a million handles, and this one after a few.
func TestNewInAFullTablePanics(t *testing.T) {
	opts := *narrowOptions[int]()
	opts.Capacity = 2
	full := (*Table[int])(pool.Must(&opts))
	for v := range 2 {
		require.Equal(t, v, full.Value(full.New(v)))
	}
	testkit.RequirePanicText(t, func() { full.New(2) }, "cgohandle: New in a table that is full: "+pool.ErrFull.Error())
	require.Equal(t, 2, full.Len())
}
