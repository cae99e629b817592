package table_test

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

const page = 4 << 10

func aligned[F any](t *testing.T, what string, v table.View[F]) {
	t.Helper()
	if p := uintptr(unsafe.Pointer(v.At(0))); p%page != 0 && unsafe.Sizeof(*v.At(0)) > 0 {
		t.Errorf("%s begins at %#x", what, p)
	}
}

// TestColumnsArePageAligned checks columns of every kind and size.
func TestColumnsArePageAligned(t *testing.T) {
	type simple struct {
		B  byte
		U  uint64
		T  [3]byte
		L  [5]uint64
		Q  *byte
		S  string
		N  nested
		P3 [3]*byte
	}
	each(t, func(t *testing.T, l table.Layout) {
		for round := range 20 { // different states of the heap
			tb := of[string, simple](t, l)
			for want := 1; want < 1<<(9+round%8); want *= 2 {
				tb.Reserve(want)
				if tb.Len() == 0 {
					tb.Add("a", simple{})
				}
				what := fmt.Sprintf("at %d rows, ", tb.Allocated())
				if k := unsafe.Pointer(&tb.Keys()[0]); uintptr(k)%page != 0 {
					t.Errorf("%skeys begin at %p", what, k)
				}
				aligned(t, what+"the first field", table.Column(tb, func(r *simple) *byte { return &r.B }))
				if l == table.AoS {
					continue
				}
				aligned(t, what+"uint64", table.Column(tb, func(r *simple) *uint64 { return &r.U }))
				aligned(t, what+"[3]byte", table.Column(tb, func(r *simple) *[3]byte { return &r.T }))
				aligned(t, what+"[5]uint64", table.Column(tb, func(r *simple) *[5]uint64 { return &r.L }))
				aligned(t, what+"*byte", table.Column(tb, func(r *simple) **byte { return &r.Q }))
				aligned(t, what+"string", table.Column(tb, func(r *simple) *string { return &r.S }))
				aligned(t, what+"nested", table.Column(tb, func(r *simple) *nested { return &r.N }))
				aligned(t, what+"[3]*byte", table.Column(tb, func(r *simple) *[3]*byte { return &r.P3 }))
			}
			runtime.GC()
		}
	})
}

// TestGrowthDoubles: room doubles from what fits a page: 4 KiB, or 32 KiB with pointers.
func TestGrowthDoubles(t *testing.T) {
	type flat struct {
		A, B uint64
		C    byte
	}
	type pointing struct {
		A uint64
		S *byte
	}
	type words struct {
		A uintptr
		S *byte
	}
	type large struct{ A [5000]byte }
	t.Run("SoA", func(t *testing.T) {
		growth[uint64, flat](t, table.SoA, 512, 4)
		growth[byte, pointing](t, table.SoA, 512, 1+1+8)
		growth[string, flat](t, table.SoA, 512, 8+3)
		growth[uint64, large](t, table.SoA, 1, 1+2)
	})
	t.Run("AoS", func(t *testing.T) {
		growth[uint64, flat](t, table.AoS, 128, 1+1)
		growth[uint64, words](t, table.AoS, 512, 1+8)
		growth[uint64, large](t, table.AoS, 1, 1+2)
	})
}

func growth[K comparable, R any](t *testing.T, l table.Layout, first, pages int) {
	t.Helper()
	tb, err := table.New[K, R](l)
	require.NoError(t, err)
	require.Zero(t, tb.Allocated())
	require.Zero(t, tb.Pages())
	for want := first; want <= 16*first; want *= 2 {
		tb.Reserve(want/2 + 1)
		require.Equal(t, want, tb.Allocated())
		if want == first {
			require.Equal(t, pages, tb.Pages(), "%T", tb)
		}
		tb.Reserve(0) // never less
		require.Equal(t, want, tb.Allocated())
	}
	key, fields := reflect.TypeFor[K]().Size(), reflect.TypeFor[R]().Size()
	rows := uintptr(tb.Allocated()) * 16
	tb.Reserve(int(rows))
	least := int((key*rows + fields*rows) / page)
	require.LessOrEqual(t, tb.Pages(), least+10)
}

