package workload

import (
	"errors"
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
		About: "An LRU cache of 8-byte keys and values: bench/lru, whose values are in a pool and whose order is a list of slot indexes, beside hashicorp/golang-lru, whose entries are pointers. Both have one map and one lock: bench/lru a sync.Mutex, golang-lru a sync.RWMutex. Each operation is a call through an interface. " +
			"A hit looks up a key, drawn beforehand, which becomes the newest; an add stores a new key and evicts the oldest. " +
			"The collector's processor time is that of a million adds to a million entries.",
		Charts: []suite.Chart{
			{Title: "A hit in a cache", Unit: "ns/op", Where: map[string]string{"op": "hit"}},
			{Title: "An add to a cache that is full", Unit: "ns/op", Where: map[string]string{"op": "add"}},
			{Title: "Memory for each of a million entries of a cache", Unit: "B/value", Where: map[string]string{"op": "renew"}},
			{Title: "Processor time of the collector, for each add to a million entries", Unit: "gc-cpu-ns/op", Where: map[string]string{"op": "renew"}},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			group := func(op string, live int, once bool, open func(cache) suite.Run) {
				g := suite.Group{Apart: live >= big, Once: once}
				for _, impl := range []string{"pool", "golang-lru"} {
					g.Cases = append(g.Cases, suite.Case{Impl: impl, Params: []suite.Param{param("op", op), number("live", live)}, Open: func() suite.Run { return open(newCache(impl, live)) }})
				}
				groups = append(groups, g)
			}
			for _, live := range sizesOf(env, 1_000, 100_000, 1_000_000) {
				group("hit", live, false, func(c cache) suite.Run { return openHits(c, live, env.Seed) })
				group("add", live, false, func(c cache) suite.Run { return openAdds(c, live) })
			}
			most := sizesOf(env, 1_000_000)[0]
			group("renew", most, true, func(c cache) suite.Run { return openRenewal(c, most) })
			return groups
		},
	}
}

// cache is a contestant. Each operation of each is a call through this interface.
type cache interface {
	Add(key, value uint64) (evicted bool)
	Get(key uint64) (value uint64, ok bool)
	Len() int
}

func newCache(impl string, size int) cache {
	if impl == "pool" {
		return must(lru.New[uint64, uint64](size))
	}
	return must(golru.New[uint64, uint64](size))
}

// add adds the keys from, from+1, … A value is its key plus 1.
func add(c cache, from, n int) (evicted int) {
	for key := uint64(from); key < uint64(from+n); key++ {
		if c.Add(key, key+1) {
			evicted++
		}
	}
	return evicted
}

// hit returns the sum of the values of keys that must be there.
func hit(c cache, keys []uint32) (sum uint64, err error) {
	missed := 0
	for _, key := range keys {
		v, ok := c.Get(uint64(key))
		sum += v
		if !ok {
			missed++
		}
	}
	if missed > 0 {
		err = fmt.Errorf("%d of %d keys were not found", missed, len(keys))
	}
	return sum, err
}

func openHits(c cache, live int, seed uint64) suite.Run {
	add(c, 0, live)
	order := cycle{all: draw(seed, 0, many(live), live)}
	return &plainRun{do: func(n int) (int, error) {
		return order.each(n, func(keys []uint32) error {
			_, err := hit(c, keys)
			return err
		})
	}, end: func() error {
		sum, err := hit(c, upTo(live))
		if err == nil {
			err = summed(live, 1, sum, 0)
		}
		return errors.Join(err, full(c, live))
	}}
}

func openAdds(c cache, live int) suite.Run {
	next := live
	add(c, 0, next)
	return &plainRun{do: func(n int) (int, error) {
		evicted := add(c, next, n)
		next += n
		if evicted != n {
			return n, fmt.Errorf("%d new keys evicted %d", n, evicted)
		}
		return n, nil
	}, end: func() error { return full(c, live) }}
}

func full(c cache, live int) error {
	if n := c.Len(); n != live {
		return fmt.Errorf("the cache has %d entries, want %d", n, live)
	}
	return nil
}

// openRenewal measures the memory of a full cache, and the collector's time while all its
// entries are replaced.
func openRenewal(c cache, live int) suite.Run {
	r := &meteredRun{}
	r.end = func() error { return full(c, live) }
	r.do = func(int) (int, error) {
		empty := liveHeap()
		add(c, 0, live)
		filled := liveHeap() - empty
		runtime.GC()
		before := collectorTime()
		evicted := 0
		r.timed(func() { evicted = add(c, live, live) })
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
