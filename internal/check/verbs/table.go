package verbs

import (
	"context"
	"sync"

	"coatcheck/pool"
)

// Table returns all verbs.
func Table[T any]() List[T] {
	return List[T]{
		{"Insert", 20, Inserts | Any, (*Call[T]).insert},
		{"InsertWait", 4, Inserts | Any, (*Call[T]).insertWait},
		{"InsertFunc", 10, Inserts | Any | Calls, (*Call[T]).insertFunc},
		{"TryInsertFunc", 4, Inserts | Any | Calls, (*Call[T]).tryInsertFunc},
		{"InsertFuncWait", 2, Inserts | Calls, (*Call[T]).insertFuncWait},
		{"Reserve", 8, Inserts, (*Call[T]).reserve},
		{"ReserveWait", 2, Inserts, (*Call[T]).reserveWait},
		{"Commit", 4, Reservation, (*Call[T]).commit},
		{"Cancel", 3, Reservation | Cancels, (*Call[T]).cancel},

		{"Get", 8, Handle, func(c *Call[T]) { c.copied(Read, func() (T, bool) { return c.Pool.Get(c.Handles[0]) }) }},
		{"MustGet", 2, Handle, (*Call[T]).mustGet},
		{"Contains", 6, Handle, func(c *Call[T]) { c.asked(Look, func() bool { return c.Pool.Contains(c.Handles[0]) }) }},
		{"At", 3, Handle, (*Call[T]).slotAt},
		{"Pointer", 6, Handle, (*Call[T]).pointer},
		{"View", 3, Handle | Calls | Under, func(c *Call[T]) { c.view(func(f func(*T)) bool { return c.Pool.View(c.Handles[0], f) }) }},
		{"Ptr.Live", 1, Handle, func(c *Call[T]) { c.asked(Look, c.ptr().Live) }},
		{"Ptr.Get", 1, Handle, func(c *Call[T]) { c.copied(Read, c.ptr().Get) }},
		{"Ptr.View", 1, Handle | Calls | Under, func(c *Call[T]) { c.view(c.ptr().View) }},

		{"Pin", 6, Pins, (*Call[T]).pin},
		{"Hold", 4, Handle | Pins, (*Call[T]).hold},
		{"Guard.Pointer", 14, Handle | Guard, func(c *Call[T]) { c.under(c.Hold.Guard.Pointer) }},
		{"Unpin", 9, Either, (*Call[T]).unpin},

		{"Remove", 15, Handle | Any | Removes, func(c *Call[T]) { c.asked(Remove, func() bool { return c.Via.Remove(c.Handles[0]) }) }},
		{"Take", 8, Handle | Any | Removes, func(c *Call[T]) { c.copied(Take, func() (T, bool) { return c.Via.Take(c.Handles[0]) }) }},
		{"Ptr.Remove", 3, Handle | Removes, func(c *Call[T]) { c.asked(Remove, c.ptr().Remove) }},
		{"RemoveBatch", 5, Handles | Removes, (*Call[T]).removeBatch},
		{"Drain", 2, Number | Loops | Sweeps, (*Call[T]).drain},
		{"DeleteFunc", 3, Loops | Under | Sweeps, (*Call[T]).deleteFunc},
		{"Clear", 1, Loops | Sweeps, (*Call[T]).clear},

		{"All", 3, Number | Loops | Under, func(c *Call[T]) { c.loop(c.N, c.Pool.All()) }},
		{"Each", 2, Loops | Under | Spreads, (*Call[T]).each},
		{"Guard.All", 2, Number | Guard | Loops | Under, func(c *Call[T]) { c.loop(c.N, c.Hold.Guard.All()) }},

		{"Open", 3, 0, func(c *Call[T]) { c.did(func() error { c.Opened = c.Pool.Worker(); return nil }) }},
		{"Flush", 3, Worker | Any, func(c *Call[T]) { c.did(func() error { c.worker().Flush(); return nil }) }},
		{"Close", 2, Worker | Any, func(c *Call[T]) { c.did(func() error { c.worker().Close(); return nil }) }},
		{"Grow", 1, Number, func(c *Call[T]) { c.did(func() error { c.Pool.Grow(c.N); return nil }) }},
		{"Trim", 2, Loops | Frees, (*Call[T]).trim},
		{"Synchronize", 3, Context, func(c *Call[T]) { c.did(func() error { return c.Pool.Synchronize(c.Context) }) }},
		{"Stats", 1, Counts, (*Call[T]).stats},
	}
}

// loop ranges over values, over at most that many unless most is zero.
func (c *Call[T]) loop(most int, values func(yield func(pool.Handle[T], *T) bool)) {
	met := map[pool.Handle[T]]bool{}
	c.Begin(c)
	early := false
	for h, v := range values {
		c.once(met, h)
		// A panic is caught here: other goroutines of Each may call the body afterwards.
		if early = c.caught(func() { c.met(h, v) }) || len(met) == most; early {
			break
		}
	}
	c.Returned(c)
	if !early {
		c.Others(c, met, Report{Effect: Look})
	}
}

// each ranges with N goroutines, at least one.
func (c *Call[T]) each() {
	c.loop(0, func(yield func(pool.Handle[T], *T) bool) {
		var mu sync.Mutex
		err := c.Pool.Each(context.Background(), max(1, c.N), func(h pool.Handle[T], v *T) error {
			mu.Lock()
			defer mu.Unlock()
			if !yield(h, v) {
				return ErrMeant
			}
			return nil
		})
		if err != nil && err != ErrMeant {
			c.Failf("Each: %v", err)
		}
	})
}

func (c *Call[T]) worker() *pool.Worker[T] { return c.Via.(*pool.Worker[T]) }

func (c *Call[T]) did(f func() error) {
	c.Begin(c)
	err := f()
	c.Returned(c)
	c.Acted(c, err)
}

func (c *Call[T]) trim() {
	c.did(func() error {
		if c.N = int(c.Pool.Trim()); c.N < 0 {
			c.Failf("Trim gave back %d bytes", c.N)
		}
		return nil
	})
}

// stats calls Stats and Len. No figure may be negative.
func (c *Call[T]) stats() {
	c.did(func() error {
		st, n := c.Pool.Stats(), c.Pool.Len()
		if min(st.Live, st.Free, st.Limbo, st.Cached, st.Reserved, st.Held, st.Exhausted, st.Allocated, st.Pinned, n) < 0 {
			c.Failf("Stats are %+v, and Len is %d", st, n)
		}
		c.N = max(n, st.Live)
		return nil
	})
}
