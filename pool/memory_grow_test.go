package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard/slots"
)

// After Grow as many insertions as it was told of find memory, whichever goroutines make them: in
// a new pool, in one that is in use, and in one whose pages Trim gave up. No slot has used up a life.
func TestGrowMakesMemoryAhead(t *testing.T) {
	const n = 5000
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{0, 2*n + 500} {
			t.Run(fmt.Sprintf("%s/Capacity=%d", testkit.NameOf(reuse), capacity), func(t *testing.T) {
				p := tiny8(t, &pool.Options[int]{Capacity: capacity, Reuse: reuse, Shards: 4, Origin: 101})
				insert := func(goroutines int) (hs []pool.Handle[int]) {
					t.Helper()
					p.Grow(n)
					before := p.Stats()
					p.Grow(n)
					all := make([][]pool.Handle[int], goroutines)
					testkit.Together(goroutines, func(k int) {
						for i := range n / goroutines {
							h, err := p.Insert(i)
							assert.NoError(t, err)
							all[k] = append(all[k], h)
						}
					})
					after := p.Stats()
					require.Equal(t, before.Bytes, after.Bytes, "insertions allocated, or the second Grow did")
					require.LessOrEqual(t, after.Allocated, after.Live+n+4*100)
					for _, part := range all {
						hs = append(hs, part...)
					}
					return hs
				}
				first := insert(1)
				second := insert(5)
				for _, h := range append(second, first...) {
					require.EqualValues(t, 101, h.Generation())
				}
				require.Equal(t, len(second), p.RemoveBatch(second))
				testkit.RequireReclaimed(t, p)
				full := p.Stats()
				require.Positive(t, p.Trim())
				insert(5)
				require.LessOrEqual(t, p.Stats().Allocated, full.Allocated, "what Trim gave up did not come back")
				for _, h := range first {
					require.True(t, p.Contains(h), "the value should be live")
				}
				for _, h := range second {
					require.False(t, p.Contains(h), "%v is live again", h)
				}
				testkit.RequireReclaimed(t, p)
			})
		}
	}
}

// A pool with a Capacity gets memory for as many values at most, also where each slot has but one
// life, and others take over.
func TestGrowKeepsToTheCapacity(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 10, Shards: 1, Origin: testkit.LastGeneration})
	for range 3 {
		p.Grow(1000)
		testkit.RequireConserved(t, p)
		hs := testkit.Fill(t, p, 10, testkit.Number)
		_, err := p.Insert(1)
		require.ErrorIs(t, err, pool.ErrFull)
		require.Equal(t, 10, p.RemoveBatch(hs))
		testkit.RequireReclaimed(t, p)
	}
	require.Equal(t, 30, p.Stats().Exhausted)
	testkit.RequirePanicText(t, func() { p.Grow(-1) }, "pool: Grow: n is -1")
}

// Grow makes memory for the values that it is told of, however many shards there may be.
func TestGrowOfOneIsSmall(t *testing.T) {
	type large [4 << 10]byte
	for _, shards := range []int{0, 1, 1024} {
		p := pool.Must(&pool.Options[large]{Shards: shards})
		empty := p.Stats().Bytes
		p.Grow(1)
		require.Less(t, p.Stats().Bytes, empty+16<<10, "bytes for one value of 4 KB, with Shards: %d", shards)
		p.Grow(4)
		require.Less(t, p.Stats().Bytes, empty+2<<20, "bytes for 4 values of 4 KB, with Shards: %d", shards)
	}
}

// If a page cannot be allocated, the insertion panics, and nothing else happens: the other
// slots stay in use, no mutex and no token stays locked, and a later insertion allocates the
// page.
func TestGrowthThatFailsLosesNothing(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		o := pool.Options[bulky]{Reuse: reuse, Shards: 1, Origin: testkit.ReuseOrigin}
		for verb, insert := range inserters[bulky]() {
			t.Run(testkit.NameOf(reuse)+" "+verb, func(t *testing.T) {
				p, err := pool.NewTiny(&o, 2)
				require.NoError(t, err)
				w := p.Worker()
				first := testkit.MustInsert(t, p, bulky{9})
				restore := pool.FailGrowth(p)
				failed := func() bool {
					v := testkit.Recovered(func() {
						_, err := insert(p, w, bulky{1})
						assert.NoError(t, err)
					})
					if v == nil {
						return false
					}
					err, ok := v.(runtime.Error)
					require.Truef(t, ok, "panic %v", v)
					require.ErrorContains(t, err, "makeslice")
					return true
				}
				testkit.Within(t, func() {
					for n := 0; !failed(); n++ {
						require.Less(t, n, 8, "it does not fail: this test tests nothing")
					}
					require.True(t, failed(), "again")
				})
				testkit.Within(t, func() {
					testkit.Together(3, func(int) {
						assert.NotNil(t, testkit.Recovered(func() { _, _ = p.InsertFunc(setBulky) }), "there was room")
					})
				})
				testkit.RequireConserved(t, p)
				live := p.Len()
				require.Positive(t, live)
				require.True(t, p.Contains(first), "the value should be live")
				// Slots that are given back are used meanwhile.
				require.True(t, p.Remove(first), "the value should be live")
				require.NoError(t, p.Synchronize(context.Background()))
				_, err = p.InsertFunc(setBulky)
				require.NoError(t, err)

				restore()
				for range 6 {
					require.False(t, failed(), "there is memory again")
				}
				require.GreaterOrEqual(t, p.Len(), live+6)
				w.Close()
				p.Clear()
				st := testkit.RequireReclaimed(t, p)
				require.Equal(t, st.Allocated, st.Free)
			})
		}
	}
}