// TestReserve: it takes the total, and a number that is too large panics and changes
// nothing.
func TestReserve(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, record](t, l)
		for i := range 10 {
			tb.Add(i, newRecord(uint64(i)))
		}
		tb.Reserve(1000)
		require.Equal(t, 1024, tb.Allocated())
		at := table.Column(tb, func(r *record) *string { return &r.Name }).At(5)
		for i := 10; i < 1024; i++ { // to the last row
			require.True(t, tb.Add(i, record{}).IsSet())
		}
		require.Same(t, at, table.Column(tb, func(r *record) *string { return &r.Name }).At(5))
		requirePanicText(t, func() { tb.Reserve(-1) }, "Reserve of -1")
		requirePanicText(t, func() { tb.Reserve(math.MaxInt) }, "no room")
		requirePanicText(t, func() { tb.Reserve(math.MaxInt / 64) }, "no room")
		require.Equal(t, 1024, tb.Allocated())
		r, err := tb.Copy(9)
		require.NoError(t, err)
		require.Empty(t, r.differs(9))
	})
}

// TestPointersSurviveCollections: records that are all pointers survive collections while
// the table grows and records move.
func TestPointersSurviveCollections(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		stop := testkit.Collect()
		tb := of[string, record](t, l)
		n := long(3000)
		for i := range n {
			tb.Add(fmt.Sprint(i), newRecord(uint64(i)))
			if i%3 == 0 {
				tb.Remove(fmt.Sprint(i / 2))
			}
			if i%7 == 0 {
				tb.Set(fmt.Sprint(i-1), newRecord(uint64(i-1)))
			}
		}
		stop()
		runtime.GC()
		for k, r := range tb.All() {
			if k != fmt.Sprint(r.ID) || r.differs(r.ID) != "" {
				t.Fatalf("record %v: %s", k, r.differs(r.ID))
			}
		}
	})
}

// TestRemovedRecordsHoldNothing: neither a removed record, nor its key, nor the place
// from which a record moved keeps anything reachable.
func TestRemovedRecordsHoldNothing(t *testing.T) {
	type big struct {
		ptr  *[1 << 10]byte
		any  any
		many [20]*[1 << 10]byte
	}
	type key struct{ ptr *[1 << 10]byte }
	each(t, func(t *testing.T, l table.Layout) {
		for what, remove := range map[string]func(tb *table.Table[key, big], ks []key){
			"Remove": func(tb *table.Table[key, big], ks []key) {
				for _, k := range ks {
					tb.Remove(k)
				}
			},
			"RemoveAt": func(tb *table.Table[key, big], _ []key) {
				for tb.Len() > 0 {
					tb.RemoveAt(0)
				}
			},
			"Clear":  func(tb *table.Table[key, big], _ []key) { tb.Clear() },
			"growth": func(tb *table.Table[key, big], _ []key) { tb.Clear(); tb.Reserve(2 * tb.Allocated()) },
			"Set": func(tb *table.Table[key, big], ks []key) {
				for i := range ks {
					tb.SetAt(table.Index(i), big{})
				}
				tb.Clear() // so that the keys leave, too
			},
		} {
			tb := of[key, big](t, l)
			const n = 20
			freed := make(chan struct{}, 4*n)
			func() {
				var ks []key
				block := func() *[1 << 10]byte {
					b := new([1 << 10]byte)
					runtime.SetFinalizer(b, func(*[1 << 10]byte) { freed <- struct{}{} })
					return b
				}
				for range n {
					k, b := key{block()}, big{ptr: block(), any: block()}
					b.many[19] = block()
					ks = append(ks, k)
					tb.Add(k, b)
				}
				runtime.GC()
				require.Empty(t, freed)
				remove(tb, ks)
			}()
			eventually(t, func() bool { return len(freed) == cap(freed) }, what)
			runtime.KeepAlive(tb)
		}
	})
}

