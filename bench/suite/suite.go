// Package suite says what a benchmark of this module is: the nouns that
// workloads, measurement and report share.
//
// A [Question] is what a reader wants to know, and the charts that answer it. A
// [Group] is a set of cases that are measured against each other, in rounds that
// take turns, so that whatever slows the machine down hits all of them. A [Case]
// is one line of the raw figures: a contestant under one set of parameters. Open
// makes it a [Run], which does so many operations each time that it is asked.
//
// Between measurement and report lies nothing but Go's benchmark format: a
// case's figures are lines whose name is the question's ID with its parameters,
//
//	BenchmarkPair/impl=pool/value=16B/live=1000/goroutines=2-4
//
// where -4 is GOMAXPROCS. So a report can be made from a file that another
// machine wrote, and benchstat reads what this program does.
package suite

import (
	"fmt"
	"strings"
	"time"
)

// Env is what a workload may adapt itself to.
type Env struct {
	Quick bool   // each case once, tiny: a check that nothing has rotted
	Full  bool   // every value size, every size of the pool, every number of goroutines
	Procs int    // GOMAXPROCS of this pass
	Seed  uint64 // of all that is drawn
}

// Role is what a contestant is in a comparison. Verdicts are between Ours and Theirs
// alone.
type Role int8

// The roles, in the order of the report.
const (
	Ours Role = iota - 1
	// Theirs do the same job: a name is refused when its value is gone, and so is a
	// second removal. It is the zero Role.
	Theirs
	// References do less, and are no contestants: pointers, which nobody finds stale,
	// and floors, which are the least that the work can cost.
	Reference
	// Control shares nothing: how far this machine scales.
	Control
)

// Question is what a reader wants to know.
type Question struct {
	ID     string          // the benchmark's name, an exported Go identifier: "Pair"
	Title  string          // the question itself, with its question mark
	About  string          // how it is measured, and what is fair about it, in a sentence or two
	Roles  map[string]Role // of each impl= that is not Theirs
	Charts []Chart
	Groups func(Env) []Group

	// Own is a parameter that belongs to contestants rather than to the contest: how
	// long a FIFO pool lets slots rest is nothing that a mutex could be measured at. It
	// becomes part of the contestant's name.
	Own string
	// Front puts the first chart on the report's first page.
	Front bool
}

// Kind is a chart's form.
type Kind uint8

const (
	Bars  Kind = iota // a bar for each contestant, in a group for each set of parameters
	Lines             // log-log, X on the horizontal axis
)

// Chart is one picture of some of a question's figures.
type Chart struct {
	Kind  Kind
	Title string            // "" : the question's title
	Unit  string            // of the figures: "ns/op", "p99-ns", "B/value", "efficiency"
	More  bool              // more is better; by default less is
	X     string            // of Lines: the parameter along the horizontal axis
	Where map[string]string // only the figures with these parameters
}

// Param is a parameter of a case.
type Param struct{ Key, Value string }

// Group is a set of cases that are measured in turns.
type Group struct {
	Cases []Case
	// Once says that a case's figures are taken a single time, or as often as the
	// case itself says, because a turn of it is long: memory, garbage collection.
	Once bool
	// Apart says that only one case is open at a time, because of the memory that it
	// takes, or because the others' memory would put off the garbage collections that
	// its users pay for. A case is then opened twice, for half of its turns each
	// time, unless opening it takes longer than they do; the second time the order
	// of the cases is the opposite.
	Apart bool
	// Turn is how many times as long as usual a turn is. 0 is 1.
	Turn int
}

// Case is one contestant under one set of parameters.
type Case struct {
	Impl       string  // the contestant
	Params     []Param // in the order in which they stand in the name, without impl and goroutines
	Goroutines int     // how many do the work at once; 0 is 1
	Open       func() (Run, error)
}

// Run is an open case.
type Run interface {
	// Do does about n operations, divided among the case's goroutines, and returns
	// how many it did. The time that it takes is measured. It checks values and
	// counts as it goes, where the contestant's users would as well, and all of them
	// in Close.
	Do(n int) (did int, err error)
	// Close ends the run and says whether what it did was right.
	Close() error
}

// Metered is a Run that has figures beyond its time.
type Metered interface {
	Run
	// Metrics returns figures by their unit, of all turns so far.
	Metrics() map[string]float64
}

// Sampled is a Run that has figures beyond its time for each turn. They stand
// beside the turn's time, and so have a median and a spread as it has.
type Sampled interface {
	Run
	// Sample returns the figures of the last turn, by their unit.
	Sample() map[string]float64
}

// Timed is a Run that does work beside what is asked: making the next store,
// emptying the last one. It holds the watch itself.
type Timed interface {
	Run
	// Took returns how much of the last Do counts, in place of the time between its
	// call and its return.
	Took() time.Duration
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