func setBulky(_ pool.Handle[bulky], v *bulky) { v[0] = 1 }

// crowd is goroutines that keep some values each, and replace them again and again. There may be many
// more of them than processors.
type crowd struct {
	goroutines int
	procs      int // GOMAXPROCS
	values     int // that each keeps
	rounds     int // how often each replaces as many
	batch      int // how many it removes before it inserts as many
	workers    bool
	opts       pool.Options[[16]byte]
}

// greedy are crowds that once took 5 to 300 times as much as they may.
var greedy = []crowd{
	{goroutines: 4, procs: 3, values: 10, rounds: 20_000, batch: 7, opts: pool.Options[[16]byte]{Shards: 1}},
	{goroutines: 4, procs: 2, values: 1, rounds: 200_000, batch: 1, opts: pool.Options[[16]byte]{Shards: 1, Reuse: pool.FIFO}},
	{goroutines: 256, procs: 2, values: 1, rounds: 2000, batch: 1, opts: pool.Options[[16]byte]{Shards: 1, Reuse: pool.FIFO}},
	{goroutines: 64, procs: 1, values: 100, rounds: 50, batch: 1, opts: pool.Options[[16]byte]{Shards: 1}},
}

// drawCrowd draws a crowd. Its pool has a Capacity or a MaxLimbo, or neither.
func drawCrowd(rnd *rand.Rand) (c crowd) {
	one := func(of ...int) int { return of[rnd.IntN(len(of))] }
	c = crowd{
		goroutines: one(1, 4, 16, 64, 256), procs: one(1, 2, 3, 4), values: one(1, 10, 100, 300),
		batch: one(1, 1, 1, 7, 100), workers: rnd.IntN(3) == 0,
	}
	c.batch = min(c.batch, c.values)
	c.rounds = 1 + 200_000/(c.goroutines*c.values)
	c.opts.Shards = one(0, 0, 1, 1, 5)
	c.opts.Reuse = pool.Reuse(rnd.IntN(2))
	switch rnd.IntN(4) {
	case 0:
		c.opts.Capacity = 2*c.goroutines*c.values + rnd.IntN(1000)
	case 1:
		c.opts.MaxLimbo = 1 + rnd.IntN(1000)
	}
	return c
}

func (c *crowd) String() string {
	return fmt.Sprintf("%d goroutines of %d values, %d at a time, GOMAXPROCS=%d, Workers %v, %s",
		c.goroutines, c.values, c.batch, c.procs, c.workers, describe(&c.opts))
}

// run returns the pool's figures at the end, and how many slots were in use at most: the live values,
// one slot in the hands of each goroutine, and what open Workers may keep.
func (c *crowd) run(t *testing.T, seed uint64) (st pool.Stats, used int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
	p := pool.Must(&c.opts)
	workers := make([]*pool.Worker[[16]byte], c.goroutines)
	times := c.rounds * c.values / c.batch
	if testkit.Race {
		times = 1 + times/4
	}
	testkit.Together(c.goroutines, func(k int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(k)))
		insert, remove := p.Insert, p.Remove
		if c.workers {
			workers[k] = p.Worker()
			insert, remove = workers[k].Insert, workers[k].Remove
		}
		var hs []pool.Handle[[16]byte]
		add := func(n int) {
			for range n {
				h, err := insert([16]byte{})
				if err == nil {
					hs = append(hs, h)
				} else if c.opts.Capacity == 0 {
					assert.NoError(t, err)
				}
			}
		}
		add(c.values)
		for range times {
			n := min(c.batch, len(hs))
			for range n {
				i := rnd.IntN(len(hs))
				if !remove(hs[i]) { // in loops this is much cheaper than assert
					t.Errorf("%v of %v should be live", hs[i], c)
				}
				hs[i] = hs[len(hs)-1]
				hs = hs[:len(hs)-1]
			}
			add(c.values - len(hs))
		}
	})
	st = p.Stats()
	used = c.goroutines*(c.values+1) + pool.Kept(p) + testkit.Quarantine
	for _, w := range workers {
		if w != nil {
			w.Close()
		}
	}
	return st, used
}

// Without guards a pool has at most twice the slots that were in use at one time, and 256 for each shard,
// however many goroutines there are for each processor. It has none beyond a Capacity.
func TestMemoryIsBoundedByUse(t *testing.T) {
	seed := testkit.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for n := range testkit.LongAlone(400) {
		c := drawCrowd(rnd)
		if n < len(greedy) {
			c = greedy[n]
		}
		shards := c.opts.Shards
		if shards == 0 {
			shards = 4 * c.procs
		}
		st, used := c.run(t, seed)
		most := 2 * (used + 2*slots.Batch*shards)
		if c.opts.Capacity > 0 {
			most = min(most, c.opts.Capacity)
			if c.opts.Reuse == pool.FIFO {
				most = c.opts.Capacity // it uses all of its slots before it uses one again
			}
		}
		require.LessOrEqual(t, st.Allocated, most, "%v: %v; in use: up to %d, draw %d", &c, st, used, n)
	}
}
