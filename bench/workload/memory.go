package workload

import (
	"fmt"
	"runtime"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// memory asks how much a million values take.
func memory() suite.Question {
	return suite.Question{
		ID:    "Memory",
		Title: "How much memory do a million live values take, and how much is left when they are gone?",
		About: "Live heap after a garbage collection, less what it was before the store was made, for each value: what a value takes beside its own bytes is the store's. " +
			"Every store starts empty and grows, although some could be told how many will come. Names are not counted: 8 bytes each for handles, keys and pointers alike. " +
			"After that all values are removed, in the order of insertion, what can give memory back is told to (Trim), and the heap is looked at again; less than half a byte a value counts as half a byte. Time is that of filling.",
		Roles: rolesWith(nil),
		Charts: []suite.Chart{
			{Title: "Memory for each of a million live values", Unit: "B/value"},
			{Title: "Memory for each former value, after all were removed", Unit: "left-B/value"},
		},
		Groups: func(env suite.Env) []suite.Group {
			live := 1_000_000
			if env.Quick {
				live = 2_000
			}
			g16 := memoryCases[peer.Rest16](live, "16B", true)
			g64 := memoryCases[peer.Rest64](live, "64B", env.Full)
			groups := []suite.Group{{Cases: g16, Once: true}, {Cases: g64, Once: true}}
			if env.Full {
				groups = append(groups, suite.Group{Cases: memoryCases[peer.Rest256](live, "256B", true), Once: true})
			}
			return groups
		},
	}
}

// memoryTwins are left out where time is short: they keep values as pool and mutex do.
var memoryTwins = []string{peer.NameFIFO, peer.NameWorker, peer.NameRWMutex}

// memoryCases are the peers with values of that size, all or without twins.
func memoryCases[R any](live int, value string, all bool) []suite.Case {
	var cases []suite.Case
	for _, p := range peer.All[R]() {
		if p.Name == peer.NameSyncPool || p.Name == peer.NameChannel {
			continue // recycle what new allocates: while values live, they are new
		}
		if !all && slices.Contains(memoryTwins, p.Name) {
			continue
		}
		cases = append(cases, suite.Case{
			Impl:   p.Name,
			Params: []suite.Param{param("value", value), number("live", live)},
			Open:   func() (suite.Run, error) { return openMemory(p, live), nil },
		})
	}
	return cases
}

// leftLeast is the least that is said to be left, in bytes for each former value.
// Below that are empty stores of a few hundred bytes, or of a hundred thousand,
// whose ratio says nothing about a million values.
const leftLeast = 0.5

// openMemory makes the run: each Do fills a new store once, whatever n is.
func openMemory[R any](p peer.Peer[R], live int) suite.Run {
	var watch stopwatch
	r := &meteredRun{timedRun: timedRun{watch: &watch}}
	r.do = func(int) (int, error) {
		empty := liveHeap()
		store, err := p.Open(peer.Config[R]{Live: live, Sessions: 1, Grow: true})
		if err != nil {
			return 0, err
		}
		session := store.Session()
		made := liveHeap()
		names := session.Names(live)
		named := liveHeap()

		watch.start()
		session.Fill(names, 1)
		watch.stop()
		full := liveHeap() - named + made - empty
		if n := store.Len(); n >= 0 && n != live {
			return 0, fmt.Errorf("%d values live, not %d", n, live)
		}

		sum, failed := session.Empty(names)
		if err := emptied(store, live, sum, failed); err != nil {
			return 0, err
		}
		names = nil // a name may be what keeps a value, as a pointer does
		session.Close()
		store.Trim()
		runtime.GC() // what has a finalizer, or lies in a sync.Pool, takes two
		left := liveHeap() - empty
		store.Close()
		r.figures = map[string]float64{
			"B/value":      float64(full) / float64(live),
			"left-B/value": max(float64(left)/float64(live), leftLeast),
		}
		return live, nil
	}
	return r
}
