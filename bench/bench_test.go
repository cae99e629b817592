package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/measure"
	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

// identifier is what a question's ID must be, so that it can be the name of a benchmark.
var identifier = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

func TestQuestionsAreQuestions(t *testing.T) {
	for _, q := range workload.All() {
		require.Regexp(t, identifier, q.ID)
		require.True(t, strings.HasSuffix(q.Title, "?"), "%s: %q does not ask", q.ID, q.Title)
		require.NotEmpty(t, q.About, q.ID)
		require.NotEmpty(t, q.Charts, q.ID)
	}
}

// Each question with all its contestants runs, their checks pass, and what is
// written is what was measured.
func TestQuestionsPassTheirChecks(t *testing.T) {
	for _, q := range workload.All() {
		t.Run(q.ID, func(t *testing.T) {
			want := make(map[string]bool)
			env := suite.Env{Quick: true, Procs: runtime.GOMAXPROCS(0), Seed: 1}
			for _, g := range q.Groups(env) {
				for i := range g.Cases {
					want[q.Name(&g.Cases[i])] = true
				}
			}
			var out bytes.Buffer
			require.NoError(t, measure.Questions(context.Background(), &out, []suite.Question{q}, measure.Options{Quick: true, Seed: 1}))
			got := make(map[string]bool)
			units := make(map[string]bool)
			for _, r := range results(t, &out) {
				name := strings.TrimSuffix(r.Name.String(), procs())
				require.False(t, got[name], "%s twice", name)
				got[name] = true
				for _, v := range r.Values {
					unit := v.Unit
					if v.OrigUnit != "" {
						unit = v.OrigUnit
					}
					units[unit] = true
				}
			}
			require.Equal(t, want, got)
			for _, c := range q.Charts {
				if c.Unit != "efficiency" { // which the report works out
					require.Contains(t, units, c.Unit, "the chart %q", c.Title)
				}
			}
			for impl := range q.Roles {
				require.NotEmpty(t, impl)
			}
		})
	}
}

// All sizes of a run with and without -full, as far as that can be seen without
// running them.
func TestNamesAreUniqueAndParse(t *testing.T) {
	for _, env := range []suite.Env{{Procs: 1}, {Procs: 2}, {Procs: 3}, {Procs: 16}, {Procs: 4, Full: true}, {Procs: 1, Quick: true}} {
		seen := make(map[string]bool)
		for _, q := range workload.All() {
			for _, g := range q.Groups(env) {
				require.NotEmpty(t, g.Cases, q.ID)
				for i := range g.Cases {
					name := q.Name(&g.Cases[i])
					require.False(t, seen[name], "%+v: %s twice", env, name)
					seen[name] = true
					base, parts := benchfmt.Name(name + "-4").Parts()
					require.Equal(t, q.ID, string(base))
					for _, part := range parts[:len(parts)-1] {
						require.Regexp(t, `^/[a-z]+=[^/= ]+$`, string(part), name)
					}
					require.Equal(t, "-4", string(parts[len(parts)-1]))
				}
			}
		}
	}
}

// procs is what stands behind the names that are measured here.
func procs() string {
	var out bytes.Buffer
	q := suite.Question{ID: "Q", Groups: func(suite.Env) []suite.Group {
		return []suite.Group{{Cases: []suite.Case{{Impl: "i", Open: func() (suite.Run, error) { return idle{}, nil }}}}}
	}}
	if err := measure.Questions(context.Background(), &out, []suite.Question{q}, measure.Options{Quick: true}); err != nil {
		panic(err)
	}
	name := regexp.MustCompile(`goroutines=1(\S*)`).FindStringSubmatch(out.String())
	return name[1]
}

type idle struct{}

func (idle) Do(n int) (int, error) { return n, nil }
func (idle) Close() error          { return nil }

// results reads the benchmark format.
func results(t *testing.T, r io.Reader) (rs []*benchfmt.Result) {
	t.Helper()
	reader := benchfmt.NewReader(r, "figures")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			rs = append(rs, rec.Clone())
		case *benchfmt.SyntaxError:
			require.NoError(t, rec)
		}
	}
	require.NoError(t, reader.Err())
	return rs
}
