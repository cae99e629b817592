package report

import (
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/require"
)

// fixture returns the figures of testdata, seven rounds of most cases, and the
// questions about them.
func fixture(t *testing.T) (*Figures, []suite.Question) {
	t.Helper()
	f, err := ReadFile("testdata/figures.txt")
	require.NoError(t, err)
	return f, fixtureQuestions()
}

func fixtureQuestions() []suite.Question {
	roles := map[string]suite.Role{
		"pool": suite.Ours, "worker": suite.Ours, "fifo": suite.Ours, "guard": suite.Ours,
		"new": suite.Reference, "syncpool": suite.Reference, "channel": suite.Reference,
		"cas": suite.Reference, "slice": suite.Reference, "loop": suite.Control,
	}
	q := func(id, title string, charts ...suite.Chart) suite.Question {
		return suite.Question{ID: id, Title: title, About: "As " + id + " is measured.", Roles: roles, Charts: charts}
	}
	qs := []suite.Question{
		q("Pair", "What does an insertion with its removal cost?", suite.Chart{Unit: "ns/op"}),
		q("Get", "What does a look-up cost?", suite.Chart{Unit: "ns/op"}),
		q("Scaling", "How does it scale?",
			suite.Chart{Kind: suite.Lines, Unit: "ops/s", More: true, X: "goroutines"},
			suite.Chart{Kind: suite.Lines, Title: "How much of the machine's own scaling?", Unit: "efficiency", More: true, X: "goroutines"}),
		q("Latency", "How long does an operation take at worst?",
			suite.Chart{Title: "One in a hundred", Unit: "p99-ns"}, suite.Chart{Title: "The worst", Unit: "max-ns"}),
		q("Sizes", "What do bigger values cost?", suite.Chart{Kind: suite.Lines, Unit: "ns/op", X: "value"}),
		q("Memory", "How much memory does a value take?", suite.Chart{Unit: "B/value"}),
		q("Collect", "What does the collector pay?", suite.Chart{Title: "A cycle", Unit: "cycle-ns"}, suite.Chart{Title: "The pause", Unit: "pause-ns"}),
		q("Wear", "How evenly are slots used?", suite.Chart{Unit: "incarnations"}),
		q("Absent", "What of a question without figures?", suite.Chart{Unit: "ns/op"}),
	}
	qs[0].Front, qs[2].Front = true, true
	return qs
}
