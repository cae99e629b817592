//go:build !race

package table_test

import (
	"math"
	"math/bits"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

const page = 4 << 10

// TestGrowthDoubles: room doubles from what fits a page of the widest column.
func TestGrowthDoubles(t *testing.T) {
	type flat struct {
		A, B uint64
		C    byte
	}
	type pointing struct {
		A uint64
		S *byte
	}
	type large struct{ A [5000]byte }
	growth[uint64, flat](t, table.SoA, 512, 4)
	growth[byte, pointing](t, table.SoA, 512, 3)
	wide := page / int(unsafe.Sizeof("")) // values of two words in a page
	growth[string, flat](t, table.SoA, wide, 4)
	growth[uint64, large](t, table.SoA, 1, 1+2)
	growth[uint64, flat](t, table.AoS, 128, 1+1)
	growth[uint64, large](t, table.AoS, 1, 1+2)
}

func growth[K comparable, R any](t *testing.T, l table.Layout, first, pages int) {
	t.Helper()
	tb := of[K, R](l)
	require.Zero(t, tb.Allocated()+tb.Pages())
	for want := first; want <= 16*first; want *= 2 {
		tb.Grow(want/2 + 1)
		require.Equal(t, want, tb.Allocated())
		if want == first {
			require.Equal(t, pages, tb.Pages(), "%T", tb)
		}
		tb.Grow(0) // never less
		require.Equal(t, want, tb.Allocated())
	}
	var k K
	var r R
	rows := 256 * first
	tb.Grow(rows)
	require.LessOrEqual(t, tb.Pages(), rows*int(unsafe.Sizeof(k)+unsafe.Sizeof(r))/page+10)
}

// TestGrowRefuses: a number that is too large panics and changes nothing.
func TestGrowRefuses(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := pairs(t, l, 10)
		before := tb.Allocated()
		requirePanicText(t, func() { tb.Grow(-1) }, "Grow by -1")
		requirePanicText(t, func() { tb.Grow(math.MaxInt) }, "no room")
		requirePanicText(t, func() { tb.Grow(math.MaxInt - 10) }, "no room for "+strconv.Itoa(math.MaxInt)+" records")
		requirePanicText(t, func() { tb.Grow(math.MaxInt / (bits.UintSize / 8)) }, "no room")
		require.Equal(t, before, tb.Allocated())
		require.Equal(t, table.Index(10), tb.Add(10, pair{}))
	})
}

// TestRemovedRecordsHoldNothing: neither a removed record, nor its key, nor the place
// from which a record moved keeps anything reachable.
func TestRemovedRecordsHoldNothing(t *testing.T) {
	type block [1 << 10]byte
	type key struct{ ptr *block }
	type big struct {
		ptr  *block
		any  any
		many [20]*block
	}
	each(t, func(t *testing.T, l table.Layout) {
		for what, remove := range map[string]func(tb *table.Table[key, big], k key){
			"Remove":   func(tb *table.Table[key, big], k key) { tb.Remove(k) },
			"RemoveAt": func(tb *table.Table[key, big], _ key) { tb.RemoveAt(0) },
			"Clear":    func(tb *table.Table[key, big], _ key) { tb.Clear() },
			"growth":   func(tb *table.Table[key, big], k key) { tb.Remove(k); tb.Grow(tb.Allocated() - tb.Len() + 1) },
			"Set":      func(tb *table.Table[key, big], k key) { tb.Set(k, big{}); tb.Remove(k) },
		} {
			tb := of[key, big](l)
			const n = 10
			freed := make(chan struct{}, 4*n)
			testkit.Apart(func() {
				var ks []key
				heavy := func() *block {
					b := new(block)
					runtime.SetFinalizer(b, func(*block) { freed <- struct{}{} })
					return b
				}
				for range n {
					ks = append(ks, key{heavy()})
					tb.Add(ks[len(ks)-1], big{heavy(), heavy(), [20]*block{19: heavy()}})
				}
				runtime.GC()
				require.Empty(t, freed)
				for _, k := range ks {
					remove(tb, k)
				}
			})
			testkit.Eventually(t, func() bool { return len(freed) == cap(freed) }, "%s", what)
			runtime.KeepAlive(tb)
		}
	})
}

