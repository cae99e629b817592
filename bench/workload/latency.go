package workload

import (
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
	r := replacing(live, goroutines, env.Seed, untimed)
	add := func(impl string, open func(watches []*measure.Stopwatch) suite.Run) {
		cases = append(cases, r.caseOf(impl, func() suite.Run {
			var watches []*measure.Stopwatch
			for range goroutines {
				watches = append(watches, measure.NewStopwatch())
			}
			return &timing{open(watches), measure.NewLatencies(watches)}
		}))
	}
	for _, p := range peer.All[peer.Rest16]() {
		if !r.may(&p.About) {
			continue
		}
		add(p.Name, func(watches []*measure.Stopwatch) suite.Run {
			timed := func(r *replacer, g int) turns.Work { return timed(r, watches[g]) }
			return enter(p, replacing(live, goroutines, env.Seed, timed))
		})
	}
	add(clock, func(watches []*measure.Stopwatch) suite.Run {
		return r.reference(clock, func(g int) turns.Work {
			w := watches[g]
			return func(n int) (int, error) {
				for range n {
					from := w.Now()
					w.Record(w.Now() - from)
				}
				return n, nil
			}
		}).Open()
	})
	return cases
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

// timed is untimed, but times each replacement.
func timed(r *replacer, w *measure.Stopwatch) turns.Work {
	return func(n int) (int, error) {
		return r.picks.each(n, func(picks []uint32) error {
			for i := range picks {
				from := w.Now()
				err := r.replace(picks[i : i+1])
				w.Record(w.Now() - from)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}
