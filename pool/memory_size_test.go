//go:build !race

package pool_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A pool's first value takes a page of one unit, and ten take no more. That is what Stats says, and
// what the heap has.
func TestSmallPoolsAreSmall(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	testSmall[[16]byte](t, 3300, 3700)
	testSmall[[64]byte](t, 5000, 5300)
	testSmall[[256]byte](t, 4600, 5300)
	testSmall[[2]*int](t, 3300, 3900)
	testSmall[[8]*int](t, 5000, 5300)
}

// testSmall requires that each of 100 pools takes at most so many bytes more than an empty one.
func testSmall[T any](t *testing.T, bytes, heap int64) {
	heapOf := func(values int) (perPool int64, pools [100]*pool.Pool[T]) {
		before := testkit.Heap()
		for k := range pools {
			pools[k] = pool.Must(&pool.Options[T]{Shards: 1})
			testkit.Fill(t, pools[k], values, func(int) (v T) { return v })
		}
		perPool = (testkit.Heap() - before) / int64(len(pools))
		runtime.KeepAlive(&pools)
		return perPool, pools
	}
	empty, none := heapOf(0)
	for _, values := range []int{1, 10} {
		took, pools := heapOf(values)
		assert.LessOrEqual(t, pools[0].Stats().Bytes-none[0].Stats().Bytes, bytes, "%T", *new(T))
		assert.LessOrEqual(t, took-empty, heap, "%T: the heap", *new(T))
	}
}

// A pool with a Capacity gets hardly any memory beyond it.
func TestCapacityBoundsMemory(t *testing.T) {
	for _, capacity := range []int{1, 2, 5, 64, 65, 100, 1000, 1100, 5000, 70_000} {
		for _, preallocate := range []bool{false, true} {
			p := pool.Must(&pool.Options[[64]byte]{Capacity: capacity, Preallocate: preallocate, Shards: 1})
			// One slot, and what does not grow with the Capacity, such as a cell for each of some guards a processor.
			least := pool.Must(&pool.Options[[64]byte]{Capacity: 1, Preallocate: preallocate, Shards: 1}).Stats().Bytes
			testkit.Fill(t, p, capacity, func(int) (v [64]byte) { return v })
			most := 500 + int64(capacity)*76*9/8 // a slot of 72 bytes, and its stamp
			if testkit.Quarantine > 0 {
				most += 9 * int64(capacity) // marks
			}
			if capacity > 5 {
				most += 5000
			}
			if preallocate {
				most += 4*int64(capacity) + 72*int64(min(capacity, 312+capacity/128)) // counts of Refs; batches
			}
			require.LessOrEqual(t, p.Stats().Bytes-least, most, "Capacity %d, Preallocate %v", capacity, preallocate)
		}
	}
}

// An empty pool is small, and its first pin costs four cells, however many processors
// there are.
func TestSmallPoolIsSmallOnManyProcessors(t *testing.T) {
	if testkit.Watched {
		t.Skip("records take memory")
	}
	assert.LessOrEqual(t, pool.CoreBytes, uintptr(896), "a size class of the allocator")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	p := pool.Must[int](nil)
	empty := p.Stats().Bytes
	assert.LessOrEqual(t, empty, int64(2048))
	for range 3 {
		outer := p.Pin()
		inner := p.Pin()
		inner.Unpin()
		outer.Unpin()
	}
	assert.LessOrEqual(t, p.Stats().Bytes-empty, int64(600))
}

// A slot costs its value plus 8 bytes, rounded up to 8, and less than a quarter of a byte more. On the Go heap it
// costs at most an eighth more.
func TestMemoryOfASlot(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector needs memory of its own")
	}
	testMemoryOfASlot[int](t, 16)
	testMemoryOfASlot[plain](t, 24)
	testMemoryOfASlot[struct{}](t, 8)
	testMemoryOfASlot[object](t, 56)
}

func testMemoryOfASlot[T any](t *testing.T, bytes uint64) {
	const n = 500_000 // the last page is little beside it
	before := testkit.Heap()
	p := pool.Must[T](nil)
	var v T
	testkit.Fill(t, p, n, func(int) T { return v })
	got := float64(testkit.Heap()-before) / n
	require.LessOrEqual(t, got, float64(bytes)*1.125, "bytes a slot of %T", v)
	st := p.Stats()
	slot := int64(unsafe.Sizeof(v)+7)&^7 + 8 // less than bytes where pointers are smaller
	require.GreaterOrEqual(t, st.Bytes, int64(st.Allocated)*slot)
	require.LessOrEqual(t, st.Bytes, int64(st.Allocated)*(100*slot+24)/100, "%T", v)
	require.Less(t, st.Allocated, n*11/10)
}

// counters are 64-bit atomics. On 32-bit platforms a stack has no place for them, so a variable
// of that type, or a zero that is assigned to one, is allocated.
type counters struct{ hits, misses atomic.Int64 }

// linked is counters with a pointer, so that reclaiming zeroes it.
type linked struct {
	counters
	_ *counters
}

// Building and reclaiming a value of 64-bit atomics allocates nothing, on 32 bits too.
func TestAlignedValueIsClearedInPlace(t *testing.T) {
	if testkit.Watched {
		t.Skip("records allocate")
	}
	for _, reuse := range testkit.Reuses {
		testAlignedValue[counters](t, reuse, func(v *counters) *counters { return v })
		testAlignedValue[linked](t, reuse, func(v *linked) *counters { return &v.counters })
	}
}

func testAlignedValue[T any](t *testing.T, reuse pool.Reuse, in func(*T) *counters) {
	p := pool.Must(&pool.Options[T]{Capacity: 64, Preallocate: true, Reuse: reuse})
	w := p.Worker()
	defer w.Close()
	clean := true
	init := func(_ pool.Handle[T], v *T) {
		c := in(v)
		clean = clean && c.hits.Load() == 0 && c.misses.Load() == 0
		c.hits.Store(1)
		c.misses.Store(2)
	}
	ok := func(h pool.Handle[T], err error) pool.Handle[T] {
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	name := fmt.Sprintf("%T, %s", *new(T), testkit.NameOf(reuse))
	require.Zero(t, testing.AllocsPerRun(500, func() {
		require.True(t, p.Remove(ok(p.InsertFunc(init))), "the value should be live")
		require.True(t, w.Remove(ok(w.InsertFunc(init))), "the value should be live")
		require.Equal(t, 1, p.RemoveBatch([]pool.Handle[T]{ok(p.InsertFunc(init))}))
	}), name)
	require.True(t, clean, "%s: InsertFunc found a value that is not zero", name)
}
