package workload

import (
	"runtime"
	"runtime/metrics"
	"time"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func collector() suite.Question {
	return suite.Question{
		ID:    "GC",
		Title: "What does a garbage collection cost with millions of values live?",
		About: "Three collections are forced (one, if it takes longer than 0.2 s) while the values are live and nothing else runs: how long runtime.GC takes, and how much processor time the collector says that it used. " +
			"Values have 64 bytes without pointers, or with three to the same word, so that finding pointers is measured and not following them. The names of the values are live as well. " +
			"nothing is an empty heap: the cost of a forced collection itself.",
		Charts: []suite.Chart{
			{Title: "A garbage collection from beginning to end", Unit: "ns/op"},
			{Title: "Processor time of the collector, for each collection", Unit: "gc-cpu-ns/op"},
		},
		Groups: func(env suite.Env) []suite.Group {
			live := sizesOf(env, 1_000_000)[0]
			cases := append(collectorCases[peer.Rest64](live, "no"), collectorCases[peer.Refs64](live, "yes")...)
			return []suite.Group{{Cases: cases, Once: true}}
		},
	}
}

func collectorCases[R any](live int, pointers string) (cases []suite.Case) {
	params := []suite.Param{number("live", live), param("pointers", pointers)}
	for _, p := range peersOf[R](peer.NamePool, peer.NamePlain, peer.NameArk, peer.NameSyncMap, peer.NameXsync, peer.NameNew) {
		if p.Name == peer.NameSyncMap && pointers == "yes" {
			continue // it keeps pointers to values in either case, and a cycle takes a second
		}
		cases = append(cases, suite.Case{Impl: p.Name, Params: params, Open: func() suite.Run { return openCollector(p, live) }})
	}
	return append(cases, suite.Case{Impl: "nothing", Params: params, Open: func() suite.Run { return collectorRun(nil) }})
}

func openCollector[R any](p peer.Peer[R], live int) suite.Run {
	store := p.Open(peer.Config[R]{Rest: rest[R](), Live: live, Sessions: 1})
	session := store.Session()
	names := session.Names(live)
	session.Fill(names, 1)
	return collectorRun(func() error { return emptied(store, session, names) })
}

// A turn forces this many collections if the first took less than collectionsUpTo.
const (
	collections     = 3
	collectionsUpTo = 200 * time.Millisecond
)

// collectorRun forces collections. end, which may be nil, checks the live values.
func collectorRun(end func() error) suite.Run {
	r := &meteredRun{figures: map[string]float64{}}
	r.end = end
	r.do = func(int) (int, error) {
		n := r.collect(1)
		// The first also sweeps the garbage of filling. It counts only if it is the last.
		if r.took < collectionsUpTo {
			r.took = 0
			n = r.collect(collections)
		}
		return n, nil
	}
	return r
}

// collect forces collections and notes their figures.
func (r *meteredRun) collect(n int) int {
	cpu := collectorTime()
	r.timed(func() {
		for range n {
			runtime.GC()
		}
	})
	r.figures["gc-cpu-ns/op"] = (collectorTime() - cpu) / float64(n) * 1e9
	return n
}

// collectorTime returns the processor time that the collector has used, in seconds.
func collectorTime() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}
