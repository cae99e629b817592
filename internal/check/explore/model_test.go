//go:build interleave

package explore_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// frame is an operation under way.
type frame struct {
	a       *actor
	op      string
	pins    bool          // it has a guard of its own, or is a callback
	slots   int           // the most slots that it may own
	removes []Handle[val] // it may own their slots as well, once they are not live

	// What was seen meanwhile, for the judge of refusals.
	from    uint64 // the time at which it began
	most    int    // slots in use, owned by other operations, or held back
	held    int    // slots held back by guards and Refs
	stood   bool   // there was a guard or a Ref
	excused bool   // a refusal may have another reason

	// Of calls of verbs.
	before   []knew        // of the handles
	settled  []*life       // what a loop must not miss
	waits    []Handle[val] // what Synchronize waits for
	inner    func()        // what is to be done in a callback
	last     *life         // that DeleteFunc is to remove
	sweeps   bool
	shown    Handle[val] // its constructor was told
	inserted Handle[val]
	ok       bool // it removed a value
}

// enter begins an operation, and leave ends the one that the thread began last.
func (a *actor) enter(op string) *frame { return a.push(&frame{a: a, op: op}) }

func (a *actor) push(f *frame) *frame {
	if a.k != nil {
		a.k.busy++
	}
	f.slots, f.from, f.excused = 1, a.clock, interleave.Buffered()
	a.frames = append(a.frames, f)
	f.begin()
	interleave.Unseen(a.measure)
	return f
}

func (a *actor) leave() *frame {
	if a.t == nil {
		a.measure() // without a check
	}
	f := a.top(a.t)
	i := slices.Index(a.frames, f)
	a.frames = slices.Delete(a.frames, i, i+1)
	if f.pins {
		a.unpinned(f.from)
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

// measure notes for each operation how many slots others own, and whether an insertion may be
// refused although a slot is free.
func (w *world) measure() {
	if w.p == nil || len(w.frames) == 0 {
		return
	}
	w.clock++
	used, held := Arena(w.p).InResets(), 0
	t := Arena(w.p).Table.Pages()
	for i := range t.Limit {
		if shard.IsLive(shard.At[val](t, i).Word.Load()) {
			used++
		}
	}
	for _, r := range w.reserved {
		if IsOpen(r) {
			used++
		}
	}
	excused := len(w.workers) > 0 || w.exhausting
	oldest := w.clock // pin
	w.released = slices.DeleteFunc(w.released, func(e released) bool { return !e.by.Buffered() })
	stood := len(w.watched) > 0
	for _, rd := range w.watched {
		if rd.Ref != nil {
			held++
		} else {
			oldest = min(oldest, rd.from)
		}
	}
	for _, e := range w.released {
		oldest = min(oldest, e.from)
	}
	for _, f := range w.frames {
		used += f.has()
		if f.pins {
			stood, oldest = true, min(oldest, f.from)
		}
		if f.op == "Hold" || f.op == "Release" {
			stood = true
			held++ // it may hold its slot already, or still
		}
	}
	if oldest < w.clock {
		// Guards hold back what was removed since the oldest was pinned, and nothing else.
		for _, e := range w.entries {
			if (e.gone == 0 || e.gone >= oldest) && shard.At[val](t, e.h.Index()).Word.Load() != uint64(e.h) {
				held++
			}
		}
		held += len(w.burned) // more than that
		for _, f := range w.frames {
			if f.shown.Index() < t.Limit && f.shown != 0 && shard.Generation(shard.At[val](t, f.shown.Index()).Word.Load()) > f.shown.Generation() {
				used, held = used-1, held+1 // its constructor has failed, or its value was removed at once
			}
		}
	}
	for _, f := range w.frames {
		f.most = max(f.most, used+held-f.has())
		f.held = max(f.held, held)
		f.stood = f.stood || stood || slices.ContainsFunc(w.released, func(e released) bool { return e.by != f.a.t })
		f.excused = f.excused || excused
	}
}

// has returns the most slots that f may own.
func (f *frame) has() int {
	n := f.slots
	t := Arena(f.a.p).Table.Pages()
	for _, h := range f.removes {
		if h.Index() < t.Limit && shard.At[val](t, h.Index()).Word.Load() != uint64(h) {
			n++
		}
	}
	return n
}

// removing says that f removes hs, and owns no other slots.
func (f *frame) removing(hs ...Handle[val]) { f.slots, f.removes = 0, hs }

// refuse judges the error of an insertion. Refusals are true: a pool is full when its
// slots are in use, and stalled while a guard is pinned or a Ref stands.
func (w *world) refuse(f *frame, err error) {
	c, m := int(Arena(w.p).Capacity), int(Arena(w.p).MaxLimbo)
	full := c > 0 && f.most >= c || m > 0 && f.held >= m
	switch {
	case !errors.Is(err, ErrFull) || w.roomy:
		w.r.Failf("Insert: %v", err)
	case errors.Is(err, ErrExhausted):
		interleave.Unseen(w.exhausted)
	case f.excused:
	case errors.Is(err, ErrStalled) && !f.stood:
		w.r.Failf("%s: %v; no guard was pinned, and no Ref stood", f.op, err)
	case !full:
		w.r.Failf("%s: %v; the capacity is %d, and others never had more than %d, of which %d were held back", f.op, err, c, f.most, f.held)
	}
}

// exhausted fails if some slot has lives left. No slot gets any back, so it need not be asked at each moment. One whose last life is being
// made or given up may count as either.
func (w *world) exhausted() {
	t := Arena(w.p).Table.Pages()
	left := int(Arena(w.p).Slots) - int(t.Limit)
	for i := range t.Limit {
		g := w.generation[i]
		if !w.isVoid(t, i) {
			g = shard.Generation(Slot(w.p, i).Word.Load())
		}
		if g < shard.LastGeneration-1 && g != shard.Spent {
			left++
		}
	}
	if left > 0 {
		w.r.Failf("Insert: %v; %d slots have lives left", ErrExhausted, left)
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
	if held != refs || n != live || sum != st.Allocated ||
		[...]int{st.Live, st.Reserved, st.Held, st.Exhausted, st.Pinned} != [...]int{live, reserved, refs, exhausted, pinned} {
		return fmt.Errorf("%d values are live, %d slots reserved and %d exhausted, and there are %d guards and %d Refs; the slots say %d Refs, Len is %d, and Stats are %+v",
			live, reserved, exhausted, pinned, refs, held, n, st)
	}
	return nil
}
