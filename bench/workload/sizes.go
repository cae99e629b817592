package workload

import (
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// sizes stores 1,000 values, then looks each up and removes it. An operation is all that happens
// to one value. A store that returns copies copies them whole. Vacant slots with pointers must
// be cleared, or they keep alive what they point to.
func sizes() suite.Question {
	return suite.Question{
		ID:     "Sizes",
		Title:  "Big values, and pointers in them",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) []suite.Group {
			return []suite.Group{
				burstGroup[peer.Rest16](env),
				burstGroup[peer.Rest64](env),
				burstGroup[peer.Rest256](env),
				burstGroup[peer.Refs16](env),
				burstGroup[peer.Refs64](env),
				burstGroup[peer.Refs256](env),
			}
		},
	}
}

func burstGroup[R any](env suite.Env) suite.Group {
	return suite.Group{Cases: contests[R](bursts([]suite.Param{value[R]()}, sizesOf(env, 1_000)[0], 1))}
}

// bursts store and remove size values at a time.
func bursts(params []suite.Param, size, goroutines int) rules {
	return rules{params: params, live: size * goroutines, goroutines: goroutines, plan: func(sessions []peer.Session) (j job) {
		for g, s := range sessions {
			ns, first := s.Names(size), base(g)
			j.works = append(j.works, func(n int) (did int, err error) {
				for ; did < n && err == nil; did += size {
					s.Fill(ns, first)
					err = cleared(s, ns, first)
					first += uint64(size)
				}
				return did, err
			})
		}
		return j
	}}
}
