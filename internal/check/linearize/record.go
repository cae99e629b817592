package linearize

import (
	"fmt"

	"go.uber.org/atomic"
)

// Effect is what an operation says about one handle, whatever its verb.
type Effect uint8

// The effects, in the order of a life.
const (
	Reserve Effect = iota // an unborn handle was shown
	Insert                // an unborn handle went live, with Value
	Commit                // a reserved handle went live, with Value
	Cancel                // a reserved handle will never go live
	Look                  // OK: it is live
	Read                  // as Look, with Value
	Remove                // OK: this call removed it
	Take                  // as Remove, with Value
	Sweep                 // this call removed it if it was live
)

// Record is one operation on one handle.
type Record struct {
	Thread       int
	Verb         string // the name of the call
	Effect       Effect
	Handle       Handle
	Value        uint64
	OK           bool
	Call, Return int64
	Wide         bool // it has the times of a longer call
}

// changes reports whether the operation changed the handle's life, or may have.
func (r *Record) changes() bool {
	switch r.Effect {
	case Look, Read:
		return false
	case Remove, Take:
		return r.OK
	}
	return true
}

func (r *Record) String() string {
	switch text := fmt.Sprintf("%s: %v", r.Verb, r.Handle); r.Effect {
	case Reserve:
		return text + " reserved"
	case Insert, Commit:
		return fmt.Sprintf("%s live with %s", text, number(r.Value))
	case Cancel:
		return text + " given up"
	case Read, Take:
		if r.OK {
			return fmt.Sprintf("%s = %s", text, number(r.Value))
		}
		return text + " = false"
	case Sweep:
		return text + " not left live"
	default:
		return fmt.Sprintf("%s = %v", text, r.OK)
	}
}

// number formats a value's number as thread and count.
func number(v uint64) string {
	if v == torn {
		return "TORN"
	}
	return fmt.Sprintf("v%d.%d", v>>32, uint32(v))
}

// Span is one call that says something about every handle that it did not meet.
type Span struct {
	Thread       int
	Verb         string
	Effect       Effect // Look: the others were not live at some moment. Sweep: and not after it
	Met          map[Handle]bool
	Call, Return int64
}

// clock returns the times of a history: each reading is greater than those before it.
type clock struct{ now atomic.Int64 }

// read returns the time. It is a locked instruction: a thread that reads a later time sees
// all stores before this one, so an operation takes effect before its Return.
func (c *clock) read() int64 { return c.now.Inc() }

// log is the record of one thread. Only that thread uses it until it ends.
type log struct {
	thread    int
	clock     *clock
	records   []Record
	spans     []Span
	problems  []string
	published int // values that went live
	removed   int // values that this thread removed, by the results of its verbs
	full      int // insertions that found no slot
}

// add records an operation that was called at call and has just returned.
func (l *log) add(call int64, verb string, e Effect, h Handle, v uint64, ok bool) {
	l.put(call, l.clock.read(), verb, e, h, v, ok)
}

func (l *log) put(call, ret int64, verb string, e Effect, h Handle, v uint64, ok bool) {
	switch e {
	case Insert, Commit:
		l.published++
	case Remove, Take:
		if ok {
			l.removed++
		}
	}
	l.records = append(l.records, Record{
		Thread: l.thread, Verb: verb, Effect: e, Handle: h, Value: v, OK: ok, Call: call, Return: ret,
	})
}

func (l *log) span(call int64, verb string, e Effect, met map[Handle]bool) {
	l.spans = append(l.spans, Span{l.thread, verb, e, met, call, l.clock.read()})
}
