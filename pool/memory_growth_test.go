package pool_test

import (
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
