//go:build !race

package pool_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// mustRead reads a snapshot.
func mustRead[T any](t testing.TB, snapshot []byte, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.ReadFrom(bytes.NewReader(snapshot), opts)
	require.NoError(t, err)
	return p
}

// lineConfigs are options of pools that are restored.
func lineConfigs() (all []pool.Options[int]) {
	for _, reuse := range testkit.Reuses {
		all = append(all, pool.Options[int]{Reuse: reuse, Shards: 1}, pool.Options[int]{Reuse: reuse, Shards: 4},
			pool.Options[int]{Reuse: reuse, Capacity: 5000}, pool.Options[int]{Reuse: reuse, Reset: func(*int) {}})
	}
	return all
}

// churn inserts n values, and removes some of them and of those before. It returns the handles that
// it was given.
func churn(t testing.TB, p *pool.Pool[int], before []pool.Handle[int], n int) (issued []pool.Handle[int]) {
	old := append([]pool.Handle[int](nil), before...)
	for i := range n {
		h := testkit.MustInsert(t, p, -i)
		issued = append(issued, h)
		if old = append(old, h); i%3 > 0 {
			p.Remove(old[i%len(old)])
		}
	}
	return issued
}

// near reports whether two pools from one snapshot have hardly skipped other numbers of lives.
func near(t testing.TB, a, b *pool.Pool[int]) bool {
	ga, gb := testkit.MustInsert(t, a, 0).Generation(), testkit.MustInsert(t, b, 0).Generation()
	return max(ga, gb)-min(ga, gb) < 1000
}

// A server writes a snapshot, issues more handles, and crashes. What it issued since names nothing in
// the restored pool, also after that has issued as many of its own. So do the handles of another pool
// that was restored from the same snapshot.
func TestRestartBeginsANewLine(t *testing.T) {
	for _, o := range lineConfigs() {
		t.Run(describe(&o), func(t *testing.T) {
			p := pool.Must(&o)
			hs := testkit.Fill(t, p, 1000, testkit.Number)
			gone := hs[:600]
			require.Equal(t, 600, p.RemoveBatch(gone))
			snapshot := testkit.Written(t, p)
			kept := contents(p)
			issued := churn(t, p, hs[600:], 1000)

			a, b := mustRead(t, snapshot, &o), mustRead(t, snapshot, &o)
			for near(t, a, b) { // by a chance of 1 in 1,000
				b = mustRead(t, snapshot, &o)
			}
			byA, byB := []pool.Handle[int]{}, []pool.Handle[int]{}
			for h, v := range kept {
				got, ok := a.Get(h)
				require.True(t, ok, "%v was live", h)
				require.Equal(t, v, got)
			}
			refused := func() {
				for _, h := range issued {
					require.False(t, a.Contains(h), "%v was issued after the snapshot", h)
					require.False(t, b.Contains(h), "%v was issued after the snapshot", h)
				}
				for _, h := range gone {
					require.False(t, a.Contains(h), "%v was stale", h)
				}
				for _, h := range byA {
					require.False(t, b.Contains(h), "%v is of another pool", h)
				}
				for _, h := range byB {
					require.False(t, a.Contains(h), "%v is of another pool", h)
				}
			}
			for range 3 {
				refused()
				byA = append(byA, churn(t, a, hs[600:], 1000)...)
				byB = append(byB, churn(t, b, hs[600:], 1000)...)
				refused()
			}
			testkit.RequireConserved(t, a)
		})
	}
}