// TestOperationsDoNotAllocate: only growth allocates.
func TestOperationsDoNotAllocate(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, record](t, l)
		const n = 100
		for i := range n {
			tb.Add(i, newRecord(uint64(i)))
		}
		ids := table.Column(tb, func(r *record) *uint64 { return &r.ID })
		r := newRecord(1)
		ix, dst := []table.Index{1, table.None, 5}, make([]*uint64, 0, 3)
		keys, look := []int{3, -1}, make([]table.Index, 0, 2)
		tb.OnMove(func(int, table.Index, table.Index) {})
		var sum uint64
		require.Zero(t, testing.AllocsPerRun(100, func() {
			tb.Remove(7)
			tb.Add(7, r)
			_, _ = tb.Take(7)
			_, _ = tb.Insert(7, r)
			_, _ = tb.Insert(7, r)
			sum += uint64(len(tb.LookupBatch(keys, look[:0])))
			tb.Set(3, r)
			tb.SetAt(4, r)
			tb.Lookup(9)
			c, _ := tb.Copy(11)
			d, _ := tb.CopyAt(12)
			_, _ = tb.Copy(-1)
			_, _ = tb.CopyAt(-1)
			sum += c.ID + d.ID
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

// TestTrim: it leaves the room of a table that was never larger, and keeps every record,
// Index and View.
func TestTrim(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		for _, left := range []int{0, 1, 63, 64, 65, 1000, 1024, 1025, 3000} {
			p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
			tb, fresh := forHandles[record](t, p, l), forHandles[record](t, p, l)
			v := viewsOf(tb)
			var hs []handle
			for i := range 3000 {
				hs = append(hs, insert(t, p, i))
				tb.Add(hs[i], newRecord(uint64(i)))
			}
			for i := 2999; i >= left; i-- {
				tb.Remove(hs[i])
			}
			for i := range left {
				fresh.Add(hs[i], newRecord(uint64(i)))
			}
			before := tb.Pages()
			require.Equal(t, before-fresh.Pages(), tb.Trim(), "%d left", left)
			require.Equal(t, fresh.Pages(), tb.Pages(), "%d left", left)
			require.Equal(t, fresh.Allocated(), tb.Allocated(), "%d left", left)
			require.Zero(t, tb.Trim(), "a second time")
			runtime.GC()
			require.Equal(t, left, tb.Len())
			for i := range left {
				require.EqualValues(t, i, tb.Lookup(hs[i]))
				require.Empty(t, v.differs(table.Index(i), uint64(i)))
			}
			for i := left; i < 3000; i++ { // and it grows again
				require.EqualValues(t, i, tb.Add(hs[i], newRecord(uint64(i))))
			}
			for i := range hs {
				require.Empty(t, v.differs(table.Index(i), uint64(i)))
			}
			require.Equal(t, hs, tb.Keys())
			for i := 0; i < 3000; i += 512 { // the first of each page of slots
				tb.Remove(hs[i])
			}
			tb.Trim()
			require.NotEqual(t, table.None, tb.Lookup(hs[1]))
		}
	})
}

// TestTrimShrinksTheIndex: Trim frees memory of the index, too.
func TestTrimShrinksTheIndex(t *testing.T) {
	p := pool.Must[int](nil)
	byHandle, byInt := forHandles[struct{}](t, p, table.AoS), of[int, struct{}](t, table.AoS)
	const n = 200_000
	for i := range n {
		byHandle.Add(insert(t, p, i), struct{}{})
		byInt.Add(i, struct{}{})
	}
	byHandle.Clear()
	byInt.Clear()
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	byHandle.Trim()
	after := heap()
	require.Greater(t, before-after, int64(3*n*8/2), "keys of 8 bytes, and 8 bytes a slot")
	byInt.Trim()
	require.Greater(t, after-heap(), int64(2*n*8), "keys, and a map of twice that")
	runtime.KeepAlive(byHandle)
	runtime.KeepAlive(byInt)
	runtime.KeepAlive(p)
}

// TestPartsWithPaddingBetween: a field with padding inside is copied whole, with pointers
// or not.
func TestPartsWithPaddingBetween(t *testing.T) {
	type padded struct {
		A uint8
		B uint64
		P *int
		C uint8
		D uint32
	}
	each(t, func(t *testing.T, l table.Layout) {
		type body struct{ In padded }
		tb := of[int, body](t, l)
		want := body{padded{1, 1<<63 + 2, new(int), 3, 1<<31 + 4}}
		tb.Add(1, body{})
		tb.Add(2, want)
		tb.Remove(1)
		r, err := tb.Copy(2)
		require.NoError(t, err)
		require.Equal(t, want, r)
	})
}
