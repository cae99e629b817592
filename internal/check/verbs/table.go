package verbs

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"coatcheck/pool"
)

// Table returns all verbs.
func Table[T any]() List[T] {
	return List[T]{
		{"Insert", 20, Inserts | Any, (*Call[T]).insert},
		{"InsertFunc", 10, Inserts | Any | Calls, (*Call[T]).insertFunc},
		{"TryInsertFunc", 4, Inserts | Any | Calls, (*Call[T]).tryInsertFunc},
		{"InsertBatch", 4, Inserts | Number, (*Call[T]).insertBatch},
		{"Reserve", 6, Inserts, func(c *Call[T]) { c.reserve(c.Pool.Reserve) }},
		{"Reserver.Reserve", 2, Inserts, (*Call[T]).reserveCheaply},
		{"Commit", 4, Reservation, (*Call[T]).commit},
		{"CommitHold", 2, Reservation | Pins, (*Call[T]).commitHold},
		{"Cancel", 3, Reservation, (*Call[T]).cancel},

		{"Get", 8, Handle | Any, func(c *Call[T]) { c.copied(func() (T, bool) { return c.Via.Get(c.Handles[0]) }) }},
		{"MustGet", 2, Handle, (*Call[T]).mustGet},
		{"Contains", 6, Handle, func(c *Call[T]) { c.asked(func() bool { return c.Pool.Contains(c.Handles[0]) }) }},
		{"View", 3, Handle | Calls, func(c *Call[T]) { c.view(func(f func(*T)) bool { return c.Pool.View(c.Handles[0], f) }) }},
		{"Ptr.Live", 1, Handle, func(c *Call[T]) { c.asked(c.ptr().Live) }},
		{"Ptr.Get", 1, Handle, func(c *Call[T]) { c.copied(c.ptr().Get) }},
		{"Ptr.View", 1, Handle | Calls, func(c *Call[T]) { c.view(c.ptr().View) }},

		{"Pin", 6, Any | Pins, (*Call[T]).pin},
		{"Hold", 4, Handle | Pins, (*Call[T]).hold},
		{"Guard.Get", 8, Handle | Guard, func(c *Call[T]) { c.under(c.Hold.Guard.Get) }},
		{"Ptr.Under", 2, Handle | Guard, func(c *Call[T]) {
			c.under(func(pool.Handle[T]) (*T, bool) { return c.ptr().Under(&c.Hold.Guard) })
		}},
		{"Guard.GetBatch", 6, Handles | Guard, (*Call[T]).getBatch},
		{"Repin", 2, Guard, (*Call[T]).repin},
		{"Unpin", 9, Either, (*Call[T]).unpin},

		{"Remove", 15, Handle | Any | Removes, func(c *Call[T]) { c.removed(func() bool { return c.Via.Remove(c.Handles[0]) }) }},
		{"Take", 8, Handle | Any | Removes, (*Call[T]).take},
		{"Ptr.Remove", 3, Handle | Removes, func(c *Call[T]) { c.removed(c.ptr().Remove) }},
		{"RemoveBatch", 5, Handles | Removes, (*Call[T]).removeBatch},
		{"Drain", 2, Number | Loops | Sweeps, (*Call[T]).drain},
		{"DeleteFunc", 3, Loops | Sweeps, (*Call[T]).deleteFunc},
		{"Clear", 1, Loops | Sweeps, (*Call[T]).clear},

		{"All", 3, Number | Loops, func(c *Call[T]) { c.loop(c.N, c.Pool.All()) }},
		{"Each", 2, Loops, (*Call[T]).each},
		{"Guard.All", 2, Number | Guard | Loops, func(c *Call[T]) { c.loop(c.N, c.Hold.Guard.All()) }},
		{"Guard.Pages", 2, Guard | Loops, (*Call[T]).pages},

		{"Open", 3, 0, func(c *Call[T]) { c.did(func() error { c.Opened = c.Pool.Worker(); return nil }) }},
		{"Flush", 3, Worker | Any, func(c *Call[T]) { c.did(func() error { c.worker().Flush(); return nil }) }},
		{"Close", 2, Worker | Any, func(c *Call[T]) { c.did(func() error { c.worker().Close(); return nil }) }},
		{"Trim", 2, Loops, (*Call[T]).trim},
		{"Grow", 2, Number, (*Call[T]).grow},
		{"Synchronize", 3, Context, func(c *Call[T]) { c.did(func() error { return c.Pool.Synchronize(c.Context) }) }},
		{"Stats", 1, 0, (*Call[T]).stats},
	}
}

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
		c.Refused(c, err)
		return
	}
	c.Inserted(c, h, number)
}

