package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// churn replaces values. Each goroutine has its share of the live ones. It removes one, drawn at
// random beforehand, and stores another in its place. From 100,000 live values on, one store is
// open at a time, so that its garbage is collected as in a user's program.
func churn() suite.Question {
	return suite.Question{
		ID:    "Churn",
		Title: "Replace a value among many",
		Charts: []suite.Chart{
			{Unit: "ns/op", Where: map[string]string{"goroutines": "1"}, Title: "Replace a value among many, one goroutine"},
			{Unit: "ns/op", Where: map[string]string{"live": "1000"}, Title: "Replace a value among 1,000"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, live := range sizesOf(env, 1_000, 100_000, 1_000_000) {
				for _, goroutines := range goroutinesOf(env) {
					if goroutines == 1 || live <= 1_000 {
						groups = append(groups, suite.Group{Cases: contests[peer.Rest16](replacing(live, goroutines)), Apart: live >= big})
					}
				}
			}
			return groups
		},
	}
}

// replacing are the rules by which each goroutine replaces its own share of the live
// values.
func replacing(live, goroutines int) rules {
	params := []suite.Param{value[peer.Rest16](), number("live", live)}
	return rules{params: params, live: live, goroutines: goroutines, plan: func(sessions []peer.Session) (j job) {
		share := live / len(sessions)
		for g, s := range sessions {
			r := &replacer{session: s, names: s.Names(share), first: base(g), next: base(g) + uint64(share)}
			r.picks.all = draw(g, many(share), share)
			s.Fill(r.names, r.first)
			// A first pass before the clock runs: it touches the memory that only a removal writes,
			// such as the stamps of a pool with a Capacity.
			if _, err := r.picks.each(share, r.replace); err != nil {
				panic(err)
			}
			j.works = append(j.works, func(n int) (int, error) { return r.picks.each(n, r.replace) })
			j.checks = append(j.checks, r.check)
		}
		return j
	}}
}

// replacer is one goroutine's share of the live values.
type replacer struct {
	session peer.Session
	names   peer.Names
	picks   cycle
	first   uint64 // the identity of the first value
	next    uint64 // of the next one
}

func (r *replacer) replace(picks []uint32) error {
	if failed := r.session.Replace(r.names, picks, r.next); failed > 0 {
		return fmt.Errorf("%d of %d removals were refused", failed, len(picks))
	}
	r.next += uint64(len(picks))
	return nil
}

// check requires in each place the value stored there last, and removes it.
func (r *replacer) check() error {
	live := r.names.Len()
	want := make([]uint64, live)
	for i := range want {
		want[i] = r.first + uint64(i)
	}
	// The picks were used in order, so each identity tells its place.
	for id := r.first + uint64(live); id < r.next; id++ {
		want[r.picks.all[(id-r.first-uint64(live))%uint64(len(r.picks.all))]] = id
	}
	for i, id := range want {
		if got, ok := r.session.Look(r.names, i); !ok || got != id {
			return fmt.Errorf("place %d has value %d, %v; want %d", i, got, ok, id)
		}
		if !r.session.Drop(r.names, i) {
			return fmt.Errorf("the removal of %d was refused", id)
		}
	}
	return nil
}
