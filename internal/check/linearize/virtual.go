//go:build interleave

package linearize

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"

	"coatcheck/internal/check/interleave"
)

// virtual reports whether threads are virtual.
const virtual = true

// DefaultHistories and DefaultOps are the size of a test run. LeastContended is the least
// number of contended pairs in a history on average.
const (
	DefaultHistories = 300
	DefaultOps       = 40
	LeastContended   = 2
)

// moment is how often a thread lets others run while it waits at a handle.
const moment = 8

func pause() { interleave.LetOthers() }

// drain drains the store buffer, as the clock's locked instruction does, which has no hook.
func drain() { interleave.Drain() }

// enough is the number of steps after which threads begin no operation. Replay takes a much
// longer run for a livelock.
const enough = interleave.DefaultSteps * 3 / 4

// Run runs the threads as virtual threads, whose turns are drawn.
func (p Plan) Run(subject Maker) *History {
	// Preallocate makes 256 pin cells, and each scan would be as many steps.
	p.Layout.Preallocate = false
	var end func(...string) *History
	record, err := interleave.Replay(func(r *interleave.Run) {
		var threads []*thread
		threads, end = p.begin(subject)
		steps := 0
		r.Check(func() error { steps++; return nil })
		for _, t := range threads {
			t.enough = func() bool { return steps >= enough }
			t.noLoops = p.Layout.Capacity == 0 // a page has thousands of slots
			r.Go(fmt.Sprintf("t%d", t.thread), t.Uint32(), func(v *interleave.Thread) {
				v.Begin("run")
				t.run(p.Ops)
			})
		}
	}, p.schedule())
	var broken []string
	if err != nil {
		broken = append(broken, err.Error())
	}
	h := end(broken...)
	h.Schedule = record
	return h
}

// schedule draws the thread of each step. Turns have one step or some dozens, in which the
// thread does whole operations while another is within one.
func (p Plan) schedule() interleave.Schedule {
	r := rand.New(rand.NewPCG(p.Seed, 1<<32))
	s := make(interleave.Schedule, 0, interleave.DefaultSteps)
	for len(s) < cap(s) {
		t := uint8(r.IntN(p.Threads))
		n := 1
		if r.IntN(4) == 0 {
			n = 1 + r.IntN(60)
		}
		for range min(n, cap(s)-len(s)) {
			s = append(s, t)
		}
	}
	return s
}

// Quiet calls f without garbage collection: finalizers of unused pools would access hooked
// words, as if they were the running thread. It returns after the due finalizers have run.
func Quiet(f func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f()
	for range 2 { // the second collects what finalizers of the first kept
		ran := make(chan struct{})
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(ran) })
		runtime.GC()
		<-ran
	}
}
