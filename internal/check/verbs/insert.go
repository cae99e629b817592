package verbs

import (
	"context"
	"errors"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard/slots"
)

// began makes a value and begins the call that inserts it.
func (c *Call[T]) began() (v T, number uint64) {
	number = c.NewNumber()
	v = c.Make(number)
	c.Begin(c)
	return v, number
}

func (c *Call[T]) insert() {
	v, number := c.began()
	h, err := c.Via.Insert(v)
	c.Returned(c)
	c.inserted(h, number, err)
}

func (c *Call[T]) inserted(h pool.Handle[T], number uint64, err error) {
	if err != nil {
		if h != 0 {
			c.Failf("%v returned %v and %v", c, h, err)
		}
		c.refused(err)
		return
	}
	c.live(h, number)
}

// live reports an insertion. A handle that was shown before was judged then.
func (c *Call[T]) live(h pool.Handle[T], number uint64) {
	e := Commit
	if !c.known {
		c.issued(h)
		e = Insert
	}
	c.report(h, e, true, number)
}

func (c *Call[T]) issued(h pool.Handle[T]) {
	if g := h.Generation(); g%2 == 0 || g > slots.LastGeneration {
		c.Failf("%v: no value lives in the generation of %v", c, h)
	}
}

// shown reports a slot that is not live yet.
func (c *Call[T]) shown(h pool.Handle[T], v *T) {
	c.known = true
	c.issued(h)
	if c.Blank != nil && !c.Blank(v) || c.Blank == nil && c.Number(v) != 0 {
		c.Failf("%v: the constructor of %v finds %+v", c, h, *v)
	}
	c.report(h, Reserve, true, 0)
}

func (c *Call[T]) refused(err error) {
	if !errors.Is(err, pool.ErrFull) {
		c.Failf("%v: %v", c, err)
	}
	c.Refused(c, err)
}

// waits calls do with the call's Context, or with one that is done, if there is none. It returns
// the refusal that do's error wraps.
func (c *Call[T]) waits(do func(ctx context.Context) error) error {
	ctx := c.Context
	if ctx == nil {
		ctx = testkit.Done()
	}
	err := do(ctx)
	if err == nil {
		return nil
	}
	if !errors.Is(err, pool.ErrExhausted) && !errors.Is(err, ctx.Err()) {
		c.Failf("%v returned %v, and ctx's error is %v", c, err, ctx.Err())
	}
	return testkit.Kind(err)
}

func (c *Call[T]) insertWait() {
	var h pool.Handle[T]
	v, number := c.began()
	err := c.waits(func(ctx context.Context) (err error) {
		h, err = c.Via.InsertWait(ctx, v)
		return err
	})
	c.Returned(c)
	c.inserted(h, number, err)
}

func (c *Call[T]) insertFunc() { c.build(panics(c.Via.InsertFunc)) }

func (c *Call[T]) insertFuncWait() {
	c.build(panics(func(init func(pool.Handle[T], *T)) (h pool.Handle[T], err error) {
		err = c.waits(func(ctx context.Context) (err error) {
			h, err = c.Pool.InsertFuncWait(ctx, init)
			return err
		})
		return h, err
	}))
}

// panics returns an insertion whose constructor panics if init fails.
func panics[T any](insert func(func(pool.Handle[T], *T)) (pool.Handle[T], error)) func(func(pool.Handle[T], *T) error) (pool.Handle[T], error) {
	return func(init func(pool.Handle[T], *T) error) (pool.Handle[T], error) {
		return insert(func(h pool.Handle[T], v *T) {
			if err := init(h, v); err != nil {
				panic(err)
			}
		})
	}
}

func (c *Call[T]) tryInsertFunc() { c.build(c.Via.TryInsertFunc) }

// build inserts through a constructor, which may fail or exit on purpose.
func (c *Call[T]) build(insert func(init func(pool.Handle[T], *T) error) (pool.Handle[T], error)) {
	var shown, h pool.Handle[T]
	var err error
	built, returned := false, false
	v, number := c.began()
	defer func() {
		x := recover()
		if x != nil && !c.Meant(c, x) {
			panic(x)
		}
		c.Returned(c)
		switch {
		case shown != 0 && !built && (!returned || h == 0 && err == ErrMeant):
			c.report(shown, Cancel, true, 0)
		case !returned: // a panic or an exit from elsewhere
		case built && h == shown && err == nil:
			c.live(h, number)
		case shown == 0 && h == 0 && err != nil:
			c.refused(err)
		default:
			c.Failf("%v returned %v and %v, but the constructor was told %v", c, h, err, shown)
		}
	}()
	h, err = insert(func(h pool.Handle[T], at *T) error {
		shown = h
		c.shown(h, at)
		*at = v
		c.Inside(c, h)
		if n := c.Number(at); n != number {
			c.Failf("the value of %v changed from %d to %d while it was built", h, number, n)
		}
		if c.Fails {
			return ErrMeant
		}
		built = true
		return nil
	})
	returned = true
}

func (c *Call[T]) reserve() { c.reserved(c.Pool.Reserve) }

func (c *Call[T]) reserveWait() {
	c.reserved(func() (r *pool.Reservation[T], err error) {
		err = c.waits(func(ctx context.Context) (err error) {
			r, err = c.Pool.ReserveWait(ctx)
			return err
		})
		return r, err
	})
}

func (c *Call[T]) reserved(reserve func() (*pool.Reservation[T], error)) {
	c.Begin(c)
	r, err := reserve()
	c.Returned(c)
	if err != nil {
		c.refused(err)
		return
	}
	c.Open = r
	c.Unseen(func() { c.shown(r.Handle(), r.Pointer()) })
}

// filled sets the value of an open Reservation, and begins the call that ends it.
func (c *Call[T]) filled() (h pool.Handle[T], number uint64) {
	number = c.NewNumber()
	c.known = true
	c.Unseen(func() { *c.Open.Pointer(), h = c.Make(number), c.Open.Handle() })
	c.Begin(c)
	return h, number
}

func (c *Call[T]) commit() {
	h, number := c.filled()
	got := c.Open.Commit()
	c.Returned(c)
	if got != h {
		c.Failf("%v returned %v for a reservation of %v", c, got, h)
	}
	c.live(h, number)
}

func (c *Call[T]) cancel() {
	h, _ := c.filled()
	c.Open.Cancel()
	c.Returned(c)
	c.report(h, Cancel, true, 0)
}
