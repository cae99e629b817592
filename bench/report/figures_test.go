package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

// read reads lines, which must be well-formed.
func read(t *testing.T, lines ...string) *Figures {
	t.Helper()
	f, err := Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test.txt")
	require.NoError(t, err)
	return f
}

// fixture returns committed figures, and the questions.
func fixture(t *testing.T) (*Figures, []suite.Question) {
	t.Helper()
	files, err := filepath.Glob("../results/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	f, err := ReadFile(files[0])
	require.NoError(t, err)
	return f, workload.All()
}

func question(charts ...suite.Chart) suite.Question {
	return suite.Question{ID: "Q", Title: "What?", Charts: charts, Roles: map[string]suite.Role{
		"pool": suite.Ours, "worker": suite.Ours, "cas": suite.Reference, "new": suite.Reference, "loop": suite.Reference, "locked": suite.Floor,
	}}
}

// constructed returns figures with six rounds around these values, by impl and parameters.
func constructed(t *testing.T, unit string, values map[string]float64) *Figures {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for i := range 6 {
			lines = append(lines, fmt.Sprintf("BenchmarkQ/impl=%s-2 100 %g %s", name, values[name]*(1+float64(i)/500), unit))
		}
	}
	return read(t, lines...)
}

func TestReadSplitsNamesAndKeepsRoundsInOrder(t *testing.T) {
	f := read(t, "cpu: X", "cores: 2", "gomaxprocs: 4", "# a remark", "BenchmarkPair/impl=locked/value=16B/goroutines=1-4 10 5 ns/op 3 widgets",
		"BenchmarkPair/impl=other 1 9 ns/op", "BenchmarkPair/impl=locked/value=16B/goroutines=1-4 10 2 ns/op", "PASS")
	require.Len(t, f.series, 2)
	s := f.series[0]
	assert.Equal(t, "Pair", s.id)
	assert.Equal(t, "locked", s.impl)
	assert.Equal(t, []suite.Param{{Key: "value", Value: "16B"}, {Key: "goroutines", Value: "1"}}, s.params)
	assert.InDeltaSlice(t, []float64{5e-9, 2e-9}, s.rounds["sec/op"], 1e-18)
	assert.Equal(t, []float64{3}, s.rounds["widgets"])
	assert.Equal(t, "X, 2 cores, GOMAXPROCS 4, 1.75 ns a locked instruction", f.origin())
}

func TestReadRefusesWithTheLine(t *testing.T) {
	good := "BenchmarkA/impl=x 1 3 ns/op\n"
	for _, c := range []struct{ text, want string }{
		{good + "BenchmarkA/impl=x one 3 ns/op\n", "test.txt:2: "},
		{good + "\nBenchmarkA/impl=x 1 3\n", "test.txt:3: "},
		{good + "BenchmarkA/impl=x 1 NaN ns/op\n", "test.txt:2: sec/op of A/impl=x is NaN"},
		{good + "BenchmarkA/impl=x 1 +Inf ns/op\n", "test.txt:2: "},
		{"cpu: one\n" + good + "cpu: other\n" + good, `test.txt:4: cpu is "other", and was "one"`},
		{"PASS\n", "test.txt: no benchmark lines"},
	} {
		_, err := Read(strings.NewReader(c.text), "test.txt")
		require.ErrorContains(t, err, c.want, "text:\n%s", c.text)
	}
}

func TestCellsHaveAllContestantsOfTheirParameters(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op", Where: map[string]string{"verb": "get"}})
	cells := constructed(t, "ns/op", map[string]float64{
		"pool/verb=get/live=1000": 3, "worker/verb=get/live=1000": 2, "mutex/verb=get/live=1000": 1, "pool/verb=put/live=7": 1,
		"pool/verb=get/live=20": 3, "mutex/verb=get/live=20": 1, "cas/verb=get/live=1000": 9,
	}).cells(&q, 0)
	var got []string
	for _, c := range cells {
		got = append(got, c.label)
		for _, r := range c.rows {
			got = append(got, r.impl)
		}
	}
	assert.Equal(t, []string{"live 1,000", "worker", "pool", "mutex", "cas", "live 20", "pool", "mutex"}, got)
	assert.Equal(t, "verb get, live 20", cells[1].place())
}
