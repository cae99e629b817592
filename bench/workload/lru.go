package workload

import (
	"fmt"
	"runtime"

	golru "github.com/hashicorp/golang-lru/v2"

	"coatcheck/bench/lru"
	"coatcheck/bench/suite"
)

func caches() suite.Question {
	return suite.Question{
		ID:    "LRU",
		Title: "What does a cache cost whose values are in a pool, under a lock of its own?",
		About: "An LRU cache of 8-byte keys and values: bench/lru, whose values are in a pool and whose order is a list of slot indexes, beside hashicorp/golang-lru, whose entries are pointers. Both have one map and one lock: bench/lru a sync.Mutex, golang-lru a sync.RWMutex. " +
			"A hit looks up a key, drawn beforehand, which becomes the newest; an add stores a new key and evicts the oldest. " +
			"The collector's processor time is that of a million adds to a million entries.",
		Roles: map[string]suite.Role{"pool": suite.Ours},
		Charts: []suite.Chart{
			{Title: "A hit in a cache", Unit: "ns/op", Where: map[string]string{"op": "hit"}},
			{Title: "An add to a cache that is full", Unit: "ns/op", Where: map[string]string{"op": "add"}},
			{Title: "Memory for each of a million entries of a cache", Unit: "B/value", Where: map[string]string{"op": "renew"}},
			{Title: "Processor time of the collector, for each add to a million entries", Unit: "gc-cpu-ns/op", Where: map[string]string{"op": "renew"}},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			sizes, many := []int{1_000, 100_000, 1_000_000}, 1_000_000
			if env.Quick {
				sizes, many = []int{1_000}, 10_000
			}
			add := func(op string, live int, once bool, open func(cache) suite.Run) {
				g := suite.Group{Apart: live >= big, Once: once}
				for _, impl := range []string{"pool", "golang-lru"} {
					g.Cases = append(g.Cases, suite.Case{Impl: impl, Params: []suite.Param{param("op", op), number("live", live)}, Open: func() (suite.Run, error) {
						c, err := cacheOf[impl](live)
						if err != nil {
							return nil, err
						}
						return open(c), nil
					}})
				}
				groups = append(groups, g)
			}
			for _, live := range sizes {
				add("hit", live, false, func(c cache) suite.Run { return openHits(c, live, env.Seed) })
				add("add", live, false, func(c cache) suite.Run { return openAdds(c, live) })
			}
			add("renew", many, true, func(c cache) suite.Run { return openRenewal(c, many) })
			return groups
		},
	}
}

// cache is a contestant. Each has its own function literals, which the compiler inlines
// into the loops.
type cache struct {
	add  func(from, n uint64) (evicted int) // the keys from, from+1, …; a value is its key plus 1
	hits func(keys []uint32) (sum uint64, missed int)
	len  func() int
}

func adds(from, n uint64, add func(key, value uint64) bool) (evicted int) {
	for key := from; key < from+n; key++ {
		if add(key, key+1) {
			evicted++
		}
	}
	return evicted
}

func hits(keys []uint32, get func(key uint64) (uint64, bool)) (sum uint64, missed int) {
	for _, key := range keys {
		v, ok := get(uint64(key))
		sum += v
		if !ok {
			missed++
		}
	}
	return sum, missed
}

var cacheOf = map[string]func(size int) (cache, error){
	"pool": func(size int) (cache, error) {
		c, err := lru.New[uint64, uint64](size)
		return cache{
			add: func(from, n uint64) int { return adds(from, n, func(k, v uint64) bool { return c.Add(k, v) }) },
			hits: func(keys []uint32) (uint64, int) {
				return hits(keys, func(k uint64) (uint64, bool) { return c.Get(k) })
			},
			len: func() int { return c.Len() },
		}, err
	},
	"golang-lru": func(size int) (cache, error) {
		c, err := golru.New[uint64, uint64](size)
		return cache{
			add: func(from, n uint64) int { return adds(from, n, func(k, v uint64) bool { return c.Add(k, v) }) },
			hits: func(keys []uint32) (uint64, int) {
				return hits(keys, func(k uint64) (uint64, bool) { return c.Get(k) })
			},
			len: func() int { return c.Len() },
		}, err
	},
}

func openHits(c cache, live int, seed uint64) suite.Run {
	c.add(0, uint64(live))
	order := cycle[uint32]{all: draw(seed, 0, max(1<<14, min(2*live, 1<<20)), live)}
	return &plainRun{do: func(n int) (int, error) {
		for left := n; left > 0; {
			keys := order.next(left)
			if _, missed := c.hits(keys); missed > 0 {
				return n, fmt.Errorf("%d of %d keys were not found", missed, len(keys))
			}
			left -= len(keys)
		}
		return n, nil
	}, end: func() error {
		if sum, missed := c.hits(upTo(live)); missed > 0 || sum != sumTo(live) {
			return fmt.Errorf("%d values are missing, and the others add up to %d", missed, sum)
		}
		return full(c, live)
	}}
}

func openAdds(c cache, live int) suite.Run {
	next := uint64(live)
	c.add(0, next)
	return &plainRun{do: func(n int) (int, error) {
		evicted := c.add(next, uint64(n))
		next += uint64(n)
		if evicted != n {
			return n, fmt.Errorf("%d new keys evicted %d", n, evicted)
		}
		return n, nil
	}, end: func() error { return full(c, live) }}
}

func full(c cache, live int) error {
	if n := c.len(); n != live {
		return fmt.Errorf("the cache has %d entries, want %d", n, live)
	}
	return nil
}

// openRenewal measures the memory of a full cache, and the collector's time while all its
// entries are replaced.
func openRenewal(c cache, live int) suite.Run {
	var watch stopwatch
	r := &meteredRun{timedRun: timedRun{watch: &watch}}
	r.end = func() error { return full(c, live) }
	r.do = func(int) (int, error) {
		empty := liveHeap()
		c.add(0, uint64(live))
		filled := liveHeap() - empty
		runtime.GC()
		before := collectorTime()
		watch.start()
		evicted := c.add(uint64(live), uint64(live))
		watch.stop()
		runtime.GC() // so that the last cycle counts
		after := collectorTime()
		r.figures = map[string]float64{
			"B/value":      float64(filled) / float64(live),
			"gc-cpu-ns/op": (after - before) / float64(live) * 1e9,
		}
		if evicted != live {
			return 0, fmt.Errorf("%d new keys evicted %d", live, evicted)
		}
		return live, nil
	}
	return r
}
