//go:build !race

package pool_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
	"coatcheck/pool/pending"
)

// mistaken returns how many handles name another value, or would be accepted at all, when they have been numbers of
// 53 bits.
func mistaken[T any](hs []pool.Handle[T], accepts func(pool.Handle[T]) bool) (n int) {
	for _, h := range hs {
		// A float64 in [2^63, 2^64) is converted to the uint64 that it is.
		if r := pool.Handle[T](uint64(float64(uint64(h)))); r != h && accepts(r) {
			n++
		}
	}
	return n
}

// TestRoundedHandlesAreRefused: a handle that was a number in JavaScript, Lua or jq names no value, in a new pool, after
// replacements, after a Trim, and in a copy. With an Origin nearly all name another value.
func TestRoundedHandlesAreRefused(t *testing.T) {
	n := testkit.Long(100_000)
	for _, opts := range []*pool.Options[int]{{}, {Capacity: n}, {Reuse: pool.FIFO, Shards: 1}} {
		p := pool.Must(opts)
		hs := testkit.Fill(t, p, n, testkit.Number)
		require.Zero(t, mistaken(hs, p.Contains))
		rnd := testkit.Rand(t)
		for k := range hs {
			if rnd.IntN(2) == 0 {
				require.True(t, p.Remove(hs[k]))
				hs[k] = testkit.MustInsert(t, p, k)
			}
		}
		require.Zero(t, mistaken(hs, p.Contains))
		p.Clear()
		testkit.RequireReclaimed(t, p)
		p.Trim()
		hs = testkit.Fill(t, p, n, testkit.Number)
		require.Zero(t, mistaken(hs, p.Contains), "after a Trim")
		c := mustRead[int](t, testkit.Written(t, p), nil)
		require.Zero(t, mistaken(hs, c.Contains), "in a copy")
		c.Clear()
		require.Zero(t, mistaken(testkit.Fill(t, c, n, testkit.Number), c.Contains), "of a copy")
	}
	p := pool.Must(&pool.Options[int]{Origin: 1<<30 | 1})
	require.Greater(t, mistaken(testkit.Fill(t, p, n, testkit.Number), p.Contains), n*9/10, "all begin alike")
}

// TestRoundedHandlesOfStructuresAreRefused: of those that issue handles of their own, too.
func TestRoundedHandlesOfStructuresAreRefused(t *testing.T) {
	n := testkit.Long(100_000)
	s := dense.Must[int](nil)
	hs := make([]pool.Handle[int], n)
	for k := range hs {
		h, err := s.Create(k)
		require.NoError(t, err)
		hs[k] = h
	}
	require.Zero(t, mistaken(hs, s.Alive))
	c := pending.Must[int](nil)
	calls := map[uint64]bool{}
	for range 1000 {
		call, err := c.Start()
		require.NoError(t, err)
		calls[call.ID()] = true
	}
	for id := range calls {
		if r := uint64(float64(id)); r != id {
			require.False(t, c.Deliver(r, 1), "the answer to %x is delivered to %x", id, r)
		}
	}
}

// TestForgedHandlesAreRefused: a handle of a random generation names no value, whatever slot it names, nor does that of
// another slot or pool.
func TestForgedHandlesAreRefused(t *testing.T) {
	const n = 1000
	p, q := pool.Must[int](nil), pool.Must[int](nil)
	hs, others := testkit.Fill(t, p, n, testkit.Number), testkit.Fill(t, q, n, testkit.Number)
	rnd := testkit.Rand(t)
	accepted := 0
	for range testkit.Long(1_000_000) {
		if p.Contains(handle(uint64(rnd.IntN(n)), uint64(rnd.Uint32()|1))) {
			accepted++
		}
	}
	require.LessOrEqual(t, accepted, 2, "each has a chance of 1 in 2^31")
	for i, h := range hs {
		for j := range hs {
			require.False(t, i != j && p.Contains(handle(uint64(j), uint64(h.Generation()))), "slot %d by the generation of slot %d", j, i)
		}
		require.False(t, p.Contains(others[i]), "%v is another pool's", others[i])
	}
}

// TestEachSlotHasItsLives: first generations lie below 2^31, so that a slot has 2^30 lives at least.
func TestEachSlotHasItsLives(t *testing.T) {
	for range 20 {
		p := pool.Must[int](nil)
		firsts := map[uint32]bool{}
		for _, h := range testkit.Fill(t, p, 2000, testkit.Number) {
			require.Less(t, h.Generation(), uint32(1<<31), "%v", h)
			require.EqualValues(t, 1, pool.Stage(p, h), "%v", h)
			firsts[h.Generation()] = true
		}
		require.Len(t, firsts, 2000)
		p.Clear()
		testkit.RequireReclaimed(t, p)
		require.Positive(t, p.Trim())
		for _, h := range testkit.Fill(t, p, 2000, testkit.Number) {
			require.LessOrEqual(t, pool.Stage(p, h), uint32(5), "%v: a page costs its slots a life, wherever they began", h)
		}
	}
}

// TestNoHandleIsIssuedTwiceWhereSlotsBeginApart: whatever is trimmed, restored and restored again.
func TestNoHandleIsIssuedTwiceWhereSlotsBeginApart(t *testing.T) {
	rnd := testkit.Rand(t)
	for range testkit.Long(30) {
		p := tiny(t, &pool.Options[int]{Shards: 1 + rnd.IntN(2), Reuse: testkit.Reuses[rnd.IntN(2)]})
		issued := map[pool.Handle[int]]bool{}
		var live []pool.Handle[int]
		for range 200 {
			switch k := rnd.IntN(20); {
			case k < 10:
				h := testkit.MustInsert(t, p, 1)
				require.False(t, issued[h], "%v is issued again", h)
				issued[h] = true
				live = append(live, h)
			case k < 15:
				for range min(len(live), rnd.IntN(12)) {
					j := rnd.IntN(len(live))
					require.True(t, p.Remove(live[j]), "%v", live[j])
					live[j] = live[len(live)-1]
					live = live[:len(live)-1]
				}
			case k < 17:
				testkit.RequireReclaimed(t, p)
				p.Trim()
			case k < 18:
				c, err := pool.ReadTiny[int](bytes.NewReader(testkit.Written(t, p)), nil, 1)
				require.NoError(t, err)
				p = c
			}
			for h := range issued {
				require.Equal(t, slices.Contains(live, h), p.Contains(h), "%v", h)
			}
		}
	}
}

// TestWornIsOfTheMostWornSlot: where slots have not equally many lives, it is the share that counts.
func TestWornIsOfTheMostWornSlot(t *testing.T) {
	p := pool.Must[int](nil)
	hs := testkit.Fill(t, p, 300, testkit.Number)
	lives := func(first uint32) float64 { return float64((testkit.LastGeneration-first)/2 + 1) }
	most := 0.0
	for _, h := range hs {
		most = max(most, 1/lives(h.Generation()))
	}
	require.InDelta(t, most, p.Stats().Worn, 1e-15)
	h := hs[7]
	first := h.Generation()
	for range 5 {
		require.True(t, p.Remove(h))
		h = testkit.MustInsert(t, p, 0)
		for h.Index() != 7 {
			require.True(t, p.Remove(h))
			h = testkit.MustInsert(t, p, 0)
		}
	}
	require.GreaterOrEqual(t, p.Stats().Worn, float64((h.Generation()-first)/2+1)/lives(first))
}
