package verbs

import (
	"fmt"
	"reflect"
	"strings"

	"coatcheck/pool"
)

func (c *Call[T]) ptr() pool.Ptr[T] { return c.Pool.Ptr(c.Handles[0]) }

// report tells the judge what the call says about h.
func (c *Call[T]) report(h pool.Handle[T], e Effect, ok bool, number uint64) {
	c.Reported(c, h, Report{e, ok, number})
}

// asked reports the result of a verb that returns no value: Look or Remove.
func (c *Call[T]) asked(e Effect, f func() bool) {
	c.Begin(c)
	ok := f()
	c.Returned(c)
	c.report(c.Handles[0], e, ok, 0)
}

// copied reports the result of a verb that returns a copy of the value: Read or Take.
func (c *Call[T]) copied(e Effect, f func() (T, bool)) {
	c.Begin(c)
	v, ok := f()
	c.Returned(c)
	if !ok && !reflect.ValueOf(&v).Elem().IsZero() {
		c.Failf("%v(%v) gives %+v with false", c, c.Handles[0], v)
	}
	c.gave(e, c.Handles[0], &v, ok)
}

// gave reports the value of h, or that h is not live.
func (c *Call[T]) gave(e Effect, h pool.Handle[T], v *T, ok bool) {
	number := uint64(0)
	if ok {
		if number = c.Number(v); number == 0 {
			c.Failf("%v of %v gives %+v, which nobody has made", c, h, *v)
		}
	}
	c.report(h, e, ok, number)
}

// slotAt asks for the live handle of the slot of a handle. If that is another one, the call says that
// the first is not live. Of the other it reports nothing, since judges know what a call may say of its
// own handles.
func (c *Call[T]) slotAt() {
	h := c.Handles[0]
	c.Begin(c)
	found, ok := c.Pool.At(h.Index())
	c.Returned(c)
	if ok && found.Index() != h.Index() || ok == found.IsZero() {
		c.Failf("%v(%d) gives %v and %v", c, h.Index(), found, ok)
	}
	c.report(h, Look, ok && found == h, 0)
}

func (c *Call[T]) mustGet() {
	c.copied(Read, func() (v T, ok bool) {
		defer func() {
			x := recover()
			if ok = x == nil; !ok && !strings.Contains(fmt.Sprint(x), c.Handles[0].String()) {
				panic(x)
			}
		}()
		return c.Pool.MustGet(c.Handles[0]), true
	})
}

// pointer reads the value only if the judge knows that nobody else removes it meanwhile.
func (c *Call[T]) pointer() {
	h := c.Handles[0]
	c.Begin(c)
	v, ok := c.Pool.Pointer(h)
	c.Returned(c)
	switch {
	case ok != (v != nil):
		c.Failf("%v(%v) returns %p and %v", c, h, v, ok)
	case ok && c.Owned(c, h):
		c.gave(Read, h, v, true)
	default:
		c.report(h, Look, ok, 0)
	}
}

func (c *Call[T]) view(f func(func(*T)) bool) {
	h := c.Handles[0]
	called, ok := false, false
	c.Begin(c)
	early := c.caught(func() {
		ok = f(func(v *T) {
			called = true
			c.met(h, v)
		})
	})
	c.Returned(c)
	if early {
		return
	}
	if ok != called {
		c.Failf("%v(%v) returns %v, and has called: %v", c, h, ok, called)
	}
	if !ok {
		c.report(h, Read, false, 0)
	}
}

// caught calls f and reports whether it panicked on purpose.
func (c *Call[T]) caught(f func()) (failed bool) {
	defer func() {
		x := recover()
		if failed = x != nil; failed && !c.Meant(c, x) {
			panic(x)
		}
	}()
	f()
	return false
}

// met reports a value in a callback or the body of a loop.
func (c *Call[T]) met(h pool.Handle[T], v *T) {
	c.gave(Read, h, v, true)
	number := c.Number(v)
	c.Inside(c, h)
	if n := c.Number(v); n != number {
		c.Failf("the value of %v changed from %d to %d under %v", h, number, n, c)
	}
}

func (c *Call[T]) pin() {
	c.Hold = new(Hold[T])
	c.Begin(c)
	pin(c.Pool, &c.Hold.Guard)
	c.Returned(c)
}

// pin pins into g, which must not be copied.
func pin[T any](p Subject[T], g *pool.Guard[T]) { *g = p.Pin() }

func (c *Call[T]) hold() {
	h := c.Handles[0]
	c.Begin(c)
	ref, ok := c.Pool.Hold(h)
	c.Returned(c)
	if !ok {
		c.report(h, Read, false, 0)
		return
	}
	c.Hold = &Hold[T]{Ref: ref}
	c.Unseen(func() { c.sighted(h, ref.Pointer(), true) })
}

// sighted reports the result of a look-up whose value must not change.
func (c *Call[T]) sighted(h pool.Handle[T], v *T, ok bool) {
	c.gave(Read, h, v, ok)
	if ok {
		c.Hold.Seen = append(c.Hold.Seen, Sight[T]{h, v, c.Number(v)})
	}
}

func (c *Call[T]) under(f func(pool.Handle[T]) (*T, bool)) {
	h := c.Handles[0]
	c.Begin(c)
	v, ok := f(h)
	c.Returned(c)
	c.sighted(h, v, ok)
}

// unpin ends a guard, or releases a Ref.
func (c *Call[T]) unpin() {
	c.Hold.Check(c.Judge, c.Kind)
	c.Begin(c)
	if c.Hold.Ref != nil {
		c.Hold.Ref.Release()
	} else {
		c.Hold.Guard.Unpin()
	}
	c.Returned(c)
}
