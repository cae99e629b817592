package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rounds returns six lines of a benchmark around a time in ns.
func rounds(name string, ns float64) []string {
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("Benchmark%s-2 100 %g ns/op", name, ns*(1+float64(i)/500)))
	}
	return lines
}

func question(charts ...suite.Chart) suite.Question {
	return suite.Question{ID: "Q", Title: "What?", About: "So.", Charts: charts, Roles: map[string]suite.Role{
		"pool": suite.Ours, "worker": suite.Ours, "cas": suite.Reference, "new": suite.Reference, "loop": suite.Reference,
	}}
}

// constructed returns figures of one question with these times, by impl and parameters.
func constructed(t *testing.T, q suite.Question, times map[string]float64) (*Figures, *view) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(times)) {
		lines = append(lines, rounds("Q/impl="+name, times[name])...)
	}
	f := read(t, lines...)
	return f, f.view(&q, q.Charts[0])
}

// The reference is the fastest, and no verdict is about it.
func TestReferencesAreInNoVerdict(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	f, _ := constructed(t, q, map[string]float64{"pool": 30, "worker": 10, "new": 1, "cas": 2, "mutex": 20, "syncmap": 90})
	cs := f.contests([]suite.Question{q})
	require.Len(t, cs, 1)
	assert.Equal(t, tableRow{"Q", "", "worker 10.1 ns ±0%", "mutex 20.1 ns ±0%", "0.50", "new 1.01 ns ±0%", "ahead"}, cs[0].row())
	ls, of := losses(cs)
	assert.Empty(t, ls)
	assert.Equal(t, 2, of)
	assert.Contains(t, score(cs), "ahead in 1 contests, behind in 0, and within the noise in 0")
	assert.Contains(t, lossSummary(ls, of), "Nowhere: in none of 2 comparisons")
}

func TestLossesAreExactlyThoseBeyondTheNoise(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"}, suite.Chart{Kind: suite.Lines, Unit: "ops/s", More: true, X: "live"})
	f, _ := constructed(t, q, map[string]float64{
		"pool/live=1": 10, "worker/live=1": 50, "mutex/live=1": 8, "ark/live=1": 2, "cgo/live=1": 11, "cas/live=1": 1,
		"pool/live=2": 10, "worker/live=2": 6, "mutex/live=2": 9, "syncmap/live=2": 10,
		"worker/live=3": 60, "mutex/live=3": 40, "loop/live=3": 1,
		"mutex/live=4": 1,
	})
	ls, of := losses(f.contests([]suite.Question{q}))
	var got []string
	for _, l := range ls {
		r := l.row()
		got = append(got, r.What+": "+strings.Fields(r.Ours)[0]+" "+strings.Fields(r.Theirs)[0]+" "+r.By)
	}
	assert.Equal(t, []string{"Q, live 1: pool ark 5.00", "Q, live 3: worker mutex 1.50", "Q, live 1: pool mutex 1.25"}, got)
	assert.Equal(t, 6, of, "references and contestants without another are not compared, and a rate is compared by its time")
}

func TestLossesOfRates(t *testing.T) {
	q := question(suite.Chart{Unit: "ops/s"}) // of which more is better, although nothing says so
	f, _ := constructed(t, q, map[string]float64{"pool": 20, "mutex": 10, "cgo": 40})
	ls, _ := losses(f.contests([]suite.Question{q}))
	require.Len(t, ls, 1)
	assert.Equal(t, "mutex", ls[0].theirs.impl)
	assert.Equal(t, "2.00", ls[0].row().By)
}

func TestCellsAreInTheOrderOfNumbers(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op"}), map[string]float64{"pool/live=10": 30, "pool/live=1000": 10, "pool/live=200": 5})
	var labels []string
	for _, c := range v.cells {
		labels = append(labels, v.label(c))
	}
	assert.Equal(t, []string{"live 10", "live 200", "live 1,000"}, labels)
}

func TestReferencesOfFewerParametersAreInAllCells(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op"}), map[string]float64{"pool/live=1": 10, "pool/live=2": 10, "cas": 3})
	require.Len(t, v.cells, 2)
	for _, c := range v.cells {
		_, ok := c.row("cas")
		assert.True(t, ok)
	}
}

func TestOwnParameterJoinsTheName(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	q.Own = "rest"
	_, v := constructed(t, q, map[string]float64{
		"pool/pattern=a/rest=0": 1, "fifo/pattern=a/rest=64": 3, "fifo/pattern=a/rest=4096": 4,
		"pool/pattern=b/rest=0": 1, "fifo/pattern=b/rest=64": 3, "fifo/pattern=b/rest=4096": 4,
	})
	require.Len(t, v.cells, 2)
	var names []string
	for _, r := range v.cells[0].rows {
		names = append(names, r.impl)
	}
	assert.Equal(t, []string{"pool, rest 0", "fifo, rest 64", "fifo, rest 4,096"}, names)
	assert.Equal(t, []string{"pattern"}, v.varied)
}

func TestWhereChooses(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op", Where: map[string]string{"live": "2"}})
	_, v := constructed(t, q, map[string]float64{"pool/live=1": 1, "pool/live=2": 7})
	require.Len(t, v.cells, 1)
	assert.InDelta(t, 7.035e-9, v.cells[0].rows[0].mid, 1e-12)
	assert.Equal(t, "live 2", v.place(v.cells[0]))
}
