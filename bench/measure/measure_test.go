package measure

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/suite"
)

func TestLatenciesAreThoseOfTheLastTurn(t *testing.T) {
	watches := []*Stopwatch{NewStopwatch(), NewStopwatch()}
	l := NewLatencies(watches)
	for range 990 {
		watches[0].Record(100)
	}
	for range 10 {
		watches[1].Record(5 * time.Microsecond)
	}
	l.EndTurn()
	s := l.Sample()
	require.InEpsilon(t, 100, s["p50-ns"], 0.01)
	require.InEpsilon(t, 100, s["p99-ns"], 0.01)
	require.InEpsilon(t, 5000, s["p99.9-ns"], 0.01)
	watches[1].Record(200)
	l.EndTurn()
	require.InEpsilon(t, 200, l.Sample()["p99-ns"], 0.01)
	require.InEpsilon(t, 5000, l.Metrics()["max-ns"], 0.01, "of all turns")
	require.NoError(t, l.Err())
	watches[0].Record(2 * time.Hour)
	l.EndTurn()
	require.Error(t, l.Err())
}

// steady notes its turns and takes the time that its operations are said to take.
type steady struct {
	each   time.Duration
	turns  *[]string
	name   string
	closed *int
}

func (s steady) Close() error { *s.closed++; return nil }

type timed struct {
	steady
	n int
}

func (r *timed) Do(n int) (int, error) { r.n = n; *r.turns = append(*r.turns, r.name); return n, nil }
func (r *timed) Took() time.Duration   { return time.Duration(r.n) * r.each }

func TestTurnsAreCalibratedAndOrderRotates(t *testing.T) {
	var turns []string
	var closed int
	q := suite.Question{ID: "Q", Groups: func(suite.Env) []suite.Group {
		var g suite.Group
		for i, name := range []string{"a", "b", "c"} {
			each := time.Duration(1+i*100) * time.Microsecond
			g.Cases = append(g.Cases, suite.Case{Impl: name, Open: func() (suite.Run, error) {
				return &timed{steady: steady{each: each, turns: &turns, name: name, closed: &closed}}, nil
			}})
		}
		return []suite.Group{g}
	}}
	var out bytes.Buffer
	require.NoError(t, Questions(context.Background(), &out, []suite.Question{q}, Options{Rounds: 3, Turn: 10 * time.Millisecond,
		Config: []benchfmt.Config{{Key: "cpu", Value: []byte("x"), File: true}}}))
	require.Equal(t, 3, closed)
	require.Equal(t, "abcbcacab", strings.Join(turns[len(turns)-9:], ""))
	ops := map[string][]int{}
	r := benchfmt.NewReader(&out, "out")
	for r.Scan() {
		if rec, ok := r.Result().(*benchfmt.Result); ok {
			name := rec.Name.String()
			ops[name[:len("Q/impl=a")]] = append(ops[name[:len("Q/impl=a")]], rec.Iters)
			require.Equal(t, "x", rec.GetConfig("cpu"))
		}
	}
	require.Len(t, ops, 3)
	for name, want := range map[string]float64{"Q/impl=a": 10000, "Q/impl=b": 10000. / 101, "Q/impl=c": 10000. / 201} {
		require.Len(t, ops[name], 3)
		require.InEpsilon(t, want, ops[name][2], 0.1, name)
	}
}

func TestOnlyOneCaseIsOpenApart(t *testing.T) {
	open := 0
	most := 0
	opened := map[string]int{}
	q := suite.Question{ID: "Q", Groups: func(suite.Env) []suite.Group {
		g := suite.Group{Apart: true}
		for _, name := range []string{"fast", "slow"} {
			g.Cases = append(g.Cases, suite.Case{Impl: name, Open: func() (suite.Run, error) {
				opened[name]++
				if open++; open > most {
					most = open
				}
				if name == "slow" {
					time.Sleep(200 * time.Millisecond)
				}
				return &counted{open: &open}, nil
			}})
		}
		return []suite.Group{g}
	}}
	var out bytes.Buffer
	require.NoError(t, Questions(context.Background(), &out, []suite.Question{q}, Options{Rounds: 7, Turn: 5 * time.Millisecond}))
	require.Equal(t, 1, most)
	require.Zero(t, open)
	require.Equal(t, map[string]int{"fast": 2, "slow": 1}, opened)
	require.Equal(t, 7, strings.Count(out.String(), "impl=fast"))
	require.Equal(t, 7, strings.Count(out.String(), "impl=slow"))
}

type counted struct {
	open *int
	n    int
}

func (c *counted) Do(n int) (int, error) { c.n = n; return n, nil }
func (c *counted) Took() time.Duration   { return time.Duration(c.n) * time.Microsecond }
func (c *counted) Close() error          { *c.open--; return nil }

func TestStoppedAndNothing(t *testing.T) {
	q := suite.Question{ID: "Q", Groups: func(suite.Env) []suite.Group {
		n := 0
		return []suite.Group{{Cases: []suite.Case{{Impl: "a", Open: func() (suite.Run, error) { return &counted{open: &n}, nil }}}}}
	}}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	err := Questions(ctx, new(bytes.Buffer), []suite.Question{q}, Options{Quick: true})
	require.ErrorIs(t, err, errStopped)
	err = Questions(context.Background(), new(bytes.Buffer), []suite.Question{q}, Options{Quick: true, Only: regexp.MustCompile("zzz")})
	require.ErrorIs(t, err, ErrNothing)
}
