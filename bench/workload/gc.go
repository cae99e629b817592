package workload

import (
	"runtime"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// collector forces collections while a million values are live and nothing else runs. Values
// have 64 bytes without pointers, or with three to the same word, so that finding pointers is
// measured and not following them. The names of the values are live as well.
func collector() suite.Question {
	return suite.Question{
		ID:     "GC",
		Title:  "Garbage collection, with a million values",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) []suite.Group {
			live := sizesOf(env, 1_000_000)[0]
			return []suite.Group{
				{Cases: collectorCases[peer.Rest64](live, "no"), Apart: !env.Quick, Once: env.Quick},
				{Cases: collectorCases[peer.Refs64](live, "yes"), Apart: !env.Quick, Once: env.Quick},
			}
		},
	}
}

// collectorCases leaves sync.Map out, which keeps pointers to values in either case: a cycle
// takes a second.
func collectorCases[R any](live int, pointers string) []suite.Case {
	params := []suite.Param{number("live", live), param("pointers", pointers)}
	return casesOf(params, func(p peer.Peer[R]) suite.Run { return openCollector(p, live) },
		peer.NamePool, peer.NamePlain, peer.NameArk, peer.NameXsync, peer.NameNew)
}

func openCollector[R any](p peer.Peer[R], live int) suite.Run {
	store := p.Open(peer.Config[R]{Rest: rest[R](), Live: live, Sessions: 1})
	session := store.Session()
	names := session.Names(live)
	session.Fill(names, 1)
	return suite.Run{
		Do: func(n int) (int, error) {
			for range n {
				runtime.GC()
			}
			return n, nil
		},
		Close: func() error { return emptied(store, session, names) },
	}
}
