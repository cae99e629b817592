package interleave

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is how a run failed.
type Kind string

const (
	Broken           Kind = "broken invariant" // by the program's checks, or Failf
	Livelock         Kind = "livelock"
	Deadlock         Kind = "deadlock"
	Panicked         Kind = "panic"
	NotDeterministic Kind = "not deterministic"
)

// Report is the part of a failure that programs parse.
type Report struct {
	Kind        Kind
	Text        string // the first line of the error
	Runs        int    // runs until it was found
	Preemptions int
}

// Failure is a run that failed.
type Failure struct {
	Report
	Err      error
	Schedule Schedule
	Seed     uint64
	Record   string // the interleaving, readable
}

// reportMark is the prefix of the report's line.
const reportMark = "report: "

// Error returns a text for readers, except for its last line, which [ParseReport] parses.
func (f *Failure) Error() string {
	report, err := json.Marshal(f.Report)
	if err != nil {
		panic(err) // strings and numbers cannot fail
	}
	return fmt.Sprintf("%v\n(run %d, %d preemptions, seed %d)\n%s\nschedule: %s\n%s%s",
		f.Err, f.Runs, f.Preemptions, f.Seed, f.Record, f.Schedule, reportMark, report)
}

// ParseReport returns the report in a line of a test's output, if there is one.
func ParseReport(line string) (r Report, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), reportMark)
	ok = ok && json.Unmarshal([]byte(text), &r) == nil
	return r, ok
}

// failure repeats a failed run, with a record.
func failure(setup Setup, r *Run, runs int, seed uint64) *Failure {
	f := &Failure{Report: Report{r.kind, firstLine(r.err), runs, r.preemptions}, Err: r.err, Schedule: r.schedule, Seed: seed}
	again := start(setup, &replay{schedule: r.schedule}, true)
	switch {
	case again.err == nil:
		f.Kind = NotDeterministic
		f.Record = "(the failure did not come again: the program is not deterministic)\n"
	case firstLine(again.err) != firstLine(r.err):
		f.Kind = NotDeterministic
		f.Record = fmt.Sprintf("(the program is not deterministic; this time: %v)\n", again.err)
	}
	f.Record += again.record()
	return f
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
