package workload

import (
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

func burst() suite.Question {
	return suite.Question{
		ID:    "Burst",
		Title: "What does a value cost that comes and goes with a thousand others?",
		About: "Each goroutine stores 1,000 values, then looks each up and removes it, the first one first. An operation is all that happens to one value.",
		Roles: rolesWith(),
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range goroutinesOf(env) {
				groups = append(groups, suite.Group{Cases: burstCases[peer.Rest16](goroutines, env)})
			}
			return groups
		},
	}
}

func burstCases[R any](goroutines int, env suite.Env) (cases []suite.Case) {
	size := sizesOf(env, 1_000)[0]
	params := []suite.Param{value[R]()}
	for _, p := range peer.All[R]() {
		if may(&p.About, goroutines) {
			cases = append(cases, burstCase(p, params, size, goroutines))
		}
	}
	return cases
}

func burstCase[R any](p peer.Peer[R], params []suite.Param, size, goroutines int) suite.Case {
	return suite.Case{Impl: p.Name, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
		return enter(p, size*goroutines, goroutines, func(sessions []peer.Session) (j job, err error) {
			for g, s := range sessions {
				j.works = append(j.works, bursts(s, size, base(g)))
			}
			// Each burst is checked when it is over.
			j.check = func() error { return nil }
			return j, nil
		})
	}}
}

// bursts stores and removes size values at a time.
func bursts(s peer.Session, size int, first uint64) turns.Work {
	ns := s.Names(size)
	return func(n int) (did int, err error) {
		for did < n {
			s.Fill(ns, first)
			if err := cleared(s, ns, first); err != nil {
				return did, err
			}
			first += uint64(size)
			did += size
		}
		return did, nil
	}
}
