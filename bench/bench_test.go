package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/measure"
	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

// Each case of each question runs, its checks pass, and its figures are written.
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
				name := regexp.MustCompile(`-\d+$`).ReplaceAllString(r.Name.String(), "")
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
				require.Contains(t, units, c.Unit, "the chart %q", c.Title)
			}
		})
	}
}

// Names are unique and parse, whatever GOMAXPROCS is.
func TestNamesAreUniqueAndParse(t *testing.T) {
	for _, env := range []suite.Env{{Procs: 1}, {Procs: 3}, {Procs: 16}, {Procs: 1, Quick: true}} {
		seen := make(map[string]bool)
		for _, q := range workload.All() {
			for _, g := range q.Groups(env) {
				require.NotEmpty(t, g.Cases, q.ID)
				for i := range g.Cases {
					name := q.Name(&g.Cases[i])
					require.False(t, seen[name], "%+v: %s twice", env, name)
					seen[name] = true
					require.Regexp(t, `^[A-Z][A-Za-z0-9]*(/[a-z]+=[^/= ]+)+$`, name)
				}
			}
		}
	}
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
