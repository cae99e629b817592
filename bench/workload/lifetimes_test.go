package workload

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
)

// Every case opens, does what it is asked, twice, and ends as it should: all of a
// group open at once, unless the group is measured otherwise.
func TestLifetimesQuick(t *testing.T) {
	env := suite.Env{Quick: true, Procs: runtime.GOMAXPROCS(0), Seed: 1}
	for _, q := range lifetimes() {
		t.Run(q.ID, func(t *testing.T) {
			names := map[string]bool{}
			for _, g := range q.Groups(env) {
				var runs []suite.Run
				for i := range g.Cases {
					c := &g.Cases[i]
					name := q.Name(c)
					require.False(t, names[name], name)
					names[name] = true
					run, err := c.Open()
					require.NoError(t, err, name)
					if g.Once || g.Apart {
						requireTurn(t, &q, run, name)
						require.NoError(t, run.Close(), name)
					} else {
						runs = append(runs, run)
					}
				}
				for range 2 {
					for i, run := range runs {
						requireTurn(t, &q, run, q.Name(&g.Cases[i]))
					}
				}
				for i, run := range runs {
					require.NoError(t, run.Close(), q.Name(&g.Cases[i]))
				}
			}
			require.NotEmpty(t, names)
		})
	}
}

// requireTurn has a case do something.
func requireTurn(t *testing.T, q *suite.Question, run suite.Run, name string) {
	t.Helper()
	start := time.Now()
	did, err := run.Do(1)
	took := time.Since(start)
	require.NoError(t, err, name)
	require.Positive(t, did, name)
	if timed, ok := run.(suite.Timed); ok {
		require.Positive(t, timed.Took(), name)
		require.LessOrEqual(t, timed.Took(), took, name)
	}
	if metered, ok := run.(suite.Metered); ok {
		requireFigures(t, q, metered, name)
	}
}

// requireFigures fails unless all figures of a case are in a chart.
func requireFigures(t *testing.T, q *suite.Question, run suite.Metered, name string) {
	t.Helper()
	units := map[string]bool{}
	for _, c := range q.Charts {
		units[c.Unit] = true
	}
	for unit, figure := range run.Metrics() {
		require.True(t, units[unit], "%s: nothing shows %s", name, unit)
		require.GreaterOrEqual(t, figure, 0.0, "%s: %s", name, unit)
	}
}
