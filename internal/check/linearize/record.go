package linearize

import (
	"fmt"

	"go.uber.org/atomic"
)

// Effect is what an operation says of one handle, whichever verb said it.
type Effect uint8

// The effects, in the order of a life.
const (
	Reserve Effect = iota // a handle became known
	Insert                // an unborn one went live, with Value
	Commit                // a reserved one went live, with Value
	Cancel                // a reserved one will never
	Look                  // whether it is live: OK
	Read                  // the same, and Value
	Remove                // whether this call ended it: OK
	Take                  // the same, and Value
	Sweep                 // it was ended if it was live, by this call or not at all
)

// Record is one operation on one handle.
type Record struct {
	Thread       int
	Verb         string // what was called
	Effect       Effect
	Handle       Handle
	Value        uint64
	OK           bool
	Call, Return int64
	Wide         bool // part of a longer call, whose times these are
}

// changes answers whether the operation moved its handle on, or may have.
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

// number writes a value's number as thread and count.
func number(v uint64) string {
	if v == torn {
		return "TORN"
	}
	return fmt.Sprintf("v%d.%d", v>>32, uint32(v))
}

// Span is one call that says something of every handle that it did not meet.
type Span struct {
	Thread       int
	Verb         string
	Effect       Effect // Look: the others were not live at some moment. Sweep: nor are they after it
	Met          map[Handle]bool
	Call, Return int64
}

// clock gives the times of a history. No two readings are the same, and one that
// was taken before another is less.
type clock struct{ now atomic.Int64 }

// read is a locked instruction: others see all that the thread has stored before a
// reading that comes later, so an operation takes effect before its Return.
func (c *clock) read() int64 {
	drain()
	return c.now.Inc()
}

// log is what one thread writes down. It is the thread's alone until it ends.
type log struct {
	thread    int
	clock     *clock
	records   []Record
	spans     []Span
	problems  []string
	published int // values that went live
	removed   int // that this thread ended, by what the verbs said
	full      int // insertions that found no slot
}

// add writes down an operation that was called at call and has just returned.
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