// TestGrowMakesRoomForTheIndex: no addition allocates below what there is room for, also not for
// the index of the keys.
func TestGrowMakesRoomForTheIndex(t *testing.T) {
	for _, n := range []int{1, 8, 9, 896, 1000, 99_729, 100_000, 114_688} { // some fill a Go map to its last slot
		p := pool.Must[int](nil)
		hs := testkit.Fill(t, p, n, testkit.Number)
		for _, part := range [][2]int{{0, n / 2}, {n / 2, n}} { // the second time half of the records are there
			var tb *table.Table[int, pair]
			var byHandle *table.Table[pool.Handle[int], pair]
			add := func(from, to int) {
				for i := from; i < to; i++ {
					tb.Add(i, pair{i, i})
					byHandle.Add(hs[i], pair{i, i})
				}
			}
			grow := func(to int) {
				tb.Grow(to - tb.Len())
				byHandle.Grow(to - tb.Len())
			}
			testkit.Allocates(t, 0, 1, func() func() {
				tb, byHandle = of[int, pair](table.SoA), forHandles[pair](p, table.SoA)
				grow(n)
				require.Positive(t, tb.Trim())
				require.Positive(t, byHandle.Trim(), "what Grow has made, and has to make again")
				grow(part[0])
				add(0, part[0])
				grow(part[1])
				calls := 0
				return func() {
					if calls++; calls > 1 { // the first is not counted
						add(part[0], part[1])
					}
				}
			}, "%v of %d", part, n)
			require.Equal(t, [2]int{part[1], part[1]}, [2]int{tb.Len(), byHandle.Len()})
		}
	}
}

// TestTrimGivesBack: Trim gives back the room of records that have left, and of their keys in
// the index, and returns how much that was.
func TestTrimGivesBack(t *testing.T) {
	const n, left = 50_000, 100
	p := pool.Must[int](nil)
	hs := testkit.Fill(t, p, n, testkit.Number)
	byHandle, byInt := forHandles[pair](p, table.SoA), of[int, pair](table.AoS)
	bigKeys := of[[20]int, struct{}](table.SoA)
	for name, run := range map[string]struct {
		add    func(i int)
		remove func(i int)
		trim   func() int64
		check  func(i int) bool
		least  int64
	}{
		"handles": {
			func(i int) { byHandle.Add(hs[i], pair{i, i}) }, func(i int) { byHandle.Remove(hs[i]) }, byHandle.Trim,
			func(i int) bool { r, ok := byHandle.Get(hs[i]); return ok && r == pair{i, i} },
			n * (24 + 7), // of 8 bytes a slot, in most pages
		},
		"keys": {
			func(i int) { byInt.Add(i, pair{i, i}) }, func(i int) { byInt.Remove(i) }, byInt.Trim,
			func(i int) bool { r, ok := byInt.Get(i); return ok && r == pair{i, i} },
			n * 5 * bits.UintSize / 8, // with key and Index in the map
		},
		"large keys": {
			func(i int) { bigKeys.Add([20]int{i}, struct{}{}) }, func(i int) { bigKeys.Remove([20]int{i}) }, bigKeys.Trim,
			func(i int) bool { return bigKeys.Lookup([20]int{i}).IsSet() },
			n * 20 * bits.UintSize / 8,
		},
	} {
		for i := range n {
			run.add(i)
		}
		for i := range n - left {
			run.remove(i)
		}
		before := testkit.Heap()
		trimmed := run.trim()
		freed := before - testkit.Heap()
		require.Greater(t, freed, run.least*bits.UintSize/64, name)
		require.InEpsilon(t, freed, trimmed, 0.5, name)
		for i := range n {
			require.Equal(t, i >= n-left, run.check(i), "%s: %d", name, i)
		}
		require.Zero(t, run.trim())
	}
	byHandle.Clear()
	require.Positive(t, byHandle.Trim())
	require.Zero(t, byHandle.Allocated()+byHandle.Pages())
	require.EqualValues(t, 0, byHandle.Add(hs[7], pair{7, 7}))
	runtime.KeepAlive(bigKeys)
	runtime.KeepAlive(byInt)
}

