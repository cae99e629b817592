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
	if c.Name == "Cancel" {
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

// Refused counts an insertion that found no slot.
func (a *Actor[T]) Refused(c *call[T], err error) {
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

// Shown checks a slot that is handed out and not live yet.
func (a *Actor[T]) Shown(c *call[T], h pool.Handle[T], v *T) {
	a.claim(h)
	if a.w.Pool.Contains(h) {
		a.Failf("%v is live before it was built", h)
	}
}

// Inserted makes the ticket of a live value.
func (a *Actor[T]) Inserted(c *call[T], h pool.Handle[T], stamp uint64) {
	if !c.Known {
		a.claim(h)
	}
	a.Did(Inserted, 1)
	c.State.(*about[T]).fresh = &Ticket[T]{H: h, stamp: stamp}
}

// GivenUp records a handle that must never be live.
func (a *Actor[T]) GivenUp(c *call[T], h pool.Handle[T]) {
	a.Did(Burned, 1)
	a.bury(&Ticket[T]{H: h})
}

// Asked fails if a handle is live that must not be.
func (a *Actor[T]) Asked(c *call[T], h pool.Handle[T], ok bool) {
	if ok && c.State.(*about[T]).dead {
		a.Failf("%v finds %v, which was removed", c, h)
	}
}

// Looked judges a value that was found. A loop may yield the values of all goroutines.
func (a *Actor[T]) Looked(c *call[T], h pool.Handle[T], v *T) {
	it := c.State.(*about[T])
	a.Asked(c, h, v != nil)
	if v == nil {
		return
	}
	if s := a.w.Kind.Number(v); s == 0 || it.t != nil && s != it.t.stamp {
		a.Failf("%v(%v): %+v, of stamp %d", c, h, *v, s)
	}
	a.Did(Read, 1)
}

// Removed judges a removal, which may have come too late.
func (a *Actor[T]) Removed(c *call[T], h pool.Handle[T], v *T, ok bool) {
	it := c.State.(*about[T])
	a.Asked(c, h, ok)
	switch {
	case ok && it.t == nil:
		a.Did(Swept, 1)
		if a.w.Kind.Number(v) == 0 {
			a.Failf("%v meets %+v under %v", c, *v, h)
		}
		return
	case ok:
		a.Did(Removed, 1)
		if n := it.t.wins.Inc(); n > 1 {
			a.Failf("%v was removed %d times", h, n)
		}
		if v != nil && a.w.Kind.Number(v) != it.t.stamp {
			a.Failf("%v(%v): %+v; want stamp %d", c, h, *v, it.t.stamp)
		}
	}
	if a.w.Pool.Contains(h) {
		a.Failf("%v is live after %v", h, c)
	}
	if !it.dead {
		a.bury(it.t)
	}
}

// Condemned removes every fourth value.
func (a *Actor[T]) Condemned(*call[T], pool.Handle[T], *T) bool { return a.Chance(4) }

// Counted judges a batch, which has one handle twice.
func (a *Actor[T]) Counted(c *call[T], n int) {
	if c.Needs&verbs.Sweeps != 0 {
		a.Did(Swept, n)
		return
	}
	if n > 1 {
		a.Failf("%v removed %v twice", c, c.Handles[0])
	}
	a.Removed(c, c.Handles[0], nil, n > 0)
}

// Acted counts the calls of Trim that gave memory back.
func (a *Actor[T]) Acted(c *call[T], err error) {
	switch {
	case c.Name != "Trim":
	case c.N < 0:
		a.Failf("Trim gave back %d bytes", c.N)
	case c.N > 0:
		a.Did(Trimmed, 1)
	}
}
