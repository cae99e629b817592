package report

import (
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

func TestReadSplitsNames(t *testing.T) {
	f := read(t, "cpu: X", "# a remark", "BenchmarkPair/impl=pool/value=16B/goroutines=2-4 10 5 ns/op 3 widgets", "PASS")
	require.Len(t, f.Series, 1)
	s := f.Series[0]
	assert.Equal(t, "Pair", s.ID)
	assert.Equal(t, "pool", s.Impl)
	assert.Equal(t, []suite.Param{{Key: "value", Value: "16B"}, {Key: "goroutines", Value: "2"}, {Key: procs, Value: "4"}}, s.Params)
	assert.Equal(t, []string{"sec/op", "widgets"}, s.Units)
	assert.InDelta(t, 5e-9, s.Rounds["sec/op"][0], 1e-18)
	assert.Equal(t, "X", f.Config["cpu"])
}

func TestReadKeepsRoundsInOrder(t *testing.T) {
	f := read(t, "BenchmarkA/impl=x 1 3 ns/op", "BenchmarkA/impl=y 1 9 ns/op", "BenchmarkA/impl=x 1 1 ns/op", "BenchmarkA/impl=x 1 2 ns/op")
	require.Len(t, f.Series, 2)
	assert.InDeltaSlice(t, []float64{3e-9, 1e-9, 2e-9}, f.Series[0].Rounds["sec/op"], 1e-18)
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
		{"", "test.txt: no benchmark lines"},
	} {
		_, err := Read(strings.NewReader(c.text), "test.txt")
		require.ErrorContains(t, err, c.want, "text:\n%s", c.text)
	}
}

// fixture returns the committed figures of two cores, and the questions.
func fixture(t *testing.T) (*Figures, []suite.Question) {
	t.Helper()
	f, err := ReadFile("../results/two-cores.txt")
	require.NoError(t, err)
	return f, f.questions(workload.All())
}
