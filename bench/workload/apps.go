package workload

import (
	"fmt"

	"coatcheck/bench/apps"
	"coatcheck/bench/suite"
)

// spinning is how many processes spin beside a busy program, for each processor, and crowd how
// many goroutines for each processor its work is divided among.
const spinning, crowd = 4, 8

// programs returns a question for each program of package apps. In each round, each version runs
// once, in a process of its own: quiet, with a goroutine for each processor, and busy, with more
// goroutines than processors, beside processes that spin.
func programs() (qs []suite.Question) {
	for _, app := range apps.All() {
		charts := []suite.Chart{
			{Title: app.Title + ", processor time", Unit: "cpu-ns/op"},
			{Title: app.Title + ", wall time", Unit: "ns/op"},
			{Title: app.Title + ", resident memory at the peak", Unit: "peak-B"},
		}
		if app.Saves {
			charts = append(charts, suite.Chart{Title: app.Title + ", its file", Unit: "saved-B"})
		}
		qs = append(qs, suite.Question{ID: app.ID, Title: app.Title, Roles: apps.Roles(), Charts: charts, Groups: func(env suite.Env) []suite.Group {
			return []suite.Group{programCases(&app, env, false), programCases(&app, env, true)}
		}})
	}
	return qs
}

// programCases returns a case for each version. A case fails if its result is not that of the
// version before.
func programCases(app *apps.App, env suite.Env, busy bool) suite.Group {
	l, load, spins := apps.Load{Quick: env.Quick, Goroutines: env.Procs}, "quiet", 0
	if busy {
		l.Goroutines, load, spins = crowd*env.Procs, "busy", spinning*env.Procs
	}
	if app.Alone {
		l.Goroutines = 1
	}
	if env.Quick {
		spins = min(spins, 1)
	}
	var want *uint64
	group := suite.Group{Whole: true}
	for _, v := range app.Versions {
		group.Cases = append(group.Cases, suite.Case{Impl: v.Impl, Params: []suite.Param{param("load", load)}, Goroutines: l.Goroutines, Open: func() suite.Run {
			var figures map[string]float64
			return suite.Run{
				Do: func(int) (int, error) {
					got, sum, ops, err := apps.Process(app.ID+"/"+v.Impl, l, spins)
					if err != nil {
						return 0, err
					}
					if want == nil {
						want = &sum
					}
					if sum != *want {
						return 0, fmt.Errorf("the result is %d, and another version's %d", sum, *want)
					}
					figures = got
					return ops, nil
				},
				Metrics: func() map[string]float64 { return figures },
			}
		}})
	}
	return group
}
