package storm

import (
	"errors"
	"runtime"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// about is what an actor knows of the values of a call.
type about[T any] struct {
	t     *Ticket[T] // of the handle that is passed, or nil
	dead  bool       // t must be refused
	fresh *Ticket[T] // of the value that it inserted
}

// NewNumber returns a stamp.
func (a *Actor[T]) NewNumber() uint64 {
	a.stamps += 2
	return uint64(a.ID)<<40 + a.stamps | 1
}

// claim records a slot that was handed out to a.
func (a *Actor[T]) claim(h pool.Handle[T]) {
	if int(h.Index()) >= len(a.w.lives) {
		a.Failf("handed out %v, there are %d slots", h, len(a.w.lives))
		return
	}
	if a.w.lives[h.Index()].Inc() > 1 {
		a.Did(Reused, 1)
	}
	if a.w.owners != nil && !a.w.owners[h.Index()].CompareAndSwap(0, uint64(h)) {
		a.Failf("the slot of %v is owned twice: it is still owned as %v", h, pool.Handle[T](a.w.owners[h.Index()].Load()))
	}
}

// release ends the ownership of a slot that may be handed out again from now on.
func (a *Actor[T]) release(h pool.Handle[T]) {
	if a.w.owners != nil {
		a.w.owners[h.Index()].CompareAndSwap(uint64(h), 0)
	}
}

// Failf ends the storm.
func (a *Actor[T]) Failf(format string, args ...any) {
	a.w.Failf("goroutine %d: "+format, append([]any{a.ID}, args...)...)
}

// Begin releases the slots that the call may give back.
func (a *Actor[T]) Begin(c *call[T]) {
	if c.Needs&verbs.Removes != 0 {
		a.release(c.Handles[0])
	}
	if c.Needs&verbs.Cancels != 0 {
		a.release(c.Open.Handle())
	}
}

// Inside takes a step within a step, at times.
func (a *Actor[T]) Inside(c *call[T], h pool.Handle[T]) {
	if c.Needs&verbs.Loops != 0 {
		return
	}
	a.nested()
	if c.Needs&verbs.Inserts != 0 && c.Fails {
		a.release(h)
	}
}

// Refused counts an insertion that found no slot. If it was to replace a value, that is still there.
func (a *Actor[T]) Refused(c *call[T], err error) {
	if it := c.State.(*about[T]); !it.dead {
		it.fresh = it.t
	}
	switch {
	case errors.Is(err, pool.ErrStalled):
		a.Did(Stalled, 1)
	case errors.Is(err, pool.ErrExhausted):
		a.Failf("%v: %v, but exhausted slots are replaced", c, err)
	}
	a.Did(Full, 1)
	if a.Chance(4) {
		runtime.Gosched() // a reader needs a processor to unpin
	}
}

// Reported keeps the records of who owns what, and judges what was found.
func (a *Actor[T]) Reported(c *call[T], h pool.Handle[T], r verbs.Report) {
	it := c.State.(*about[T])
	switch r.Effect {
	case verbs.Reserve:
		a.claim(h)
		if a.w.Pool.Contains(h) {
			a.Failf("%v is live before it was built", h)
		}
	case verbs.Insert:
		a.claim(h)
		fallthrough
	case verbs.Commit:
		a.Did(Inserted, 1)
		it.fresh = &Ticket[T]{H: h, stamp: r.Value}
	case verbs.Cancel:
		a.Did(Burned, 1)
		a.bury(&Ticket[T]{H: h})
	case verbs.Look, verbs.Read, verbs.Remove, verbs.Take:
		if lives := it.lives(r); !r.Fits(lives...) {
			a.Failf("%v says of %v, %v; it was one of %v", c, h, r, lives)
		}
		switch {
		case r.Effect == verbs.Remove || r.Effect == verbs.Take:
			a.removed(c, h, r.OK)
		case r.Effect == verbs.Read && r.OK:
			a.Did(Read, 1)
		}
	}
}

// lives returns the states in which the call can have met its handle: others may remove the
// value at any time. A loop may meet whatever was made.
func (it *about[T]) lives(r verbs.Report) []verbs.Life {
	switch {
	case it.t == nil:
		return []verbs.Life{verbs.Live(r.Value)}
	case it.dead:
		return []verbs.Life{verbs.Dead}
	}
	return []verbs.Life{verbs.Live(it.t.stamp), verbs.Dead}
}

// removed judges a removal, which may have come too late.
func (a *Actor[T]) removed(c *call[T], h pool.Handle[T], ok bool) {
	it := c.State.(*about[T])
	if it.t == nil {
		a.Did(Swept, 1)
		return
	}
	if ok {
		a.Did(Removed, 1)
		if n := it.t.wins.Inc(); n > 1 {
			a.Failf("%v was removed %d times", h, n)
		}
	}
	if a.w.Pool.Contains(h) {
		a.Failf("%v is live after %v", h, c)
	}
	if !it.dead {
		a.bury(it.t)
	}
}

// Owned reports whether the handle is that of a ticket which only a knows. A sweeper removes what
// it does not know.
func (a *Actor[T]) Owned(c *call[T], _ pool.Handle[T]) bool {
	it := c.State.(*about[T])
	return a.w.owners != nil && it.t != nil && it.t.owned
}

// Condemned removes every fourth value.
func (a *Actor[T]) Condemned(*call[T], pool.Handle[T], uint64) bool { return a.Chance(4) }

// Counted counts the values that a sweep has removed.
func (a *Actor[T]) Counted(c *call[T], n int) { a.Did(Swept, n) }

// Acted counts the calls that gave memory back.
func (a *Actor[T]) Acted(c *call[T], err error) {
	if c.Needs&verbs.Frees != 0 && c.N > 0 {
		a.Did(Trimmed, 1)
	}
}
