// Package suite has the types that workloads, measurement and report share.
//
// A [Question] has the charts that answer it. The cases of a [Group] are measured against
// each other, in alternating turns, so that whatever slows the machine down hits all of
// them. A [Case] is a contestant under one set of parameters. Its Open returns a [Run],
// which does operations.
//
// Measurement and report share only a file in Go's benchmark format, in which a case's
// figures are lines such as
//
//	BenchmarkPair/impl=pool/value=16B/live=1000/goroutines=2-4
//
// where -4 is GOMAXPROCS. So a report can be made from another machine's file, and
// benchstat reads it too.
package suite

import (
	"fmt"
	"strings"
)

// Env is what the cases of a question depend on.
type Env struct {
	Quick bool // each case once, tiny: only to see that it works
	Procs int  // GOMAXPROCS
}

// Role is the role of a contestant. Verdicts compare Ours with Theirs alone.
type Role int8

// The roles, in the order of the report.
const (
	Ours Role = iota - 1
	// Theirs do the same job: they refuse a name whose value is gone, and a second
	// removal. It is the zero Role.
	Theirs
	// References do less: pointers, of which no stale one is found, and stores for one
	// goroutine.
	Reference
	// Floors store nothing. They are in the chart and in the first line of the report.
	Floor
)

// Question is a question that benchmarks answer.
type Question struct {
	ID     string          // the benchmark's name, an exported Go identifier: "Pair"
	Title  string          // the question itself, with its question mark
	Roles  map[string]Role // of each impl= that is not Theirs
	Charts []Chart
	Groups func(Env) []Group
}

// Chart is some of a question's figures, in one unit.
type Chart struct {
	Title string            // "" : the question's title
	Unit  string            // of the figures: "ns/op", "B/value"
	More  bool              // more is better; by default less is
	Where map[string]string // only the figures with these parameters
}

// Param is a parameter of a case.
type Param struct{ Key, Value string }

// Group is a set of cases that are measured in turns.
type Group struct {
	Cases []Case
	// Once says that each case has a single turn of one operation, because it is long. Only one
	// case is open at a time.
	Once bool
	// Apart says that only one case is open at a time, because of its memory, or because
	// the others' memory would delay its garbage collections. Each case is opened three times, in turns, for a third
	// of its rounds.
	Apart bool
	// Whole says that each turn of a case is one Do of one operation, which does a whole program.
	// In a quick run each case has one turn.
	Whole bool
}

// Case is one contestant under one set of parameters.
type Case struct {
	Impl       string  // the contestant
	Params     []Param // in the order of the name, without impl and goroutines
	Goroutines int     // that work at once; 0 is 1
	// Open opens the run. It panics if it cannot, which is an error of the case.
	Open func() Run
}

// Run is an open case. Close and Metrics may be nil.
type Run struct {
	// Do does about n operations, divided among the case's goroutines, and returns their
	// number. Its time is measured.
	Do func(n int) (did int, err error)
	// Close ends the run. It returns an error if a value or a count was wrong.
	Close func() error
	// Metrics returns the figures of the last Do by their unit, which take the place of times.
	Metrics func() map[string]float64
}

// Name returns the case's name in the benchmark format, without "Benchmark" and
// without GOMAXPROCS.
func (q *Question) Name(c *Case) string {
	var b strings.Builder
	b.WriteString(q.ID)
	fmt.Fprintf(&b, "/impl=%s", c.Impl)
	for _, p := range c.Params {
		fmt.Fprintf(&b, "/%s=%s", p.Key, p.Value)
	}
	fmt.Fprintf(&b, "/goroutines=%d", max(1, c.Goroutines))
	return b.String()
}
