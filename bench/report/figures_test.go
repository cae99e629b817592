package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"coatcheck/bench/suite"
	"coatcheck/bench/workload"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read reads lines, which must be well-formed.
func read(t *testing.T, lines ...string) *Figures {
	t.Helper()
	f, err := Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test.txt")
	require.NoError(t, err)
	return f
}

// fixture returns the committed figures of two cores, and the questions.
func fixture(t *testing.T) (*Figures, []suite.Question) {
	t.Helper()
	f, err := ReadFile("../results/two-cores.txt")
	require.NoError(t, err)
	return f, workload.All()
}

func question(charts ...suite.Chart) suite.Question {
	return suite.Question{ID: "Q", Title: "What?", About: "So.", Charts: charts, Roles: map[string]suite.Role{
		"pool": suite.Ours, "worker": suite.Ours, "cas": suite.Reference, "new": suite.Reference, "loop": suite.Reference,
	}}
}

// constructed returns figures of q with six rounds around these times in ns, by impl and
// parameters, and the view of q's first chart.
func constructed(t *testing.T, q suite.Question, times map[string]float64) (*Figures, *view) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(times)) {
		for i := range 6 {
			lines = append(lines, fmt.Sprintf("BenchmarkQ/impl=%s-2 100 %g ns/op", name, times[name]*(1+float64(i)/500)))
		}
	}
	f := read(t, lines...)
	return f, f.views(&q)[0]
}

func TestReadSplitsNamesAndKeepsRoundsInOrder(t *testing.T) {
	f := read(t, "cpu: X", "# a remark", "BenchmarkPair/impl=pool/value=16B/goroutines=2-4 10 5 ns/op 3 widgets",
		"BenchmarkPair/impl=other 1 9 ns/op", "BenchmarkPair/impl=pool/value=16B/goroutines=2-4 10 2 ns/op 0 ops/s", "PASS")
	require.Len(t, f.Series, 2)
	s := f.Series[0]
	assert.Equal(t, "Pair", s.ID)
	assert.Equal(t, "pool", s.Impl)
	assert.Equal(t, []suite.Param{{Key: "value", Value: "16B"}, {Key: "goroutines", Value: "2"}, {Key: procs, Value: "4"}}, s.Params)
	assert.InDeltaSlice(t, []float64{5e-9, 2e-9}, s.Rounds["sec/op"], 1e-18)
	assert.Equal(t, []float64{3}, s.Rounds["widgets"])
	assert.InDeltaSlice(t, []float64{2e8, 0}, s.Rounds["ops/s"], 1, "a rate is derived unless the line has it")
	assert.Equal(t, "X", f.Config["cpu"])
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
	_, v := constructed(t, q, map[string]float64{
		"pool/verb=get/live=1000": 3, "worker/verb=get/live=1000": 2, "mutex/verb=get/live=1000": 1, "pool/verb=put/live=7": 1,
		"pool/verb=get/live=20": 3, "mutex/verb=get/live=20": 1, "cas/verb=get/live=1000": 9,
	})
	var got []string
	for _, c := range v.Cells {
		got = append(got, v.place(c))
		for _, r := range c.Rows {
			got = append(got, r.Impl)
		}
	}
	assert.Equal(t, []string{"verb get, live 1,000", "worker", "pool", "mutex", "cas", "verb get, live 20", "pool", "mutex"}, got)
}
