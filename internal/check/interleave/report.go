package interleave

import (
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

// Failure is a run that failed.
type Failure struct {
	Kind        Kind
	Err         error
	Runs        int // runs until it was found
	Preemptions int
	Schedule    Schedule
	Seed        uint64
	Record      string // the interleaving, readable
	Last        string // its last step, as the end of a sentence
}

// Error returns a text for readers, which begins with a sentence on what is wrong and after which
// step. The programme of mutants parses its last line.
func (f *Failure) Error() string {
	wrong, more, _ := strings.Cut(f.Err.Error(), "\n") // the stack of a panic
	return fmt.Sprintf("%s%s\n%s\n%s\n(%s, run %d, %d preemptions, seed %d)",
		wrong, f.Last, more, f.Record, f.Kind, f.Runs, f.Preemptions, f.Seed)
}

// failure repeats a failed run, with a record.
func failure(setup Setup, r *Run, runs int, seed uint64) *Failure {
	f := &Failure{Kind: r.kind, Err: r.err, Runs: runs, Preemptions: r.preemptions, Schedule: r.schedule, Seed: seed}
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
	f.Last = again.ending()
	return f
}

// ending says which step was the last of the run, or "" if there was none.
func (r *Run) ending() string {
	var last *event
	steps := 0
	for i := range r.events {
		if e := &r.events[i]; e.note == "" && e.access.op != drains {
			last = e
			steps++
		}
	}
	if last == nil {
		return ""
	}
	text := fmt.Sprintf(", after step %d: thread %s", steps, last.thread.name)
	if last.op != "" {
		text += " in " + last.op
	}
	if last.place != "" {
		text += ", at " + last.place
	}
	return text
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
