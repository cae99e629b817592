package report

import (
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read is Read of the lines, which must be right.
func read(t *testing.T, lines ...string) *Figures {
	t.Helper()
	f, err := Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test.txt")
	require.NoError(t, err)
	return f
}

func TestReadTakesNamesApart(t *testing.T) {
	f := read(t, "cpu: X", "# a remark", "BenchmarkPair/impl=pool/plain/value=16B/goroutines=2-4 10 5 ns/op 3 widgets", "PASS")
	require.Len(t, f.Series, 1)
	s := f.Series[0]
	assert.Equal(t, "Pair", s.ID)
	assert.Equal(t, "pool", s.Impl)
	assert.Equal(t, []suite.Param{{Key: "#2", Value: "plain"}, {Key: "value", Value: "16B"}, {Key: "goroutines", Value: "2"}, {Key: procs, Value: "4"}}, s.Params)
	assert.Equal(t, []string{"sec/op", "widgets"}, s.Units)
	assert.InDelta(t, 5e-9, s.Rounds["sec/op"][0], 1e-18)
	assert.Equal(t, "X", f.Config["cpu"])
	assert.Contains(t, string(f.Raw), "# a remark", "what is not understood is kept")
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
		{good + "BenchmarkA/impl=x 1 NaN ns/op\n", "test.txt:2: ns/op of A/impl=x is NaN"},
		{good + "BenchmarkA/impl=x 1 +Inf ns/op\n", "test.txt:2: "},
		{good + "BenchmarkA/impl=x 1 3 ns/op 4 ns/op\n", "test.txt:2: ns/op twice"},
		{"BenchmarkA/impl=x/v=1/v=2 1 3 ns/op\n", "test.txt:1: parameter v twice"},
		{"cpu: one\n" + good + "cpu: other\n" + good, `test.txt:4: cpu is "other", and was "one"`},
		{"PASS\n", "test.txt: no benchmark lines"},
		{"", "test.txt: no benchmark lines"},
	} {
		_, err := Read(strings.NewReader(c.text), "test.txt")
		require.ErrorContains(t, err, c.want, "text:\n%s", c.text)
	}
}

func TestUnknownBenchmarksAreQuestionsOfTheirOwn(t *testing.T) {
	f, qs := fixture(t)
	var ids []string
	for _, q := range f.questions(qs) {
		ids = append(ids, q.ID)
	}
	assert.Contains(t, ids, "Stranger")
	assert.NotContains(t, ids, "Absent")
	assert.NotContains(t, ids, misuseID)
}

func TestMisuseTravelsWithTheFigures(t *testing.T) {
	want := []Misuse{
		{Impl: "pool", What: "coatcheck/pool", Stale: Caught, Reused: Caught, Double: Caught, Late: Caught, Other: Caught},
		{Impl: "new-4", What: "new, and the collector", Stale: Missed, Reused: Missed, Allocs: 1, Bytes: 16},
		{Impl: "ark", Stale: Caught, Reused: Missed, Revive: 65536, Double: Caught, Late: Missed, Other: Missed, Allocs: 0.25, Bytes: 7},
	}
	var b strings.Builder
	require.NoError(t, WriteMisuse(&b, want))
	f := read(t, b.String())
	assert.Equal(t, want, f.misuse())
	assert.Equal(t, map[string]string{"pool": "", "new-4": "misses stale handles", "ark": "misses stale handles and double removals"}, f.missed())
	assert.Equal(t, "until the place is used again 65,536 times", want[2].stale())
	assert.Equal(t, "until the place is used again", want[2].double())
}
