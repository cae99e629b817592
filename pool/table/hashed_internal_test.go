//go:build !race

package table

import (
	"math"
	"math/bits"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// TestMapBytesAreWhatMapsTake: the estimate is near what the runtime allocates for a map that is made for its keys.
func TestMapBytesAreWhatMapsTake(t *testing.T) {
	require.Zero(t, mapBytes[int](0))
	for _, n := range []int{1, 8, 9, 14, 15, 56, 57, 500, 1000, 5000, 100_000} {
		requireMapBytes(t, n, 0, func(i int) int { return i })
		requireMapBytes(t, min(n, 5000), 0, func(i int) [16]int64 { return [16]int64{int64(i)} })
		requireMapBytes(t, min(n, 5000), 8*18, func(i int) [17]int64 { return [17]int64{int64(i)} }) // elsewhere
	}
}

// requireMapBytes requires that of a map of n keys, besides so many bytes for each.
func requireMapBytes[K comparable](t *testing.T, n, beside int, key func(i int) K) {
	t.Helper()
	got := math.Inf(1)
	for range 5 { // others allocate beside a test
		x := &hashed[K]{}
		got = min(got, float64(testkit.Allocated(func() {
			x.remake(n)
			for i := range n {
				x.claim(key(i), Index(i), nil)
			}
		}))-float64(n*beside))
	}
	// The runtime rounds sizes up, by some fifth where they are small.
	low, high := 0.8, 1.1
	if n >= 500 && bits.UintSize == 64 {
		low, high = 0.92, 0.99
	}
	want := float64(mapBytes[K](n))
	require.True(t, low*got <= want && want <= high*got, "%T of %d: %.0f bytes, and %.0f counted", map[K]Index{}, n, got, want)
}

// rowsOf returns a map that has grown to the keys below n, and these.
func rowsOf(n int) (x *hashed[int], keys []int) {
	x = &hashed[int]{}
	for i := range n {
		x.claim(i, Index(i), nil)
		keys = append(keys, i)
	}
	return x, keys
}

// TestTrimOfMaps: what it counts is the room that the map had, however it came to have that.
func TestTrimOfMaps(t *testing.T) {
	x, _ := rowsOf(1000)
	require.Zero(t, x.trim())

	x, keys := rowsOf(1000)
	x.clear(keys)
	require.Equal(t, mapBytes[int](1000), x.trim())
	require.Nil(t, x.rows)

	x, keys = rowsOf(897) // one less would be half as many bytes
	for _, k := range keys[10:] {
		x.drop(k)
	}
	require.Equal(t, mapBytes[int](897)-mapBytes[int](10), x.trim())
	require.Zero(t, x.trim())
	require.Len(t, x.rows, 10)

	for _, end := range []func(x *hashed[int]){
		func(x *hashed[int]) { x.clear([]int{1}) },
		func(x *hashed[int]) { x.drop(1) },
	} {
		x = &hashed[int]{}
		x.reserve(1000)
		x.claim(1, 0, nil)
		end(x)
		require.Equal(t, mapBytes[int](1250), x.trim())
	}
}

// TestReserveRemakesMapsSeldom: not where there is room, and where a table grows by one again and again, not each time.
func TestReserveRemakesMapsSeldom(t *testing.T) {
	x, remade := &hashed[int]{}, 0
	for i := range 10_000 {
		was := reflect.ValueOf(x.rows).Pointer()
		x.reserve(i + 1)
		if reflect.ValueOf(x.rows).Pointer() != was {
			remade++
		}
		x.claim(i, Index(i), nil)
		was = reflect.ValueOf(x.rows).Pointer()
		x.reserve(i + 1)
		require.Equal(t, was, reflect.ValueOf(x.rows).Pointer())
	}
	require.LessOrEqual(t, remade, 20)
}
