package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
)

// The references are the fastest, and no verdict is about them.
func TestLossesAreExactlyThoseBeyondTheNoise(t *testing.T) {
	values := map[string]float64{
		"pool/live=1": 10, "worker/live=1": 50, "mutex/live=1": 8, "ark/live=1": 2, "cgo/live=1": 11, "cas/live=1": 1, "locked/live=1": 0.5,
		"pool/live=2": 10, "worker/live=2": 6, "mutex/live=2": 9, "syncmap/live=2": 10,
		"worker/live=3": 60, "mutex/live=3": 40, "loop/live=3": 1,
		"mutex/live=4": 1,
	}
	for _, c := range []struct {
		unit string
		want []string
	}{
		{"ns/op", []string{"live 1: pool ark 5.00", "live 3: worker mutex 1.50", "live 1: pool mutex 1.25"}},
		{"ops/s", []string{"live 1: pool ark 0.20", "live 3: worker mutex 0.67", "live 1: pool mutex 0.80"}},
	} {
		chart := suite.Chart{Unit: c.unit, More: c.unit == "ops/s"}
		f := values
		if chart.More {
			f = map[string]float64{}
			for name, v := range values {
				f[name] = 1 / v
			}
		}
		cs := constructed(t, c.unit, f).contests([]suite.Question{question(chart)})
		rows, score := losses(cs)
		var got []string
		for _, r := range rows {
			at, _, _ := strings.Cut(r[1], ",")
			got = append(got, at+": "+strings.Fields(r[2])[0]+" "+strings.Fields(r[3])[0]+" "+r[4])
		}
		assert.Equal(t, c.want, got)
		assert.Equal(t, "We lose 3 of 6 comparisons; without Workers and Guards, 3.", score)
		var references []string
		for _, c := range cs {
			references = append(references, strings.Fields(c.texts()[6] + " none")[0])
		}
		assert.Equal(t, []string{"cas", "loop", "none"}, references)
	}
}

// The tables for the terminal show every loss and every contest.
func TestTextHidesNothing(t *testing.T) {
	f, qs := fixture(t)
	cs := f.contests(qs)
	rows, score := losses(cs)
	for _, c := range cs {
		rows = append(rows, c.texts())
	}
	var b strings.Builder
	require.NoError(t, Text(&b, f, qs))
	for _, texts := range append(rows, []string{score}) {
		for _, text := range texts {
			assert.True(t, strings.Contains(b.String(), text), text)
		}
	}
}

func TestTableHasTheEndsOfCharts(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	q.ID = "Pair"
	f := constructed(t, "ns/op", map[string]float64{"pool/live=1": 6, "worker/live=1": 3, "mutex/live=1": 7, "pool/live=5": 6, "mutex/live=5": 7, "pool/live=9": 12, "mutex/live=9": 8, "cas/live=1": 1})
	for _, s := range f.series {
		s.id = q.ID
	}
	const origin = "X. We lose 1 of 3 comparisons; without Workers and Guards, 1.\n\n"
	f.config["cpu"] = "X"
	require.Equal(t, origin+`| what | the plain pool | a Worker | best that does the job |
|---|---|---|---|
| What? (live 1; live 9) | 6.03 ns; 12.1 ns | 3.01 ns; – | mutex 7.04 ns; mutex 8.04 ns |
`, Table(f, []suite.Question{q}))
	require.Equal(t, origin+"| what |\n|---|\n", Table(f, []suite.Question{q}, "Pair"))

	program := constructed(t, "ns/op", map[string]float64{"pool/load=quiet": 1, "mutex/load=quiet": 2})
	program.series[0].id, program.series[1].id = q.ID, q.ID
	require.NotContains(t, Table(program, []suite.Question{q}), "What?")
}

func TestRewriteReplacesTheTablesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	rewrite := func(old, text string) (string, error) {
		require.NoError(t, os.WriteFile(path, []byte(old), 0o644))
		err := Rewrite(path, "bench", text)
		got, reading := os.ReadFile(path)
		require.NoError(t, reading)
		return string(got), err
	}
	const begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
	const before, after = "# Title\n\nabout `" + begin + "` \n<!-- other:begin -->\n<!-- other:end -->\n", "\nno newline at the end"
	got, err := rewrite(before+begin+"\nstale rows\n"+end+after, "new\n")
	require.NoError(t, err)
	require.Equal(t, before+begin+"\nnew\n"+end+after, got)
	for _, old := range []string{
		"nothing\n", begin + "\n", end + "\n" + begin + "\n", "text " + begin + "\n" + end,
		begin + "\n" + end + "\n" + begin + "\n" + end,
	} {
		got, err := rewrite(old, "new\n")
		require.ErrorContains(t, err, "must be there once")
		require.Equal(t, old, got)
	}
}

