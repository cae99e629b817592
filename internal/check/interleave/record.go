package interleave

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Schedule is the number of the thread of each step. A step that drains a store has the mark
// drained.
type Schedule []uint8

// Replay runs the program under one schedule. If that ends or cannot be followed, the running
// thread continues as long as it can. Replay returns the record and the failure, if any.
func Replay(setup Setup, s Schedule) (record string, err error) {
	r := start(setup, &replay{schedule: s}, true)
	return r.record(), r.err
}

type replay struct{ schedule Schedule }

func (p *replay) accessed(*Run, *Thread, access) {}

func (p *replay) drains(r *Run, t *Thread) bool {
	return r.steps < len(p.schedule) && p.schedule[r.steps] == uint8(t.id)|drained
}

func (p *replay) pick(r *Run, options []*Thread, costly bool) *Thread {
	at := r.steps
	for at < len(p.schedule) && p.schedule[at]&drained != 0 {
		at++ // stores drain before the step of the chosen thread
	}
	if at < len(p.schedule) {
		for _, t := range options {
			if t.id == int(p.schedule[at]) {
				return t
			}
		}
	}
	return options[0]
}

// event is one step, or a note.
type event struct {
	thread *Thread
	op     string
	access access
	result uint64
	place  string
	note   string
}

func (r *Run) note(t *Thread, text string) {
	r.events = append(r.events, event{thread: t, op: t.op, note: text})
}

// record returns the run's record, a line for each step:
//
//	step  thread  operation  access  word  values → result  file:line
func (r *Run) record() string {
	var b strings.Builder
	var last *Thread
	step := 0
	for i := range r.events {
		e := &r.events[i]
		if last != nil && last != e.thread {
			fmt.Fprintf(&b, "      ---- %s\n", e.thread.name)
		}
		last = e.thread
		switch {
		case e.note != "":
			fmt.Fprintf(&b, "      %-10s %-14s # %s\n", e.thread.name, e.op, e.note)
		case e.access.op == drains:
			fmt.Fprintf(&b, "      %-10s %-14s %-7s %s\n", e.thread.name, "", drains, r.text(e))
		default:
			step++
			fmt.Fprintf(&b, "%5d %-10s %-14s %-7s %-60s %s\n", step, e.thread.name, e.op, e.access.op, r.text(e), e.place)
		}
	}
	for _, t := range r.threads {
		if !t.done {
			fmt.Fprintf(&b, "      %-10s %-14s is about to %s %s %s\n", t.name, t.op, t.next.op, r.text(&event{access: access{op: Unlock, word: t.next.word}}), t.place)
		}
	}
	return b.String()
}

// place returns the file and line of the caller that is neither a hooked word nor of this package.
func place() string {
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	for {
		f, more := frames.Next()
		dir, file := filepath.Split(f.File)
		hook := strings.HasPrefix(f.Function, "coatcheck/internal/atom.") || strings.HasPrefix(f.Function, "coatcheck/internal/check/interleave.")
		if file != "" && (!hook || strings.HasSuffix(file, "_test.go")) {
			return fmt.Sprintf("%s/%s:%d", filepath.Base(dir), file, f.Line)
		}
		if !more {
			return ""
		}
	}
}

// format returns a value. One that does not fit into 32 bits is shown as its two halves.
func format(v uint64) string {
	if v>>32 == 0 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%d:%d", v>>32, uint32(v))
}

// text returns an access: its word, values and result.
func (r *Run) text(e *event) string {
	a := e.access
	if a.word == nil {
		return ""
	}
	name := ""
	if r.describe != nil {
		name = r.describe(a.word)
	}
	if name == "" {
		name = fmt.Sprintf("word #%d", r.number(a.word))
	}
	name = fmt.Sprintf("%-28s ", name)
	switch a.op {
	case Load:
		return name + "= " + format(e.result)
	case Store, Release, drains:
		return name + "← " + format(a.a)
	case Add:
		return name + fmt.Sprintf("%+d = %s", int64(a.a), format(e.result))
	case Swap:
		return name + "← " + format(a.a) + " was " + format(e.result)
	case And, Or:
		return name + fmt.Sprintf("%#x was %s", a.a, format(e.result))
	case CompareAndSwap:
		if e.result == 0 {
			return name + format(a.a) + " ⇒ " + format(a.b) + " FAILED"
		}
		return name + format(a.a) + " ⇒ " + format(a.b) + " ok"
	}
	return name
}
