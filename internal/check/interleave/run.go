package interleave

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"
)

// Setup builds the state of one run, with hooks off, and starts its threads. It must be
// deterministic.
type Setup func(r *Run)

// Run is one execution of a program.
type Run struct {
	threads []*Thread
	next    *Thread // the thread that continues
	last    *Thread // the thread of the last step
	held    map[unsafe.Pointer]*Thread
	picker  picker

	check    func() error
	finally  func() error
	key      func(unsafe.Pointer) uint64
	describe func(unsafe.Pointer) string

	err         error // the first failure
	kind        Kind  // its kind
	steps       int
	maxSteps    int
	preemptions int
	inside      int // switches inside of operations
	schedule    Schedule
	options     []*Thread // memory of decide
	was         []pending // memory of settled

	tracing bool
	events  []event
	numbers map[unsafe.Pointer]uint64 // of pointers, in the record
}

// picker chooses the thread that continues. The first option costs no preemption; each other
// one costs one if costly.
type picker interface {
	pick(r *Run, options []*Thread, costly bool) *Thread
	// drains chooses whether what t's buffer has for a word is stored before another
	// thread accesses the word.
	drains(r *Run, t *Thread) bool
	accessed(r *Run, t *Thread, a access)
}

// Check sets the function that is called after every step, with hooks off. A step includes
// the plain code after its access, which may write values.
func (r *Run) Check(f func() error) { r.check = f }

// Loaded reports whether the last step was a load or had no access. Then only plain code can
// have changed anything since the check before.
func (r *Run) Loaded() bool {
	return r.last != nil && (r.last.made == Load || r.last.made == Point || r.last.made == Yield)
}

// Finally sets the function that is called when all threads have ended.
func (r *Run) Finally(f func() error) { r.finally = f }

// Key sets the function that maps words to numbers, the same in every run, and 0 for unknown
// words. With it Search leaves out switches before accesses to words that no two threads
// share.
func (r *Run) Key(f func(word unsafe.Pointer) uint64) { r.key = f }

// Describe sets the function that returns a word's name for the record, or "".
func (r *Run) Describe(f func(word unsafe.Pointer) string) { r.describe = f }

// Failf fails the run. It may be called from threads.
func (r *Run) Failf(format string, args ...any) { r.fail(Broken, fmt.Errorf(format, args...)) }

// Panicf fails the run as a thread's panic does, even if the thread recovers.
func (r *Run) Panicf(format string, args ...any) { r.fail(Panicked, fmt.Errorf(format, args...)) }

// Failed reports whether the run has failed.
func (r *Run) Failed() bool { return r.err != nil }

func (r *Run) fail(k Kind, err error) {
	if r.err == nil {
		r.kind, r.err = k, err
	}
}

// execute runs the threads to their end or to the first failure, after which those that have
// not ended never continue.
func (r *Run) execute() {
	r.held = make(map[unsafe.Pointer]*Thread)
	r.numbers = make(map[unsafe.Pointer]uint64)
	r.decide(nil)
	for r.next != nil {
		// runtime.Goexit in a thread also ends the goroutine that resumed it.
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.drive()
		}()
		<-ended
	}
	if r.err == nil && r.finally != nil {
		r.safely("at the end", func() { r.fail(Broken, r.finally()) })
	}
}

// drive resumes one thread after the other.
func (r *Run) drive() {
	for r.next != nil {
		t := r.next
		r.grant(t)
		current = t
		t.resume()
		current = nil
	}
}

// safely calls a function of the program's. Its panic is a failure of the program.
func (r *Run) safely(where string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.Panicf("panic %s: %v\n%s", where, v, debug.Stack())
		}
	}()
	f()
}

// grant lets t make its next access.
func (r *Run) grant(t *Thread) {
	if t.next.op.empties() {
		r.drain(t)
	}
	if t.next.op != Release {
		r.meet(t, t.next.word)
	}
	r.steps++
	r.last, t.made = t, t.next.op
	if t.next.op == Yield {
		t.ran = 0
	}
	for _, o := range r.threads {
		o.ran |= 1 << t.id
	}
	if t.op != "" && t.next.op != Point {
		t.inside++
	}
	r.schedule = append(r.schedule, uint8(t.id))
	if t.next.op != Release {
		r.picker.accessed(r, t, t.next)
	}
	if r.tracing {
		r.events = append(r.events, event{thread: t, op: t.op, access: t.next, place: t.place})
	}
}

var errLivelock = errors.New("livelock: the run does not end")

// decide checks the invariants and chooses the thread of the next step. t has just made one,
// or is nil.
func (r *Run) decide(t *Thread) {
	r.next = nil
	if r.err == nil && r.check != nil {
		r.fail(Broken, r.settled(r.check))
	}
	if r.err == nil && r.steps >= r.maxSteps {
		r.fail(Livelock, errLivelock)
	}
	if r.err != nil {
		return
	}
	options := r.options[:0]
	costly := t != nil && r.ready(t) && t.next.op != Yield
	if costly {
		options = append(options, t)
	}
	for _, o := range r.threads {
		if o != t && r.ready(o) && r.mayPass(o) {
			options = append(options, o)
		}
	}
	if len(options) == 0 {
		for _, o := range r.threads {
			if o != t && r.ready(o) {
				options = append(options, o) // all yield
			}
		}
	}
	if len(options) == 0 && t != nil && r.ready(t) {
		options = append(options, t)
	}
	r.options = options
	if len(options) == 0 {
		if text := r.blocked(); text != "" {
			r.fail(Deadlock, errors.New("deadlock: "+text))
		}
		return
	}
	r.next = options[0]
	if len(options) > 1 {
		r.next = r.picker.pick(r, options, costly)
	}
	if t != nil && r.next != t {
		if costly {
			r.preemptions++
		}
		if t.op != "" && t.inside > 0 {
			r.inside++
		}
	}
}

// mayPass reports whether t does not yield, or every other ready thread has made a step.
func (r *Run) mayPass(t *Thread) bool {
	if t.next.op != Yield {
		return true
	}
	for _, o := range r.threads {
		if o != t && t.ran&(1<<o.id) == 0 && r.ready(o) {
			return false
		}
	}
	return true
}

func (r *Run) ready(t *Thread) bool {
	return !t.done && !(t.next.op == Lock && r.held[t.next.word] != nil)
}

func (r *Run) blocked() string {
	text := ""
	for _, t := range r.threads {
		if !t.done {
			text += fmt.Sprintf("%s waits in %s; ", t.name, t.op)
		}
	}
	return text
}
