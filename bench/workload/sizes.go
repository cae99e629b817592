package workload

import (
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func sizes() suite.Question {
	return suite.Question{
		ID:    "Sizes",
		Title: "What do big values cost, and pointers in them?",
		About: "One goroutine stores 1,000 values, then looks each up and removes it, as in Burst. Values have 16, 64 or 256 bytes, without pointers and with. " +
			"A store that returns copies copies them whole. Vacant slots with pointers must be cleared, or they keep alive what they point to.",
		Roles: rolesWith(),
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, cases := range [][]suite.Case{
				burstCases[peer.Rest16](1, env),
				burstCases[peer.Rest64](1, env),
				burstCases[peer.Rest256](1, env),
				burstCases[peer.Refs16](1, env),
				burstCases[peer.Refs64](1, env),
				burstCases[peer.Refs256](1, env),
			} {
				groups = append(groups, suite.Group{Cases: cases})
			}
			return groups
		},
	}
}
