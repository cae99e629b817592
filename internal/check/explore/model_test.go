//go:build interleave

package explore_test

import (
	"fmt"
	"runtime/debug"
	"slices"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
)

// frame is an operation under way.
type frame struct {
	a       *actor
	op      string
	pins    bool          // it has a guard of its own, or is a callback
	slots   int           // the most slots that it may own, besides those below
	shown   Handle[val]   // it owns this one: its constructor was told, or it settles a Reservation
	removes []Handle[val] // it owns these between their unlinking and limbo
	holds   Handle[val]   // it is the Hold or the Release of this one
	late    bool          // it may keep that slot from being reused
	raised  bool          // it has been seen to do so

	// What was seen meanwhile, for the judge of refusals: the most slots of others at a moment.
	from    uint64 // the time at which it began
	full    int    // in use
	stalled int    // in use or delayed, of moments at which one was delayed
	delayed int    // delayed
	excused bool   // a Worker may have had others

	// Of calls of verbs.
	before   []knew        // of the handles
	settled  []*life       // what a loop must not miss
	waits    []Handle[val] // what Synchronize waits for
	inner    func()        // what is to be done in a callback
	last     *life         // that DeleteFunc is to remove
	sweeps   bool
	inserted Handle[val]
}

// enter begins an operation, and leave ends the one that the thread began last.
func (a *actor) enter(op string) *frame { return a.push(&frame{a: a, op: op}) }

func (a *actor) push(f *frame) *frame {
	if a.k != nil {
		a.k.busy++
	}
	f.from = a.clock
	a.frames = append(a.frames, f)
	f.begin()
	interleave.Unseen(a.measure)
	return f
}

func (a *actor) leave() *frame {
	if a.t == nil { // there is no check
		_ = a.locate() // what is wrong is found when the threads begin
		a.measure()
	}
	f := a.top(a.t)
	i := slices.Index(a.frames, f)
	a.frames = slices.Delete(a.frames, i, i+1)
	if f.pins {
		a.unpinned(f.from)
	}
	if f.late && f.raised {
		a.late = append(a.late, f.holds.Index())
	}
	if f.a.k != nil {
		f.a.k.busy--
	}
	if f.sweeps {
		a.clearing--
	}
	a.t.End()
	if f := a.top(a.t); f != nil {
		f.begin()
	}
	return f
}

// begin tells the run that f goes on.
func (f *frame) begin() {
	if f.a.k != nil {
		f.a.t.Begin("Worker." + f.op)
	} else {
		f.a.t.Begin(f.op)
	}
}

// top returns the innermost operation of a thread, or nil.
func (w *world) top(t *interleave.Thread) *frame {
	for _, f := range slices.Backward(w.frames) {
		if f.a.t == t {
			return f
		}
	}
	return nil
}

// unwind leaves the operations of a's thread that are inside of f: a panic or Goexit
// has ended them.
func (a *actor) unwind(f *frame) {
	for a.top(a.t) != f {
		a.leave()
		a.vague = true
	}
}

// meant reports whether a panic is one that a program may have: a callback's, or that of a
// Worker which a Reset closed although it interrupted its operation.
func (a *actor) meant(v any) bool {
	f := a.top(a.t)
	return v == verbs.ErrMeant || v == ClosedWorker && f != nil && f.a.k != nil && IsClosed(f.a.k.w)
}

// exits is deferred by a thread, whose operation a callback may have ended: by
// Goexit, or by a panic in a Reset, or because a Reset closed the Worker that it
// interrupted.
func (a *actor) exits(name string) {
	v := recover()
	f := a.top(a.t)
	if f == nil && v == nil {
		return
	}
	meant := v == nil || a.meant(v)
	a.unwind(nil)
	if !meant {
		a.r.Panicf("panic in thread %s: %v\n%s", name, v, debug.Stack())
	}
}

// resetting is an Options.Reset that does inner as well, the first few times, by the
// actor whose operation it interrupts.
func (w *world) resetting(times int, inner func(a *actor)) func(*val) {
	return func(v *val) {
		w.reset(v)
		t := interleave.Running()
		f := w.top(t)
		if t == nil || f == nil || times == 0 {
			return
		}
		times--
		f.a.enter("Reset").pins = true
		inner(f.a)
		f.a.leave()
	}
}

// unpinned notes that a guard of the thread has ended.
func (a *actor) unpinned(from uint64) {
	if a.t != nil {
		a.released = append(a.released, released{a.t, from})
	}
}

// figures compares what the pool says of itself with what there is, at rest. A slot that is
// counted as parked and is not, or the reverse, makes a wrong sum.
func (w *world) figures(live, reserved, held, exhausted int) error {
	pinned, refs := 0, 0
	for _, rd := range w.watched {
		if rd.Ref == nil {
			pinned++
		} else {
			refs++
		}
	}
	st, n := w.p.Stats(), w.p.Len()
	sum := st.Live + st.Free + st.Limbo + st.Cached + st.Reserved + st.Exhausted
	if inserted := len(w.entries); int(st.Inserted) != inserted && !w.vague {
		return fmt.Errorf("%d values were inserted, and Stats are %+v", inserted, st)
	}
	if held != refs || n != live || sum != st.Allocated ||
		[...]int{st.Live, st.Reserved, st.Held, st.Exhausted, st.Pinned} != [...]int{live, reserved, refs, exhausted, pinned} {
		return fmt.Errorf("%d values are live, %d slots reserved and %d exhausted, and there are %d guards and %d Refs; the slots say %d Refs, Len is %d, and Stats are %+v",
			live, reserved, exhausted, pinned, refs, held, n, st)
	}
	if guards, held, traces := TracedOpen(w.p); traces && (guards != pinned || held != refs) {
		return fmt.Errorf("%d guards and %d Refs are open; want as many recorded, not %d and %d", pinned, refs, guards, held)
	}
	return nil
}
