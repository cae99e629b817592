package workload

import (
	"runtime"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// memory fills stores that start empty and grow. A figure is the live heap after a garbage
// collection, less that before the store was made; what exceeds the value's own bytes is the
// store's. Names are not counted: a handle, a key or a pointer is 8 bytes. Then all values are
// removed in the order of insertion, and stores that have a Trim are trimmed.
func memory() suite.Question {
	return suite.Question{
		ID:    "Memory",
		Title: "How much memory do a million live values take, and how much is left when they are gone?",
		Charts: []suite.Chart{
			{Title: "Memory for each of a million live values", Unit: "B/value"},
			{Title: "Memory for each former value, after all were removed", Unit: "left-B/value"},
		},
		Groups: func(env suite.Env) []suite.Group {
			live := sizesOf(env, 1_000_000)[0]
			return []suite.Group{
				{Cases: memoryCases[peer.Rest16](live), Once: true},
				// A FIFO pool and a Worker keep values as the pool does.
				{Cases: memoryCases[peer.Rest64](live, peer.NameFIFO, peer.NameWorker), Once: true},
			}
		},
	}
}

// memoryCases returns a case for each peer but those without.
func memoryCases[R any](live int, without ...string) (cases []suite.Case) {
	without = append(without, peer.NameSyncPool) // it only keeps removed values
	params := []suite.Param{value[R](), number("live", live)}
	for _, p := range peer.All[R]() {
		if !p.Reads && !slices.Contains(without, p.Name) {
			cases = append(cases, suite.Case{Impl: p.Name, Params: params, Open: func() suite.Run { return openMemory(p, live) }})
		}
	}
	return cases
}

// leftLeast is the least remainder reported, in bytes for each former value. Below it
// are empty stores of some hundred bytes up to 100 kB, whose ratio would mean nothing.
const leftLeast = 0.5

// memoryRun has the figures of its last Do.
type memoryRun struct {
	plainRun
	figures map[string]float64
}

func (r *memoryRun) Metrics() map[string]float64 { return r.figures }

// openMemory returns a run that fills a new store once in each Do.
func openMemory[R any](p peer.Peer[R], live int) suite.Run {
	r := &memoryRun{}
	r.do = func(int) (int, error) {
		empty := liveHeap()
		store := p.Open(peer.Config[R]{Live: live, Sessions: 1, Grow: true})
		session := store.Session()
		made := liveHeap()
		names := session.Names(live)
		named := liveHeap()

		session.Fill(names, 1)
		full := liveHeap() - named + made - empty

		if err := emptied(store, session, names); err != nil {
			return 0, err
		}
		names = nil // a pointer keeps its value
		if store.Trim != nil {
			store.Trim()
		}
		runtime.GC() // with the one of liveHeap, two: a finalizer or a sync.Pool takes that
		left := liveHeap() - empty
		runtime.KeepAlive(store)
		r.figures = map[string]float64{
			"B/value":      float64(full) / float64(live),
			"left-B/value": max(float64(left)/float64(live), leftLeast),
		}
		return live, nil
	}
	return r
}