func (c *Call[T]) insertFunc() {
	c.build(func(init func(pool.Handle[T], *T) error) (pool.Handle[T], error) {
		return c.Via.InsertFunc(func(h pool.Handle[T], v *T) {
			if err := init(h, v); err != nil {
				panic(err)
			}
		})
	})
}

func (c *Call[T]) tryInsertFunc() { c.build(c.Via.TryInsertFunc) }

// build inserts by a constructor, which fails or exits if it is meant to.
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
			c.GivenUp(c, shown)
		case !returned: // a panic or an exit from elsewhere
		case built && h == shown && err == nil:
			c.Inserted(c, h, number)
		case shown == 0 && h == 0 && err != nil:
			c.Refused(c, err)
		default:
			c.Failf("%v returned %v and %v, but the constructor was told %v", c, h, err, shown)
		}
	}()
	h, err = insert(func(h pool.Handle[T], at *T) error {
		shown, c.Known = h, true
		c.Shown(c, h, at)
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

func (c *Call[T]) insertBatch() {
	vs, numbers := make([]T, c.N), make([]uint64, c.N)
	for i := range vs {
		numbers[i] = c.NewNumber()
		vs[i] = c.Make(numbers[i])
	}
	c.Begin(c)
	hs, err := c.Pool.InsertBatch(vs, nil)
	c.Returned(c)
	if len(hs) > len(vs) || (err == nil) != (len(hs) == len(vs)) {
		c.Failf("InsertBatch of %d values returned %d handles and %v", len(vs), len(hs), err)
		return
	}
	for i, h := range hs {
		c.Inserted(c, h, numbers[i])
	}
	if err != nil {
		c.Refused(c, err)
	}
}

func (c *Call[T]) reserve(f func() (*pool.Reservation[T], error)) {
	c.Begin(c)
	r, err := f()
	c.Returned(c)
	if err != nil {
		c.Refused(c, err)
		return
	}
	c.Open = r
	c.Unseen(func() { c.Shown(c, r.Handle(), r.Value()) })
}

func (c *Call[T]) reserveCheaply() {
	if c.Reserver == nil {
		c.Reserver = c.Pool.Reserver()
	}
	c.reserve(c.Reserver.Reserve)
}

// filled gives an open Reservation its value, and begins the call that settles it.
func (c *Call[T]) filled() (h pool.Handle[T], number uint64) {
	number = c.NewNumber()
	c.Known = true
	c.Unseen(func() { *c.Open.Value(), h = c.Make(number), c.Open.Handle() })
	c.Begin(c)
	return h, number
}

func (c *Call[T]) commit() {
	h, number := c.filled()
	c.committed(h, c.Open.Commit(), number)
}

func (c *Call[T]) committed(h, got pool.Handle[T], number uint64) {
	c.Returned(c)
	if got != h {
		c.Failf("%v returned %v for a reservation of %v", c, got, h)
	}
	c.Inserted(c, h, number)
}

func (c *Call[T]) commitHold() {
	h, number := c.filled()
	ref := c.Open.CommitHold()
	c.Unseen(func() {
		c.Hold = &Hold[T]{Ref: ref, Seen: []Sight[T]{{h, ref.Value(), number}}}
		h = ref.Handle()
	})
	c.committed(c.Hold.Seen[0].H, h, number)
}

func (c *Call[T]) cancel() {
	h, _ := c.filled()
	c.Open.Cancel()
	c.Returned(c)
	c.GivenUp(c, h)
}

func (c *Call[T]) ptr() pool.Ptr[T] { return c.Pool.Ptr(c.Handles[0]) }

func (c *Call[T]) asked(f func() bool) {
	c.Begin(c)
	ok := f()
	c.Returned(c)
	c.Asked(c, c.Handles[0], ok)
}

// copied judges a look-up that returns a copy of the value.
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

// caught calls f and reports whether it ended in a panic that was meant.
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

// met judges a value in a callback or the body of a loop.
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
	pin(c.Via, &c.Hold.Guard)
	c.Returned(c)
}

// pin pins into g, which must not be copied.
func pin[T any](d Shared[T], g *pool.Guard[T]) { *g = d.Pin() }

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

// sighted judges a look-up whose value must stay what it is.
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

func (c *Call[T]) getBatch() {
	c.Begin(c)
	vs := c.Hold.Guard.GetBatch(c.Handles, nil)
	c.Returned(c)
	for i, h := range c.Handles {
		c.sighted(h, vs[i], vs[i] != nil)
	}
}

func (c *Call[T]) repin() {
	c.Hold.Check(c.Judge, c.Kind)
	c.Hold.Seen = nil
	c.Begin(c)
	c.Hold.Guard.Repin()
	c.Returned(c)
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

func (c *Call[T]) removed(f func() bool) {
	c.Begin(c)
	ok := f()
	c.Returned(c)
	c.Removed(c, c.Handles[0], nil, ok)
}

func (c *Call[T]) take() {
	c.Begin(c)
	v, ok := c.Via.Take(c.Handles[0])
	c.Returned(c)
	c.Removed(c, c.Handles[0], &v, ok)
}

func (c *Call[T]) removeBatch() {
	c.Begin(c)
	n := c.Pool.RemoveBatch(c.Handles)
	c.Returned(c)
	c.counted(n, len(c.Handles))
}

func (c *Call[T]) counted(n, most int) {
	if n < 0 || n > most {
		c.Failf("%v removed %d of %d", c, n, most)
		return
	}
	c.Counted(c, n)
}

func (c *Call[T]) drain() {
	met := map[pool.Handle[T]]bool{}
	c.Begin(c)
	early := c.caught(func() {
		for h, v := range c.Pool.Drain() {
			c.Removed(c, h, &v, true)
			met[h] = true
			c.Inside(c, h)
			if len(met) == c.N {
				break
			}
		}
	})
	c.Returned(c)
	if !early && (c.N == 0 || len(met) < c.N) {
		c.Ranged(c, met)
	}
}

// once notes that h was yielded.
func (c *Call[T]) once(met map[pool.Handle[T]]bool, h pool.Handle[T]) {
	if met[h] {
		c.Failf("%v yields %v twice", c, h)
	}
	met[h] = true
}

func (c *Call[T]) deleteFunc() {
	met := map[pool.Handle[T]]bool{}
	condemned := 0
	c.Begin(c)
	n := 0
	early := c.caught(func() {
		n = c.Pool.DeleteFunc(func(h pool.Handle[T], v *T) bool {
			c.once(met, h)
			c.met(h, v)
			goes := c.Condemned(c, h, v)
			if goes {
				condemned++
			}
			return goes
		})
	})
	c.Returned(c)
	if !early {
		c.Ranged(c, met)
		c.counted(n, condemned)
	}
}

func (c *Call[T]) clear() {
	c.Begin(c)
	n := 0
	early := c.caught(func() { n = c.Pool.Clear() })
	c.Returned(c)
	if !early {
		c.Counted(c, n)
	}
}

// loop ranges over values, or over the first so many if most is not zero.
func (c *Call[T]) loop(most int, values func(yield func(pool.Handle[T], *T) bool)) {
	met := map[pool.Handle[T]]bool{}
	c.Begin(c)
	early := false
	for h, v := range values {
		c.once(met, h)
		// Caught here: the pin of a loop that a panic leaves may stay for a while.
		if early = c.caught(func() { c.met(h, v) }) || len(met) == most; early {
			break
		}
	}
	c.Returned(c)
	if !early {
		c.Ranged(c, met)
	}
}

// each is a loop by one goroutine, or by N.
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

func (c *Call[T]) pages() {
	c.loop(0, func(yield func(pool.Handle[T], *T) bool) {
		for _, page := range c.Hold.Guard.Pages() {
			page(yield)
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
		c.N = int(c.Pool.Trim())
		return nil
	})
}

func (c *Call[T]) grow() {
	c.did(func() error {
		err := c.Pool.Grow(c.N)
		if (err != nil) != (c.N > c.Pool.Cap()) {
			c.Failf("Grow(%d) of a pool of %d: %v", c.N, c.Pool.Cap(), err)
		}
		return err
	})
}

// stats asks for all figures, none of which can be less than nothing.
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
