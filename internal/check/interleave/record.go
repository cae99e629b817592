package interleave

import (
	"fmt"
	"strconv"
	"strings"
)

// Schedule is the number of the thread of each step. A step that drains a store has the mark
// drained.
type Schedule []uint8

// String returns a schedule as thread×steps, in order, with a d before the thread where its
// stores drain.
func (s Schedule) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if s[i]&drained != 0 {
			b.WriteByte('d')
		}
		fmt.Fprintf(&b, "%dx%d", s[i]&^drained, j-i)
		i = j
	}
	return b.String()
}

// ParseSchedule parses the result of String.
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	for _, f := range strings.Fields(text) {
		rest, drains := strings.CutPrefix(f, "d")
		left, right, found := strings.Cut(rest, "x")
		t, err1 := strconv.ParseUint(left, 10, 5)
		n, err2 := strconv.ParseUint(right, 10, 20)
		if !found || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("interleave: schedule: %q: want thread×steps, such as 0x12", f)
		}
		if drains {
			t |= drained
		}
		for range n {
			s = append(s, uint8(t))
		}
	}
	return s, nil
}

// Replay runs the program under one schedule. If that ends or cannot be followed, the running
// thread continues as long as it can. Replay returns the record and the failure, if any.
func Replay(setup Setup, s Schedule) (record string, err error) {
	r := start(setup, &replay{schedule: s}, true)
	return r.record(), r.err
}

type replay struct{ schedule Schedule }

func (p *replay) accessed(*Run, *Thread, access) {}

func (p *replay) known() bool { return false }

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
	note   string
}

func (r *Run) note(t *Thread, text string) {
	r.events = append(r.events, event{thread: t, op: t.op, note: text})
}

// record returns the run's record, a line for each step:
//
//	step  thread  operation  access  word  values → result
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
		if e.note != "" {
			fmt.Fprintf(&b, "      %-10s %-14s # %s\n", e.thread.name, e.op, e.note)
			continue
		}
		if e.access.op == drains {
			fmt.Fprintf(&b, "      %-10s %-14s %-7s %s\n", e.thread.name, "", drains, r.text(e))
			continue
		}
		step++
		fmt.Fprintf(&b, "%5d %-10s %-14s %-7s %s\n", step, e.thread.name, e.op, e.access.op, r.text(e))
	}
	for _, t := range r.threads {
		if !t.done {
			fmt.Fprintf(&b, "      %-10s %-14s is about to %s %s\n", t.name, t.op, t.next.op, r.text(&event{access: access{op: Unlock, word: t.next.word}}))
		}
	}
	return b.String()
}

// text returns an access: its word, values and result.
func (r *Run) text(e *event) string {
	a := e.access
	if a.word == nil {
		return ""
	}
	name, format := fmt.Sprintf("word #%d", r.number(a.word)), func(v uint64) string { return fmt.Sprint(v) }
	if r.describe != nil {
		if n, f := r.describe(a.word); n != "" {
			name = n
			if f != nil {
				format = f
			}
		}
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
