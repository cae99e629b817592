package workload

import (
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// memory fills stores that start empty and grow. A figure is the live heap after a garbage
// collection, less that before the store was made; what exceeds the value's own bytes is the
// store's. Names are not counted: a handle, a key or a pointer is 8 bytes.
func memory() suite.Question {
	return suite.Question{
		ID:     "Memory",
		Title:  "Memory of each of a million values",
		Charts: []suite.Chart{{Unit: "B/value"}},
		Groups: func(env suite.Env) []suite.Group {
			live := sizesOf(env, 1_000_000)[0]
			return []suite.Group{{Cases: memoryCases[peer.Rest16](live), Once: true}, {Cases: memoryCases[peer.Rest64](live), Once: true}}
		},
	}
}

// memoryCases leaves sync.Pool out, which only keeps removed values.
func memoryCases[R any](live int) []suite.Case {
	return casesOf([]suite.Param{value[R](), number("live", live)}, func(p peer.Peer[R]) suite.Run { return openMemory(p, live) },
		peer.NamePool, peer.NameWorker, peer.NameMutex, peer.NameSyncMap, peer.NameXsync, peer.NameArk, peer.NameNew, peer.NamePlain)
}

// openMemory returns a run that fills a new store once in each Do.
func openMemory[R any](p peer.Peer[R], live int) suite.Run {
	perValue := 0.
	do := func(int) (int, error) {
		empty := liveHeap()
		store := p.Open(peer.Config[R]{Live: live, Sessions: 1, Grow: true})
		session := store.Session()
		made := liveHeap()
		names := session.Names(live)
		named := liveHeap()

		session.Fill(names, 1)
		perValue = float64(liveHeap()-named+made-empty) / float64(live)
		return live, emptied(store, session, names)
	}
	return suite.Run{Do: do, Metrics: func() map[string]float64 { return map[string]float64{"B/value": perValue} }}
}
