//go:build !race

package pending_test

import (
	"fmt"
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

// BenchmarkMemory tells how much memory a Calls takes, and one with calls whose Done somebody awaits.
func BenchmarkMemory(b *testing.B) {
	for _, open := range []int{0, 10} {
		b.Run(fmt.Sprint("open=", open), func(b *testing.B) {
			var all [1000]*pending.Calls[int]
			for b.Loop() {
				before := testkit.Heap()
				for k := range all {
					all[k] = pending.Must[int](nil)
					for range open {
						call, err := all[k].Start()
						require.NoError(b, err)
						call.Done()
					}
				}
				b.ReportMetric(float64(testkit.Heap()-before)/float64(len(all)), "B/Calls")
			}
			runtime.KeepAlive(&all)
		})
	}
}
