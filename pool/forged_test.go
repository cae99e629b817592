package pool_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Every bit of live handles is flipped, and every pair of bits, in pools to which drawn operations
// have led. A comparison that leaves out a bit would accept one. Nothing is written.
func TestBitFlipsOfLiveHandlesMiss(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see fuzzRawHandles
	rnd := testkit.Rand(t)
	flipped := 0
	for _, o := range rawConfigs(resetPlain) {
		mc := newMachine(t, plainKind, o, rnd.IntN)
		for range 60 {
			mc.step()
			mc.watch()
		}
		for h := range mc.live {
			for i := range 64 {
				mc.refuse(rnd.IntN(64), h^1<<i)
				for j := 0; j < i && flipped%8 == 0; j++ {
					mc.refuse(rnd.IntN(64), h^1<<i^1<<j)
				}
			}
			flipped++
			break // the first in a random order
		}
		mc.runAll(func() bool { return false })
	}
	require.Greater(t, flipped, 10)
}

// Two pools of one T refuse each other's handles, though they have the same
// indices.
func TestForeignHandleIsRefused(t *testing.T) {
	a, b := pool.Must[int](nil), pool.Must[int](nil)
	hs := testkit.Fill(t, a, 100, testkit.Number)
	testkit.Fill(t, b, 100, testkit.Number)
	requireRefused(t, b, hs[7])
	for _, h := range hs {
		require.False(t, b.Contains(h))
	}
}
