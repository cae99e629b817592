package storm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Kind tells how values are stamped. Stamps are odd, and written by plain stores: under a
// guard a value must be whole. One that is not has the number zero.
type Kind[T any] = verbs.Kind[T]

// Plain is a value without pointers.
type Plain struct{ stamp, check uint64 }

// Plains stamps Plain.
var Plains = Kind[Plain]{
	Make: func(s uint64) Plain { return Plain{s, ^s} },
	Number: func(v *Plain) uint64 {
		if v.check != ^v.stamp {
			return 0
		}
		return v.stamp
	},
	Blank: func(v *Plain) bool { return *v == Plain{} },
}

// Linked is a value with pointers, so the pool zeroes it when it is reclaimed. A copy that
// mixes two values would give the collector a wrong pointer, or a wrong length or type with it.
type Linked struct {
	to   *uint64
	text string
	any  any
	Plain
}

// Linkeds stamps Linked.
var Linkeds = Kind[Linked]{
	Make: func(s uint64) Linked {
		v := Linked{to: &s, text: textOf(s), any: s, Plain: Plains.Make(s)}
		if s%4 == 1 {
			v.any = v.text
		}
		return v
	},
	Number: func(v *Linked) uint64 {
		if v.to == nil || *v.to != v.stamp || v.text != textOf(v.stamp) || v.any != any(v.stamp) && v.any != any(v.text) {
			return 0
		}
		return Plains.Number(&v.Plain)
	},
	Blank: func(v *Linked) bool { return *v == Linked{} },
}

// textOf returns a text whose place in memory and length depend on the stamp.
func textOf(stamp uint64) string {
	const all = "a ticket names one visit to one hook; the hook is used again, and the old ticket is refused"
	return all[stamp%31:][:1+stamp%61]
}

// Bulky is a large value, of which few fit into a page. It is stamped at both ends.
type Bulky struct {
	Plain
	_   [8 << 10]byte
	end uint64
}

func (v Bulky) String() string { return fmt.Sprintf("%+v to %d", v.Plain, v.end) }

// Bulkies stamps Bulky.
var Bulkies = Kind[Bulky]{
	Make: func(s uint64) Bulky { return Bulky{Plain: Plains.Make(s), end: s} },
	Number: func(v *Bulky) uint64 {
		if v.end != v.stamp {
			return 0
		}
		return Plains.Number(&v.Plain)
	},
	Blank: func(v *Bulky) bool { return v.Plain == Plain{} && v.end == 0 },
}

// Ticket records one inserted value.
type Ticket[T any] struct {
	H     pool.Handle[T]
	stamp uint64
	wins  atomic.Int32 // removals that returned true
	owned bool         // no other goroutine has it yet
}

// World is a pool in a storm with the storm's records.
type World[T any] struct {
	*Storm
	Pool verbs.Subject[T]
	Kind Kind[T]
	// Judge, unless it is nil, returns what judges an actor's calls instead of the actor.
	Judge func(a *Actor[T]) verbs.Judge[T]
	verbs verbs.List[T]

	heard    *heard[T] // nil without events
	tortures bool
	owners   []atomic.Uint64 // by slot: the handle that owns it, or 0; nil where goroutines remove slots that they do not know
	lives    []atomic.Uint32 // by slot: how often it was handed out

	board []atomic.Pointer[Ticket[T]] // where goroutines exchange handles
	pins  chan *pinned[T]             // guards and Refs on their way to another goroutine
	dead  chan *Ticket[T]             // of goroutines that have ended
}

// pinned is a guard or a Ref with what was read under it.
type pinned[T any] struct {
	*verbs.Hold[T]
	of   []*Ticket[T] // of the values in Seen
	from int          // the ID of the goroutine that opened it
}

// Finish ends the world: it removes everything, and requires that every value was removed
// exactly once and that no slot is lost. All Workers must have been closed or dropped.
func (w *World[T]) Finish() {
	w.t.Helper()
	a := w.Actor(w.hand(), w.Pool)
	a.depth = mostNested // callbacks take no steps
	close(w.pins)
	for g := range w.pins {
		a.lapse(g)
	}
	for left := true; left; { // a verb that removes a value may put another there
		left = false
		for i := range w.board {
			if t := w.board[i].Swap(nil); t != nil {
				a.discard(t)
				left = true
			}
		}
	}
	if n := w.Pool.Clear(); n > 0 && w.owners != nil {
		w.Failf("%d values were live that no goroutine knew of", n)
	} else {
		a.Did(Swept, n)
	}
	close(w.dead)
	for t := range w.dead {
		if n := t.wins.Load(); n > 1 || n == 0 && w.owners != nil {
			w.Failf("%v was removed %d times", t.H, n)
		}
	}
	if in, out := w.Done(Inserted), w.Done(Removed)+w.Done(Swept); in != out {
		w.Failf("%d values were inserted and %d removed", in, out)
	}
	w.told()
	w.settled(0)
	if w.Pool.Cap() < pool.MaxCapacity {
		w.fill()
	}
	w.Require(w.failed.Load())
}

// settled waits until no slot is in limbo, cached, reserved or pinned, and requires that none is lost, and that
// Stats tell what was inserted, besides by actors so many values.
func (w *World[T]) settled(besides int) {
	var st pool.Stats
	for begin, rounds := time.Now(), 0; ; rounds++ {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience())
		err := w.Pool.Synchronize(ctx)
		cancel()
		if err != nil {
			w.Failf("Synchronize: %v; %+v", err, w.Pool.Stats())
			return
		}
		st = w.Pool.Stats()
		// Stats may miss a slot that the collector gives back meanwhile.
		if st.Limbo+st.Cached+st.Reserved+st.Pinned == 0 && st.Live+st.Free+st.Exhausted == st.Allocated || rounds > 100 && time.Since(begin) > idleTime {
			break
		}
		runtime.GC() // for Workers and Reservations that were dropped
		time.Sleep(time.Millisecond)
	}
	if st.Limbo != 0 || st.Cached != 0 || st.Reserved != 0 || st.Pinned != 0 {
		w.Failf("slots did not come back: %+v", st)
	}
	if in := w.Done(Inserted) + int64(besides); int64(st.Inserted) != in {
		w.Failf("%d values were inserted, and Stats say %d: %+v", in, st.Inserted, st)
	}
	if sum := st.Live + st.Free + st.Exhausted; sum != st.Allocated {
		w.Failf("%d slots were lost: %+v", st.Allocated-sum, st)
	}
}

// fill fills the pool. As many values must fit as it has slots left, each in its own slot,
// and no more.
func (w *World[T]) fill() {
	seen := map[uint32]bool{}
	var err error
	var h pool.Handle[T]
	for {
		h, err = w.Pool.Insert(w.Kind.Make(1))
		if err != nil || seen[h.Index()] {
			break
		}
		seen[h.Index()] = true
	}
	st := w.Pool.Stats()
	switch {
	case err == nil:
		w.Failf("%v: the slot is live already", h)
	case !errors.Is(err, pool.ErrFull) || errors.Is(err, pool.ErrStalled):
		w.Failf("a pool with %d live of %d returns %v; %+v", len(seen), w.Pool.Cap(), err, st)
	case len(seen) != w.Pool.Cap():
		w.Failf("%d values fill a pool of %d; %+v", len(seen), w.Pool.Cap(), st)
	}
	if n := w.Pool.Clear(); n != len(seen) {
		w.Failf("%d values were inserted, %d cleared", len(seen), n)
	}
	w.settled(len(seen))
}
