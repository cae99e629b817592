package workload

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// collector asks what live values cost the garbage collector.
func collector() suite.Question {
	return suite.Question{
		ID:    "GC",
		Title: "What does a garbage collection cost with millions of values live?",
		About: "Collections are forced while so many values of 64 bytes live and nothing else runs: how long runtime.GC takes, how much processor time the collector says it used, and the longest time for which it stopped the world, of three (of one, where that takes longer than 0.2 s). " +
			"Values without pointers, and with three, all to one word, so that following them costs little and finding them is what is measured. The names of values (handles, keys; pointers where a name is a pointer) live as well. With new, names are what keeps values. " +
			"nothing is an empty heap: what a forced collection costs by itself.",
		Roles: rolesWith(map[string]suite.Role{"nothing": suite.Reference}),
		Charts: []suite.Chart{
			{Title: "A garbage collection from beginning to end", Unit: "ns/op"},
			{Title: "Processor time of the collector, for each collection", Unit: "gc-cpu-ns/op"},
			{Title: "The longest pause of a collection", Unit: "pause-max-ns"},
		},
		Groups: func(env suite.Env) []suite.Group {
			live := 1_000_000
			switch {
			case env.Quick:
				live = 50_000
			case env.Full:
				live = 5_000_000
			}
			var word uint64
			refs := peer.Refs64{To: [3]*uint64{&word, &word, &word}}
			cases := append(collectorCases(live, env.Full, "no", peer.Rest64{}), collectorCases(live, env.Full, "yes", refs)...)
			return []suite.Group{{Cases: cases, Once: true}}
		},
	}
}

// collectorCases are the stores with values that end with rest.
func collectorCases[R any](live int, full bool, pointers string, rest R) []suite.Case {
	var cases []suite.Case
	add := func(impl string, open func() (suite.Run, error)) {
		cases = append(cases, suite.Case{
			Impl:   impl,
			Params: []suite.Param{number("live", live), param("pointers", pointers)},
			Open:   open,
		})
	}
	for _, p := range peersOf[R](peer.NamePool, peer.NamePlain, peer.NameArk, peer.NameSyncMap, peer.NameXsync, peer.NameNew) {
		if p.Name == peer.NameSyncMap && pointers == "yes" && !full {
			continue // its values lie behind pointers anyway, and a cycle takes a second
		}
		add(p.Name, func() (suite.Run, error) { return openCollector(p, live, rest) })
	}
	add("map", func() (suite.Run, error) { return openCollectorMap(live, rest) })
	add("nothing", func() (suite.Run, error) { return collectorRun(func() error { return nil }), nil })
	return cases
}

// openCollector fills a peer's store.
func openCollector[R any](p peer.Peer[R], live int, rest R) (suite.Run, error) {
	store, err := p.Open(peer.Config[R]{Rest: rest, Live: live, Sessions: 1})
	if err != nil {
		return nil, err
	}
	session := store.Session()
	names := session.Names(live)
	session.Fill(names, 1)
	return collectorRun(func() error {
		defer store.Close()
		defer session.Close()
		// Only now, so that nothing was dead before.
		sum, failed := session.Empty(names)
		return emptied(store, live, sum, failed)
	}), nil
}

// openCollectorMap fills Go's map of pointers, without any lock.
func openCollectorMap[R any](live int, rest R) (suite.Run, error) {
	values := make(map[uint64]*peer.Value[R], live)
	for id := range uint64(live) {
		values[id+1] = &peer.Value[R]{ID: id + 1, Rest: rest}
	}
	return collectorRun(func() error {
		sum := uint64(0)
		for _, v := range values {
			sum += v.ID
		}
		if len(values) != live || sum != sumTo(live) {
			return fmt.Errorf("%d values of the map add up to %d", len(values), sum)
		}
		return nil
	}), nil
}

// collections is how many each turn forces, and collectionsUpTo how long one may
// take to be repeated.
const (
	collections     = 3
	collectionsUpTo = 200 * time.Millisecond
)

// collectorRun forces collections. end checks what lived meanwhile.
func collectorRun(end func() error) suite.Run {
	var watch stopwatch
	r := &meteredRun{timedRun: timedRun{watch: &watch}, figures: map[string]float64{}}
	r.end = end
	r.do = func(int) (int, error) {
		n := r.collect(1)
		// The first also sweeps what filling left. It counts if it is the only one.
		if watch.took < collectionsUpTo {
			watch.took = 0
			n = r.collect(collections)
		}
		return n, nil
	}
	return r
}

// collect forces collections and notes their figures.
func (r *meteredRun) collect(n int) int {
	cpu, pauses := collectorTime()
	r.watch.start()
	for range n {
		runtime.GC()
	}
	r.watch.stop()
	cpuAfter, pausesAfter := collectorTime()
	r.figures["gc-cpu-ns/op"] = (cpuAfter - cpu) / float64(n) * 1e9
	r.figures["pause-max-ns"] = longest(pauses, pausesAfter) * 1e9
	return n
}

// collectorTime returns the processor time that the collector has used, and how
// often it stopped the world for how long, in seconds.
func collectorTime() (cpu float64, pauses *metrics.Float64Histogram) {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	return samples[0].Value.Float64(), samples[1].Value.Float64Histogram()
}

// longest returns the longest pause that after has and before had not: the end of
// its bucket, since the runtime counts in buckets.
func longest(before, after *metrics.Float64Histogram) float64 {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			if end := after.Buckets[i+1]; !math.IsInf(end, 1) {
				return end
			}
			return after.Buckets[i]
		}
	}
	return 0
}