// A slot of a restored pool skips lives once: at once if it is vacant, or was never used; when it is
// reused first if it is live, whoever removes the value, and whatever it waits for.
func TestEachSlotSkipsOnce(t *testing.T) {
	const lives = (testkit.LastGeneration-1)/2 + 1 // of each slot
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{0, 64} {
			for _, reset := range []func(*int){nil, func(*int) {}} {
				for name, remove := range removers[int]() {
					o := pool.Options[int]{Shards: 1, Reuse: reuse, Capacity: capacity, Reset: reset, Origin: 1}
					p := tiny(t, &o)
					was := make([]uint32, 64+testkit.Quarantine) // the last generations
					for _, h := range testkit.Fill(t, p, 20, testkit.Number) {
						was[h.Index()] = h.Generation()
					}
					for h := range p.All() {
						if h.Index()%2 == 1 {
							p.Remove(h)
						}
					}
					o.Origin = 0
					c := copyOf(t, p, &o)
					var live []pool.Handle[int]
					for h := range c.All() {
						live = append(live, h)
					}
					require.Len(t, live, 10)
					w := c.Worker()
					held := mustHold(t, c, live[0])
					remove(c, w, live)
					held.Release()
					times := make([]int, 64+testkit.Quarantine)
					for round := range 4 {
						w.Flush()
						require.NoError(t, c.Synchronize(t.Context()))
						hs := testkit.Fill(t, c, 30, testkit.Number)
						for _, h := range hs {
							i := h.Index()
							if step := int(h.Generation()-was[i]) / 2; times[i] == 0 {
								require.GreaterOrEqual(t, step, 1<<16, "%v, %s, round %d", h, name, round)
								require.LessOrEqual(t, step, lives/500+2, "%v, %s, round %d", h, name, round)
							} else {
								require.LessOrEqual(t, step, 3, "%v, %s, round %d", h, name, round) // Flush costs one
							}
							times[i]++
							was[i] = h.Generation()
						}
						require.Equal(t, len(hs), c.RemoveBatch(hs))
					}
					w.Close()
					testkit.RequireReclaimed(t, c)
				}
			}
		}
	}
}

// reusing returns options of a pool that uses n slots again and again. Under the tag coatcheck_debug it would use new
// memory first.
func reusing(n int) *pool.Options[int] {
	o := pool.Options[int]{Shards: 1}
	if testkit.Quarantine > 0 {
		o.Capacity = n
	}
	return &o
}

// Neither does a Worker's own slot come back without it, nor a slot that a Worker removed and that it
// reuses itself.
func TestWorkersSlotsSkip(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Shards: 1, Origin: 1})
	hs := testkit.Fill(t, p, 500, testkit.Number)
	c := mustRead(t, testkit.Written(t, p), reusing(len(hs)))
	w := c.Worker()
	defer w.Close()
	again := 0
	for _, h := range hs {
		require.True(t, w.Remove(h), "the value should be live")
		n, err := w.Insert(1)
		require.NoError(t, err)
		require.GreaterOrEqual(t, int(n.Generation()-1)/2, 1<<16, "%v", n)
		if n.Index() < 500 {
			again++
		}
	}
	require.Greater(t, again, 100)
}

// A snapshot of a restored pool has what its slots have yet to skip, so what either of the two pools
// issues is refused by the other, and by the first. With Origin set nothing more is skipped.
func TestSnapshotOfARestoredPool(t *testing.T) {
	first := pool.Must(&pool.Options[int]{Shards: 1, Origin: 1})
	hs := testkit.Fill(t, first, 100, testkit.Number)
	second := mustRead(t, testkit.Written(t, first), reusing(200))
	require.True(t, second.Remove(hs[0]), "the value should be live")
	snapshot := testkit.Written(t, second)
	third := mustRead(t, snapshot, reusing(200))
	same := mustRead(t, snapshot, &pool.Options[int]{Shards: 1, Origin: 1})
	reused := func(p *pool.Pool[int]) (hs []pool.Handle[int]) {
		p.Clear()
		require.NoError(t, p.Synchronize(t.Context()))
		hs = make([]pool.Handle[int], 200)
		for range hs {
			h := testkit.MustInsert(t, p, 0)
			hs[h.Index()] = h
		}
		return hs
	}
	of2, of3, asIs := reused(second), reused(third), reused(same)
	for i := range of2 {
		require.GreaterOrEqual(t, int(of2[i].Generation()/2), 1<<16, "%v", of2[i])
		require.GreaterOrEqual(t, int(of3[i].Generation()-of2[i].Generation())/2, 1<<16-2, "%v after %v", of3[i], of2[i])
		require.LessOrEqual(t, int(asIs[i].Generation()-of2[i].Generation())/2, 1, "%v after %v", asIs[i], of2[i])
	}
}

