package verbs

import (
	"fmt"
	"reflect"
	"strings"

	"coatcheck/pool"
)

func (c *Call[T]) ptr() pool.Ptr[T] { return c.Pool.Ptr(c.Handles[0]) }

func (c *Call[T]) asked(f func() bool) {
	c.Begin(c)
	ok := f()
	c.Returned(c)
	c.Asked(c, c.Handles[0], ok)
}

// copied reports the result of a look-up that returns a copy of the value.
func (c *Call[T]) copied(f func() (T, bool)) {
	c.Begin(c)
	v, ok := f()
	c.Returned(c)
	if !ok && !reflect.ValueOf(&v).Elem().IsZero() {
		c.Failf("%v(%v) gives %+v with false", c, c.Handles[0], v)
	}
	c.looked(c.Handles[0], &v, ok)
}

func (c *Call[T]) looked(h pool.Handle[T], v *T, ok bool) {
	if !ok {
		v = nil
	}
	c.Looked(c, h, v)
}

func (c *Call[T]) mustGet() {
	c.copied(func() (v T, ok bool) {
		defer func() {
			x := recover()
			if ok = x == nil; !ok && !strings.Contains(fmt.Sprint(x), c.Handles[0].String()) {
				panic(x)
			}
		}()
		return c.Pool.MustGet(c.Handles[0]), true
	})
}

func (c *Call[T]) view(f func(func(*T)) bool) {
	h := c.Handles[0]
	ok := true
	c.Begin(c)
	c.caught(func() {
		ok = f(func(v *T) { c.met(h, v) })
	})
	c.Returned(c)
	if !ok {
		c.Looked(c, h, nil)
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
	c.Looked(c, h, v)
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
		c.Looked(c, h, nil)
		return
	}
	c.Hold = &Hold[T]{Ref: ref}
	c.Unseen(func() { c.sighted(h, ref.Value(), true) })
}

// sighted reports the result of a look-up whose value must not change.
func (c *Call[T]) sighted(h pool.Handle[T], v *T, ok bool) {
	c.looked(h, v, ok)
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
