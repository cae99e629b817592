//go:build !race

package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// cycler inserts values into a pool with a Capacity and removes each at once.
type cycler struct {
	*testing.T
	p *pool.Pool[*int]
	n int // how many values there were
}

// lap is one value for each slot of the Capacity. It returns their handles.
func (c *cycler) lap() (hs []pool.Handle[*int]) {
	for range c.p.Cap() {
		h, err := c.p.Insert(nil)
		require.NoError(c, err, "insertion %d", c.n)
		require.True(c, c.p.Remove(h), "the value should be live")
		hs = append(hs, h)
		c.n++
	}
	return hs
}

// distinct returns how many slots hs name.
func distinct(hs []pool.Handle[*int]) int {
	slots := map[uint32]bool{}
	for _, h := range hs {
		slots[h.Index()] = true
	}
	return len(slots)
}

// Under FIFO a pool with a Capacity uses all of its slots before it uses one again, even if one
// value lives at a time, and then each in turn. So slots wear evenly.
func TestFIFOWearsEvenly(t *testing.T) {
	for _, capacity := range []int{1, 3, 64, 500, 10_000} {
		for _, o := range []pool.Options[*int]{{}, {Preallocate: true}, {Reset: resetPointer}} {
			o.Capacity, o.Reuse, o.Origin = capacity, pool.FIFO, 1
			for _, o.Shards = range []int{1, 4} {
				t.Run(describe(&o), func(t *testing.T) {
					c := cycler{T: t, p: pool.Must(&o)}
					first := c.lap()
					require.Equal(t, capacity, distinct(first), "slots of the first lap")
					last := first
					if o.Shards > 1 {
						return // each shard has an order of its own, and a goroutine may move
					}
					for lap := range 3 {
						now := c.lap()
						for i, h := range now {
							require.Equal(t, last[i].Index(), h.Index(), "insertion %d of lap %d", i, lap+2)
							require.Equal(t, last[i].Generation()+2, h.Generation())
						}
						last = now
					}
					testkit.RequireReclaimed(t, c.p)
				})
			}
		}
	}
}

// Slots that were never used come first also if the goroutines that insert are of different
// shards, and have come and gone.
func TestFIFOUsesNewSlotsFirstInAllShards(t *testing.T) {
	const capacity, each = 10_000, 50
	p := pool.Must(&pool.Options[*int]{Capacity: capacity, Reuse: pool.FIFO, Shards: 8})
	used := map[uint32]bool{}
	for n := 0; n < capacity; n += each {
		testkit.Apart(func() {
			for range each {
				h, err := p.Insert(nil)
				if err != nil || !p.Remove(h) || used[h.Index()] {
					t.Errorf("insertion %d: %v, %v; the slot was used before: %t", len(used), h, err, used[h.Index()])
					return
				}
				used[h.Index()] = true
			}
		})
		if t.Failed() {
			return
		}
	}
	testkit.RequireReclaimed(t, p)
}

// A guard keeps slots out of their turn, and stops none of the others. When it has gone, they come
// before what was removed after them.
func TestFIFOOrderBesideAGuard(t *testing.T) {
	testFIFOOrderBesideAGuard(t, func(*pool.Pool[*int]) {})
	testFIFOOrderBesideAGuard(t, func(p *pool.Pool[*int]) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, p.Synchronize(ctx), context.Canceled) // it reclaims all that has passed
	})
}

func testFIFOOrderBesideAGuard(t *testing.T, reclaim func(*pool.Pool[*int])) {
	const capacity, late = 1000, 10
	p := pool.Must(&pool.Options[*int]{Capacity: capacity, Reuse: pool.FIFO, Shards: 1, Origin: testkit.ReuseOrigin})
	hs := testkit.Fill(t, p, capacity, none)
	require.Equal(t, capacity-late, p.RemoveBatch(hs[late:]))
	g := p.Pin()
	require.Equal(t, late, p.RemoveBatch(hs[:late]))
	reclaim(p)
	next := func(want pool.Handle[*int]) {
		h := testkit.MustInsert(t, p, nil)
		require.True(t, p.Remove(h), "the value should be live")
		require.Equal(t, want.Index(), h.Index())
	}
	testkit.Each(hs[late:], next)
	_, err := p.Insert(nil)
	require.ErrorIs(t, err, pool.ErrStalled)
	g.Unpin()
	testkit.Each(hs, next)
}

// Under FIFO a pool first uses slots that were never used, also if they come after others were vacant:
// by Grow, and in a copy; after a Trim; and if more slots wait than MaxLimbo, though for no guard.
func TestFIFOFirstUsesSlotsThatCameLater(t *testing.T) {
	const n = 1000
	for name, c := range map[string]struct {
		capacity, maxLimbo int
		first              int // how many values are inserted and removed before
		then               func(p *pool.Pool[*int]) *pool.Pool[*int]
	}{
		"Grow": {0, 0, 1, func(p *pool.Pool[*int]) *pool.Pool[*int] { p.Grow(2 * n); return p }},
		"a copy": {5 * n, 0, n, func(p *pool.Pool[*int]) *pool.Pool[*int] {
			return copyOf(t, p, &pool.Options[*int]{Capacity: 5 * n, Reuse: pool.FIFO, Shards: 1})
		}},
		"Trim": {5 * n, 0, 100, func(p *pool.Pool[*int]) *pool.Pool[*int] { // of pages that have not been used either
			p.Grow(2 * n)
			require.Positive(t, p.Trim())
			return p
		}},
		"MaxLimbo": {5 * n, 50, 1, func(p *pool.Pool[*int]) *pool.Pool[*int] { return p }},
	} {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(&pool.Options[*int]{Capacity: c.capacity, MaxLimbo: c.maxLimbo, Reuse: pool.FIFO, Shards: 1})
			kept := testkit.MustInsert(t, p, nil) // so that its page stays
			used := map[uint32]bool{kept.Index(): true}
			hs := testkit.Fill(t, p, c.first, none)
			for _, h := range hs {
				used[h.Index()] = true
			}
			require.Equal(t, c.first, p.RemoveBatch(hs))
			testkit.RequireReclaimed(t, p)
			for range n {
				if c.capacity == 0 { // all that has memory, again and again
					h := testkit.MustInsert(t, p, nil)
					used[h.Index()] = true
					require.True(t, p.Remove(h), "the value should be live")
				}
			}
			p = c.then(p)
			for i := range n {
				h := testkit.MustInsert(t, p, nil)
				require.False(t, used[h.Index()], "insertion %d uses slot %d again", i, h.Index())
				used[h.Index()] = true
				require.True(t, p.Remove(h), "the value should be live")
			}
			testkit.RequireConserved(t, p)
		})
	}
}
