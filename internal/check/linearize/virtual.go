//go:build interleave

package linearize

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"

	"coatcheck/internal/check/interleave"
)

// virtual says which half this is.
const virtual = true

// DefaultHistories, DefaultOps and LeastContended are what a test run makes, and
// how many contended pairs of operations it must see in a history, on the average.
const (
	DefaultHistories = 300
	DefaultOps       = 40
	LeastContended   = 2
)

// moment is how many turns a thread lets others have while it waits at a handle.
const moment = 8

func pause() { interleave.LetOthers() }

// drain does what a locked instruction does: the clock's is not hooked.
func drain() { interleave.Drain() }

// enough is after how many steps threads begin no other operation: Replay takes a
// run that is much longer for a livelock.
const enough = interleave.DefaultSteps * 3 / 4

// Run lets the threads run as virtual threads, which take turns at random.
func (p Plan) Run(subject Maker) *History {
	// It brings 256 pin cells, and each scan would be as many steps.
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

// schedule draws whose turn it is at each step. Turns are one step long or some
// dozens: others then do whole operations while one stands still within its own.
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

// Quiet calls f while no garbage is collected: finalizers of pools that are no
// longer used would access hooked words, and be taken for the thread that runs.
// It returns when those that were due have run.
func Quiet(f func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f()
	for range 2 { // the second finds what finalizers of the first let go
		ran := make(chan struct{})
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(ran) })
		runtime.GC()
		<-ran
	}
}