// A pool can be restored thousands of times, and says so to nobody: each time the lives that are left
// are fewer, and so is what it costs.
func TestRestoringManyTimes(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Shards: 1})
	h := testkit.MustInsert(t, p, 7)
	restores := testkit.Long(3000)
	for range restores {
		p = mustRead(t, testkit.Written(t, p), reusing(2))
	}
	require.Equal(t, 7, p.MustGet(h))
	fresh := testkit.MustInsert(t, p, 8)
	require.GreaterOrEqual(t, int(pool.Stage(p, fresh)-pool.Stage(p, h))/2, restores<<16)
	require.True(t, p.Remove(h), "the value should be live")
	require.NoError(t, p.Synchronize(t.Context()))
	again := testkit.MustInsert(t, p, 9)
	require.Equal(t, pool.Stage(p, fresh)+2, pool.Stage(p, again), "%v and %v", fresh, again)
}

// Slots with few lives skip none, or end: a slot costs a restored pool at most 1/500 of its lives,
// or one.
func TestNewLineNearTheEnd(t *testing.T) {
	for _, lives := range []int{1, 2, 499, 1000, 1 << 20} {
		for _, capacity := range []int{0, 3} {
			t.Run(fmt.Sprint(lives, capacity), func(t *testing.T) {
				origin := uint32(testkit.LastGeneration) - 2*uint32(lives-1)
				p := tiny(t, &pool.Options[int]{Shards: 1, Origin: origin, Capacity: capacity})
				hs := testkit.Fill(t, p, 3, testkit.Number)
				p.Remove(hs[1])
				c := copyOf(t, p, &pool.Options[int]{Shards: 1, Capacity: capacity})
				w := c.Worker()
				w.Remove(hs[0])
				w.Close()
				c.Remove(hs[2])
				require.NoError(t, c.Synchronize(t.Context()))
				for range 3 {
					h := testkit.MustInsert(t, c, 1)
					cost := int(h.Generation()-origin) / 2
					require.LessOrEqual(t, cost, lives/500+2, "%v", h)
				}
				c.Clear()
				testkit.RequireReclaimed(t, c)
			})
		}
	}
	// A slot whose skips leave it no life is exhausted when it is reclaimed.
	for _, worker := range []bool{false, true} {
		p := tiny(t, &pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration - 2*999}) // 1,000 lives
		h := testkit.MustInsert(t, p, 1)
		for range 998 {
			require.True(t, p.Remove(h), "the value should be live")
			require.NoError(t, p.Synchronize(t.Context()))
			h = testkit.MustInsert(t, p, 1)
		}
		require.Equal(t, uint32(testkit.LastGeneration-2), h.Generation())
		c := copyOf(t, p, &pool.Options[int]{Shards: 1, Capacity: 100})
		remove := c.Remove
		if worker {
			w := c.Worker()
			defer w.Close()
			remove = w.Remove
			testkit.Fill(t, c, 10, testkit.Number)
			for v := range c.All() {
				require.True(t, remove(v), "the value should be live")
			}
		} else {
			require.True(t, remove(h), "the value should be live")
		}
		require.NoError(t, c.Synchronize(t.Context()))
		for range 200 {
			require.NotEqual(t, h.Index(), testkit.MustInsert(t, c, 2).Index())
			for v := range c.All() {
				remove(v)
			}
		}
		require.Equal(t, 1, c.Stats().Exhausted)
		testkit.RequireConserved(t, c)
	}
}
