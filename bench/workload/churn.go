package workload

import (
	"errors"
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

func churn() suite.Question {
	return suite.Question{
		ID:    "Churn",
		Title: "What does a replacement cost among many live values?",
		About: "Each goroutine has its share of the live values. It removes one, drawn at random beforehand, and stores another in its place. " +
			"From 100,000 live values on, one store is open at a time, so that its garbage is collected as in a user's program.",
		Roles: rolesWith(),
		Charts: []suite.Chart{
			{Unit: "ns/op", Where: map[string]string{"goroutines": "1"}, Title: "What does a replacement cost among many live values, to one goroutine?"},
			{Unit: "ns/op", Where: map[string]string{"live": "1000"}, Title: "What does a replacement cost among 1,000 live values?"},
		},
		Groups: churnGroups,
	}
}

func churnGroups(env suite.Env) (groups []suite.Group) {
	for _, live := range sizesOf(env, 1_000, 100_000, 1_000_000) {
		for _, goroutines := range goroutinesOf(env) {
			if goroutines > 1 && live > 1_000 {
				continue
			}
			params := []suite.Param{value[peer.Rest16](), number("live", live)}
			g := suite.Group{Apart: live >= big}
			for _, p := range peer.All[peer.Rest16]() {
				if may(&p.About, goroutines) {
					g.Cases = append(g.Cases, suite.Case{Impl: p.Name, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
						return enter(p, live, goroutines, func(sessions []peer.Session) (job, error) {
							return replacing(sessions, live/goroutines, env.Seed, func(r *replacer) turns.Work { return r.work })
						})
					}})
				}
			}
			groups = append(groups, g)
		}
	}
	return groups
}

// replacing returns the job in which each goroutine replaces its own live values. do
// makes a goroutine's work of its replacer.
func replacing(sessions []peer.Session, live int, seed uint64, do func(*replacer) turns.Work) (j job, err error) {
	var replacers []*replacer
	for g, s := range sessions {
		r := newReplacer(s, g, live, seed)
		replacers = append(replacers, r)
		j.works = append(j.works, do(r))
	}
	j.check = func() error {
		var errs []error
		for _, r := range replacers {
			errs = append(errs, r.check())
		}
		return errors.Join(errs...)
	}
	return j, nil
}

// replacer is one goroutine's share of the live values.
type replacer struct {
	session peer.Session
	names   peer.Names
	picks   cycle[uint32]
	first   uint64 // the identity of the first value
	next    uint64 // of the next one
}

func newReplacer(s peer.Session, g, live int, seed uint64) *replacer {
	r := &replacer{session: s, names: s.Names(live), first: base(g), next: base(g) + uint64(live)}
	// Enough picks that neither the cache nor the branch predictor learns them.
	r.picks.all = draw(seed, g, max(1<<14, min(2*live, 1<<20)), live)
	s.Fill(r.names, r.first)
	return r
}

func (r *replacer) work(n int) (int, error) {
	for left := n; left > 0; {
		picks := r.picks.next(left)
		if failed := r.session.Replace(r.names, picks, r.next); failed > 0 {
			return n, fmt.Errorf("%d of %d removals were refused", failed, len(picks))
		}
		r.next += uint64(len(picks))
		left -= len(picks)
	}
	return n, nil
}

// check requires in each place the value stored there last, and removes it.
func (r *replacer) check() error {
	live := r.names.Len()
	want := make([]uint64, live)
	for i := range want {
		want[i] = r.first + uint64(i)
	}
	// The picks were used in order, so each identity tells its place.
	for done, id := 0, r.first+uint64(live); id < r.next; id++ {
		want[r.picks.all[done]] = id
		if done++; done == len(r.picks.all) {
			done = 0
		}
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
