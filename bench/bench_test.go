package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/measure"
	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

// TestMain lets the tests' binary run a program, as the command does.
func TestMain(m *testing.M) {
	if args := os.Args[1:]; len(args) > 0 && (args[0] == "-app" || args[0] == "-spin") {
		main()
		return
	}
	os.Exit(m.Run())
}

// Each case of each question runs, its checks pass, and its figures are written.
func TestQuestionsPassTheirChecks(t *testing.T) {
	for _, q := range workload.All() {
		t.Run(q.ID, func(t *testing.T) {
			for _, procs := range []int{1, 3, 16} {
				names(t, &q, suite.Env{Procs: procs})
			}
			want := names(t, &q, suite.Env{Quick: true, Procs: runtime.GOMAXPROCS(0)})
			var out bytes.Buffer
			require.NoError(t, measure.Questions(context.Background(), &out, []suite.Question{q}, measure.Options{Quick: true}))
			units := make(map[string]bool)
			reader := benchfmt.NewReader(&out, "figures")
			for reader.Scan() {
				if r, ok := reader.Result().(*benchfmt.Result); ok {
					name := regexp.MustCompile(`-\d+$`).ReplaceAllString(r.Name.String(), "")
					require.True(t, want[name], "%s is unknown, or there twice", name)
					delete(want, name)
					for _, v := range r.Values {
						units[v.Unit], units[v.OrigUnit] = true, true
					}
				}
			}
			require.NoError(t, reader.Err())
			require.Empty(t, want)
			for _, c := range q.Charts {
				require.Contains(t, units, c.Unit, "the chart %q", c.Title)
			}
		})
	}
}

// names returns the names of a question's cases, which must be unique and parse.
func names(t *testing.T, q *suite.Question, env suite.Env) map[string]bool {
	all := make(map[string]bool)
	for _, g := range q.Groups(env) {
		require.NotEmpty(t, g.Cases, q.ID)
		for i := range g.Cases {
			name := q.Name(&g.Cases[i])
			require.False(t, all[name], "%+v: %s twice", env, name)
			all[name] = true
			require.Regexp(t, `^[A-Z][A-Za-z0-9]*(/[a-z]+=[^/= ]+)+$`, name)
		}
	}
	return all
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-quik"}, "-quik"},
		{[]string{"pool"}, `"pool" is not a flag`},
		{[]string{"-rounds", "0"}, "at least one"},
		{[]string{"-only", "("}, "-only"},
		{[]string{"-quick", "-readme"}, "-readme"},
		{[]string{"-quick", "-out", "x"}, "-out"},
		{[]string{"-from", "x", "-only", "Q"}, "-only"},
		{[]string{"-cpuprofile", "x"}, "-app"},
		{[]string{"-app", "x", "-goroutines", "0"}, "-goroutines"},
	} {
		_, err := parse(c.args, io.Discard)
		require.ErrorContains(t, err, c.want, "%v", c.args)
	}
}

func TestCommandCanBePastedIntoAShell(t *testing.T) {
	require.Equal(t, `go -C bench run . -only 'impl=(pool|it'\''s)/' -quick`, command([]string{"-only", "impl=(pool|it's)/", "-quick"}))
}

func TestFailedChecksFailTheProgram(t *testing.T) {
	done := func(n int) (int, error) { return n, nil }
	for _, wrong := range []error{nil, os.ErrInvalid} {
		dir := t.TempDir()
		asked, err := parse([]string{"-rounds", "1", "-only", "Q", "-out", dir}, io.Discard)
		require.NoError(t, err)
		q := suite.Question{ID: "Q", Charts: []suite.Chart{{Unit: "ns/op"}}, Groups: func(suite.Env) []suite.Group {
			return []suite.Group{{Cases: []suite.Case{
				{Impl: "good", Open: func() suite.Run { return suite.Run{Do: done} }},
				{Impl: "other", Open: func() suite.Run { return suite.Run{Do: done, Close: func() error { return wrong }} }},
			}}}
		}}
		err = answer(t.Context(), asked, []suite.Question{q}, io.Discard, io.Discard)
		figures, read := os.ReadFile(filepath.Join(dir, fileName()))
		require.NoError(t, read)
		require.Contains(t, string(figures), "impl=good/")
		require.Equal(t, wrong == nil, bytes.Contains(figures, []byte("impl=other/")))
		require.ErrorIs(t, err, wrong)
		if wrong != nil {
			require.ErrorContains(t, err, "Q/impl=other/goroutines=1")
		}

		quick, err := parse([]string{"-quick"}, io.Discard)
		require.NoError(t, err)
		var lines bytes.Buffer
		require.ErrorIs(t, answer(t.Context(), quick, []suite.Question{q}, &lines, io.Discard), wrong)
		require.Equal(t, map[bool]string{true: "Q          2 cases work\n", false: ""}[wrong == nil], lines.String())
	}
}

// Each row of the README's tables is about cases that are measured.
func TestRowsOfTheReadmeAreMeasured(t *testing.T) {
	measured := map[string]bool{}
	for _, q := range workload.All() {
		for _, g := range q.Groups(suite.Env{Procs: 2}) {
			for _, c := range g.Cases {
				name := q.ID + " " + c.Impl
				for _, p := range append(c.Params, suite.Param{Key: "goroutines", Value: strconv.Itoa(max(1, c.Goroutines))}) {
					if p.Key != "value" {
						name += fmt.Sprint(" ", p)
					}
				}
				measured[name] = true
			}
		}
	}
	for _, r := range programs {
		for _, goroutines := range []string{"quiet goroutines=2", "busy goroutines=16"} {
			if r.Question == "Game" {
				goroutines = strings.Fields(goroutines)[0] + " goroutines=1"
			}
			load, at, _ := strings.Cut(goroutines, " ")
			key, n, _ := strings.Cut(at, "=")
			require.Contains(t, measured, fmt.Sprint(r.Question+" "+r.Ours, " ", suite.Param{Key: "load", Value: load}, " ", suite.Param{Key: key, Value: n}))
		}
	}
	for _, r := range instead {
		for _, impl := range []string{r.Ours, r.Theirs} {
			name := r.Question + " " + impl
			for _, p := range r.Params {
				name += fmt.Sprint(" ", p)
			}
			require.Contains(t, measured, name)
		}
	}
}