// A row that was not measured is an error.
func TestInsteadHasFiguresOfBoth(t *testing.T) {
	f := constructed(t, "ns/op", map[string]float64{"pool/goroutines=1": 3, "map/goroutines=1": 4, "pool/goroutines=2": 6, "map/goroutines=2": 5})
	row := func(goroutines string) Row {
		return Row{"a call", "Q", []suite.Param{{Key: "goroutines", Value: goroutines}}, "pool", "map", "a map", "keys"}
	}
	got, err := Instead(f, []Row{row("1"), row("2")})
	require.NoError(t, err)
	_, table, _ := strings.Cut(got, ".\n\n")
	require.Equal(t, `| instead of a pool | the better choice | measured | goroutines | its time | a pool's |
|---|---|---|---|---|---|
| a map | keys | a call | 1 | 4.02 ns | 3.01 ns |
| a map | keys | a call | 2 | 5.03 ns | 6.03 ns |
`, table)
	_, err = Instead(f, []Row{row("3")})
	require.ErrorContains(t, err, "no times of Q, impl=map, [{goroutines 3}]")
}

// Scaling has multiples of one goroutine's figure, and is of the machine with the most processors.
// Goroutines has the figures. A contestant that has none for several goroutines is an error.
func TestTablesByGoroutines(t *testing.T) {
	q := question(suite.Chart{Unit: "ops/s", More: true})
	f := constructed(t, "ops/s", map[string]float64{
		"pool/goroutines=1": 10, "pool/goroutines=2": 19, "pool/goroutines=4": 35, "pool/goroutines=8": 36,
		"mutex/goroutines=1": 10, "mutex/goroutines=4": 2, "new/goroutines=1": 1,
	})
	f.config["gomaxprocs"], f.config["cpu"], f.config["commit"] = "4", "X", "c"
	two := constructed(t, "ops/s", map[string]float64{"pool/goroutines=1": 1})
	two.config["gomaxprocs"] = "2"
	require.Same(t, f, Widest([]*Figures{two, f}))
	got, err := Scaling(f, &q, 0, []Named{{"pool", "a pool"}, {"mutex", "a mutex"}})
	require.NoError(t, err)
	require.Equal(t, "Medians on X, commit c.\n\n| | 2 | 4 |\n|---|---|---|\n| a pool | 1.90 | 3.50 |\n| a mutex | – | 0.20 |\n", got)
	got, err = Goroutines(f, &q, 0, []Named{{"pool", "a pool"}, {"mutex", "a mutex"}})
	require.NoError(t, err)
	require.Equal(t, "Medians on X, commit c.\n\n| goroutines | a pool | a mutex |\n|---|---|---|\n| 1 | 10.1 | 10.1 |\n| 4 | 35.2 | 2.01 |\n", got)
	_, err = Scaling(f, &q, 0, []Named{{"new", "new"}})
	require.ErrorContains(t, err, "no figures of new for several numbers of goroutines")
}

// The chart is well-formed, and has a line and a name for each contestant with several points.
func TestChartHasALineForEachContestant(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	f := constructed(t, "ns/op", map[string]float64{"pool/n=1": 1, "pool/n=2": 2, "pool/n=4": 3, "mutex/n=1": 5, "mutex/n=4": 9, "cas/n=1": 1})
	var b strings.Builder
	require.NoError(t, SVG(&b, f, &q, 0, "n", map[string]string{"mutex": "a mutex"}, "a note"))
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	assert.Contains(t, b.String(), `<text x="74.0" y="388.0" text-anchor="middle">1<`)
	assert.Contains(t, b.String(), `<text x="287.0" y="388.0" text-anchor="middle">2<`)
	assert.Contains(t, b.String(), `<text x="500.0" y="388.0" text-anchor="middle">4<`)
	assert.Contains(t, b.String(), ">What?<")
	assert.Contains(t, b.String(), ">n, log scale<")
	assert.Contains(t, b.String(), ">a note<")
	assert.Contains(t, b.String(), ">2 ns<", "and not 2.00 ns")
	assert.Contains(t, b.String(), ">time/op, log scale<")
	assert.Contains(t, b.String(), ">pool<")
	assert.Contains(t, b.String(), ">a mutex<")
	assert.NotContains(t, b.String(), ">mutex<")
	assert.NotContains(t, b.String(), ">cas<")
	q.Charts[0].Unit = "B/op"
	require.Error(t, SVG(io.Discard, f, &q, 0, "n", nil, ""))
}
