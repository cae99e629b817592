package pool_test

import (
	"errors"
	"math"
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

// A pool of two or three slots with a few lives each lives through all of them.
// At each step the test passes it every handle that was, is or could be issued, and all
// handles near them. A map knows which one is live. Any error in a word, a link or a
// generation shows here.
func TestEveryHandleOfATinyLayout(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, o := range []pool.Options[int]{
		{Capacity: 2, Shards: 1}, {Capacity: 3, Shards: 1}, {Capacity: 5, Shards: 2},
		{Capacity: 2, Shards: 1, Reuse: pool.FIFO}, {Capacity: 3, Shards: 1, Reuse: pool.FIFO},
		{Capacity: 64, Shards: 1}, // the least that lets a Worker keep slots
	} {
		for _, lives := range []uint32{1, 2, 5} {
			if o.Capacity == 64 && lives == 5 && testkit.Watched {
				continue
			}
			o.Origin = testkit.LastGeneration - 2*(lives-1)
			p := tiny(t, &o)
			w := p.Worker()
			live := map[pool.Handle[int]]int{}
			issued := map[pool.Handle[int]]bool{}
			tried := 0
			sweep := func() {
				before, values := pool.Image(p)
				limit := uint64(len(before))
				generations := []uint64{0, 1, 2, 3, 1<<31 - 1, 1 << 31}
				for g := uint64(o.Origin) - 3; g <= math.MaxUint32; g++ {
					generations = append(generations, g)
				}
				for _, g := range generations {
					for index := range limit + 3 {
						if index >= limit {
							index = math.MaxUint32 - (index - limit) // None among them
						}
						h := pool.Handle[int](g<<32 | index)
						want, ok := live[h]
						got, is := p.Get(h)
						if is != ok || got != want || p.Contains(h) != ok {
							t.Fatalf("Get(%v) returns %d, %v; want %d, %v", h, got, is, want, ok)
						}
						tried++
						if ok {
							continue
						}
						if v, is := p.Take(h); is || v != 0 {
							t.Fatalf("forged %v took %d", h, v)
						}
						if p.Remove(h) || w.Remove(h) || p.RemoveBatch([]pool.Handle[int]{h}) != 0 {
							t.Fatalf("forged %v removed something", h)
						}
					}
				}
				after, valuesAfter := pool.Image(p)
				require.Equal(t, before, after)
				require.Equal(t, values, valuesAfter)
			}
			for next := 1; ; next++ {
				insert := p.Insert
				if next%2 == 0 {
					insert = w.Insert
				}
				h, err := insert(next)
				if err == nil {
					require.Falsef(t, issued[h], "%v was issued twice", h)
					issued[h] = true
					live[h] = next
				} else if len(live) == 0 && errors.Is(err, pool.ErrExhausted) {
					break
				}
				sweep()
				for h := range live {
					if err != nil || rnd.IntN(3) == 0 {
						require.True(t, p.Remove(h))
						delete(live, h)
					}
				}
			}
			sweep()
			w.Close()
			testkit.RequireReclaimed(t, p)
			require.Len(t, issued, o.Capacity*int(lives))
			require.Greater(t, tried, 100)
		}
	}
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
