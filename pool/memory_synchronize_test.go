//go:build !race

package pool_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A slot costs its value plus 8 bytes, rounded up to 8, plus at most an eighth.
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
	require.LessOrEqual(t, st.Bytes, int64(st.Allocated)*(slot+1))
	require.Less(t, st.Allocated, n*11/10)
}
