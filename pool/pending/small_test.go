//go:build !race

package pending_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/pending"
)

// A program may have a pool and a Calls for each of its connections, also on many processors:
// 10,000 pools of ten values each, and 10,000 Calls, take less than 100 MB.
func TestManySmallOnesTakeLittle(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	var pools [1000]*pool.Pool[[2]int]
	var calls [1000]*pending.Calls[int]
	before := testkit.Heap()
	for k := range pools {
		pools[k], calls[k] = pool.Must[[2]int](nil), pending.Must[int](nil)
		testkit.Fill(t, pools[k], 10, func(int) (v [2]int) { return v })
	}
	require.Less(t, testkit.Heap()-before, int64(100e6/10))
	runtime.KeepAlive(&pools)
	runtime.KeepAlive(&calls)
}
