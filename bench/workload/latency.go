package workload

import (
	"errors"

	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const clock = "clock"

func latency() suite.Question {
	return suite.Question{
		ID:    "Latency",
		Title: "How long does one replacement take at worst?",
		About: "Twice as many goroutines as processors replace values among 10,000 live ones. Each replacement is timed by itself; the floor 'clock' times nothing. " +
			"A goroutine begins an operation when its last one has ended, so a long operation delays others that are then not counted as late. The longest are those in which a goroutine was preempted.",
		Roles: rolesWith(map[string]suite.Role{clock: suite.Reference}),
		Charts: []suite.Chart{
			{Unit: "p50-ns", Title: "How long do half of the replacements take at most?"},
			{Unit: "p99-ns", Title: "How long do 99 of 100 replacements take at most?"},
			{Unit: "p99.9-ns", Title: "How long do 999 of 1,000 replacements take at most?"},
			{Unit: "max-ns", Title: "How long does one replacement take at worst?"},
		},
		Groups: func(env suite.Env) []suite.Group {
			return []suite.Group{{Cases: latencyCases(2*env.Procs, env), Turn: 4}}
		},
	}
}

func latencyCases(goroutines int, env suite.Env) (cases []suite.Case) {
	live := sizesOf(env, 10_000)[0]
	params := []suite.Param{value[peer.Rest16](), number("live", live)}
	for _, p := range peer.All[peer.Rest16]() {
		if !may(&p.About, goroutines) {
			continue
		}
		cases = append(cases, suite.Case{Impl: p.Name, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
			watches, taken := stopwatches(goroutines)
			c, err := enter(p, live, goroutines, func(sessions []peer.Session) (job, error) {
				g := -1
				return replacing(sessions, live/goroutines, env.Seed, func(r *replacer) turns.Work {
					g++
					return timed(r, watches[g])
				})
			})
			if err != nil {
				return nil, err
			}
			return &timing{c, taken}, nil
		}})
	}
	cases = append(cases, suite.Case{Impl: clock, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
		watches, taken := stopwatches(goroutines)
		var works []turns.Work
		for _, w := range watches {
			works = append(works, func(n int) (int, error) {
				for range n {
					from := w.Now()
					w.Record(w.Now() - from)
				}
				return n, nil
			})
		}
		return &timing{turns.Crew(works), taken}, nil
	}})
	return cases
}

func stopwatches(goroutines int) (watches []*measure.Stopwatch, taken *measure.Latencies) {
	for range goroutines {
		watches = append(watches, measure.NewStopwatch())
	}
	return watches, measure.NewLatencies(watches)
}

// timing is a run in which each operation is timed.
type timing struct {
	suite.Run
	*measure.Latencies
}

func (t *timing) Do(n int) (int, error) {
	did, err := t.Run.Do(n)
	t.EndTurn()
	return did, err
}

func (t *timing) Close() error { return errors.Join(t.Run.Close(), t.Err()) }

// timed is replacer.work, but times each replacement.
func timed(r *replacer, w *measure.Stopwatch) turns.Work {
	return func(n int) (int, error) {
		for left := n; left > 0; {
			picks := r.picks.next(left)
			for i := range picks {
				from := w.Now()
				failed := r.session.Replace(r.names, picks[i:i+1], r.next)
				w.Record(w.Now() - from)
				if failed > 0 {
					return n, errors.New("a removal was refused")
				}
				r.next++
			}
			left -= len(picks)
		}
		return n, nil
	}
}
