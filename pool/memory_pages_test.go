//go:build !race

package pool_test

import (
	"runtime"
	"testing"

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

// What a million values take beside their slots: less than one in 100 bytes for slots of 24 bytes.
func TestManyValuesTakeLittleMore(t *testing.T) {
	if testkit.Watched {
		t.Skip("it is of one goroutine, and records take memory")
	}
	p := pool.Must(&pool.Options[[16]byte]{Shards: 1})
	testkit.Fill(t, p, 1_000_000, func(int) (v [16]byte) { return v })
	st := p.Stats()
	require.Less(t, st.Allocated, 1_000_000+1<<16)
	require.Less(t, st.Bytes, int64(st.Allocated)*24*101/100)
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