// TestTrimCountsTheIndex: of handles, 4 KiB for each 512 slots, and the words that lead there.
func TestTrimCountsTheIndex(t *testing.T) {
	const n, block = 4 << 9, 1 << 9
	p := pool.Must(&pool.Options[int]{Shards: 1})
	hs := testkit.Fill(t, p, n, testkit.Number)
	for _, gone := range [][2]int{{block, 3 * block}, {block, n}, {0, n}} { // in the middle, at the end, and all
		tb := forHandles[pair](p, table.SoA)
		for _, h := range hs {
			tb.Add(h, pair{})
		}
		blocks := map[uint32]bool{}
		for i, h := range hs {
			if gone[0] <= i && i < gone[1] {
				tb.Remove(h)
			} else {
				blocks[h.Index()/block] = true
			}
		}
		least := (n/block - len(blocks)) * page
		if !blocks[n/block-1] {
			least++ // the list of blocks is shorter, by some words
		}
		before := tb.Pages()
		trimmed := tb.Trim() - int64(before-tb.Pages())*page
		require.GreaterOrEqual(t, trimmed, int64(least), gone)
		require.Less(t, trimmed, int64(least+page), gone)
	}
}

// TestLongArraysTakeNoMemoryThemselves: what a table keeps of a field's type does not grow
// with an array in it, and arrays of arrays are copied whole.
func TestLongArraysTakeNoMemoryThemselves(t *testing.T) {
	type long struct {
		before  uint8
		deep    [1 << 9][3]struct{ s [1 << 6]*int }
		strings [17]string
		after   any
	}
	var empty *table.Table[int, struct{ Many [1 << 18]*int }]
	took := testkit.Allocated(func() { empty = of[int, struct{ Many [1 << 18]*int }](table.SoA) })
	require.Zero(t, empty.Len())
	require.Less(t, took, uint64(16<<10), "a piece for each element would take megabytes")
	tb := of[int, long](table.SoA)
	put := func(r *long, n int) {
		r.before, r.after = uint8(n), n
		for i := range r.deep {
			for j := range r.deep[i] {
				for k := range r.deep[i][j].s {
					r.deep[i][j].s[k] = &[]int{n + i + j + k}[0]
				}
			}
		}
		for i := range r.strings {
			r.strings[i] = strconv.Itoa(n + i)
		}
	}
	want := make([]long, 2)
	for n := range want {
		put(&want[n], n)
		tb.Add(n, want[n])
	}
	runtime.GC()
	require.EqualValues(t, 0, tb.Remove(0))
	got, ok := tb.Get(1)
	require.True(t, ok)
	require.True(t, got == want[1], "each pointer and string is in its place")
}

// TestOperationsDoNotAllocate: only growth allocates.
func TestOperationsDoNotAllocate(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, record](l)
		for i := range 100 {
			tb.Add(i, newRecord(uint64(i)))
		}
		ids := table.Column(tb, func(r *record) *uint64 { return &r.ID })
		r := newRecord(1)
		ix, dst := []table.Index{1, table.None, 5}, make([]*uint64, 0, 3)
		tb.OnMove(func(int, table.Index, table.Index) {})
		var sum uint64
		require.Zero(t, testing.AllocsPerRun(100, func() {
			tb.Remove(7)
			tb.Add(7, r)
			tb.Add(7, r)
			tb.Set(3, r)
			tb.SetAt(4, r)
			for _, k := range []int{11, -1} {
				c, _ := tb.Get(k)
				d, _ := tb.GetAt(table.Index(k))
				sum += c.ID + d.ID
			}
			for _, id := range ids.All() {
				sum += *id
			}
			for _, r := range tb.All() {
				sum += r.ID
			}
			sum += *ids.Batch(ix, dst[:0])[2]
		}))
		require.NotZero(t, sum)
	})
}
