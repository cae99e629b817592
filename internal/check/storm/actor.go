package storm

import (
	"runtime"

	"go.uber.org/atomic"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Actor is one goroutine of a world. It calls verbs, and judges the results as far as one
// goroutine can (judge.go).
type Actor[T any] struct {
	*Hand
	verbs.Idle[T] // other goroutines insert and remove: a value that a loop misses proves nothing
	w             *World[T]
	via           verbs.Shared[T]
	judge         verbs.Judge[T]

	stamps uint64
	buried [64]*Ticket[T] // the last that it removed, or tried to
	next   int
	depth  int // steps within steps
}

type call[T any] = verbs.Call[T]

// Actor returns the actor of h, which acts through d.
func (w *World[T]) Actor(h *Hand, d verbs.Shared[T]) *Actor[T] {
	a := &Actor[T]{Hand: h, w: w, via: d}
	if a.judge = a; w.Judge != nil {
		a.judge = w.Judge(a)
	}
	return a
}

// Ended must be called when the goroutine ends. It passes on the tickets that are judged at
// the end of the storm.
func (a *Actor[T]) Ended() {
	for _, t := range a.buried {
		if t != nil {
			select {
			case a.w.dead <- t:
			default: // there are enough
			}
		}
	}
}

// draw returns a call of one of the verbs that need all of these and none of those, on t
// unless it is nil.
func (a *Actor[T]) draw(these, those verbs.Needs, t *Ticket[T]) *call[T] {
	return a.call(a.w.verbs.Draw(a.IntN, these, those), t)
}

// named returns a call of the verb with this name.
func (a *Actor[T]) named(name string, t *Ticket[T]) *call[T] { return a.call(a.w.verbs.Named(name), t) }

func (a *Actor[T]) call(v *verbs.Verb[T], t *Ticket[T]) *call[T] {
	c := &call[T]{
		Verb: v, Judge: a.judge, Kind: a.w.Kind, Pool: a.w.Pool,
		N: 1 + a.IntN(5), Fails: a.Chance(4), State: &about[T]{t: t},
	}
	if t != nil {
		c.Handles = []pool.Handle[T]{t.H, t.H}
	}
	if v.Needs&verbs.Any != 0 {
		c.Via = a.via
	}
	return c
}

// mostNested is how many steps may be under way within a step.
const mostNested = 2

// nested takes a step within a step, at times, or lingers there.
func (a *Actor[T]) nested() {
	switch {
	case a.w.tortures && a.Chance(4):
		a.linger(nil)
	case a.depth < mostNested && a.Chance(4):
		a.depth++
		a.Step()
		a.depth--
	}
}

// Insert inserts a value by one of the verbs. It returns nil if there was no slot, or if
// the value was given up.
func (a *Actor[T]) Insert() *Ticket[T] {
	c := a.draw(verbs.Inserts, verbs.Handle|verbs.Handles, nil)
	c.Do()
	if c.Open != nil {
		return a.settle(c.Open)
	}
	return c.State.(*about[T]).fresh
}

// settle ends a Reservation by one of the verbs, or drops it.
func (a *Actor[T]) settle(r *pool.Reservation[T]) *Ticket[T] {
	a.nested()
	if a.Chance(64) {
		a.release(r.Handle())
		a.Did(Burned, 1)
		runtime.KeepAlive(r)
		runtime.GC() // until the finalizer runs, a tiny pool has no other slot
		return nil
	}
	c := a.draw(verbs.Reservation, 0, nil)
	c.Open = r
	c.Do()
	return c.State.(*about[T]).fresh
}

// place returns a place on the board.
func (a *Actor[T]) place() *atomic.Pointer[Ticket[T]] { return &a.w.board[a.IntN(len(a.w.board))] }

// do makes a call with a handle. A value that it inserts beside, or that it does not remove because it was
// refused, goes to the board.
func (a *Actor[T]) do(c *call[T]) {
	c.Do()
	if t := c.State.(*about[T]).fresh; t != nil {
		a.discard(a.place().Swap(t))
	}
}

// Remove removes t's value by one of the verbs, unless another goroutine does first.
func (a *Actor[T]) Remove(t *Ticket[T]) { a.do(a.draw(verbs.Removes, 0, t)) }

// discard is Remove for a ticket from the board, or nil.
func (a *Actor[T]) discard(t *Ticket[T]) {
	if t != nil {
		a.Remove(t)
	}
}

// bury records a handle that must never be live again.
func (a *Actor[T]) bury(t *Ticket[T]) {
	if t.stamp == 0 {
		t.wins.Store(1) // it never was live
	}
	a.buried[a.next%len(a.buried)] = t
	a.next++
}

// Stale passes a dead handle to one of the verbs.
func (a *Actor[T]) Stale() {
	t := a.buried[a.IntN(len(a.buried))]
	if t == nil {
		return
	}
	c := a.draw(verbs.Handle, 0, t)
	c.State.(*about[T]).dead = true
	if c.Needs&verbs.Guard != 0 {
		pin := a.named("Pin", nil)
		pin.Do()
		c.Hold = pin.Hold
		defer a.unpin(c.Hold)
	}
	a.do(c)
	a.Did(Refused, 1)
}

func (a *Actor[T]) unpin(k *verbs.Hold[T]) {
	c := a.named("Unpin", nil)
	c.Hold = k
	c.Do()
}

// pin looks up at most four values under a guard, or one through a Ref unless those excludes
// that. It returns nil if it found none.
func (a *Actor[T]) pin(those verbs.Needs) *pinned[T] {
	t := a.place().Load()
	if t == nil {
		return nil
	}
	pin := a.draw(verbs.Pins, those, t)
	pin.Do()
	k := &pinned[T]{Hold: pin.Hold, from: a.ID}
	switch {
	case k.Hold == nil: // it was removed
		return nil
	case k.Ref != nil:
		a.Did(Held, 1)
		k.of = append(k.of, t)
		return k
	}
	for range 1 + a.IntN(4) {
		if t = a.place().Load(); t == nil {
			continue
		}
		look := a.draw(verbs.Guard, verbs.Loops, t)
		look.Hold = k.Hold
		look.Do()
		if len(k.Seen) > len(k.of) {
			k.of = append(k.of, t)
		}
	}
	if len(k.Seen) == 0 {
		a.unpin(k.Hold)
		return nil
	}
	a.Did(Pinned, 1)
	return k
}

// Read reads values under a guard or a Ref, takes other steps, and reads them again. They
// must not change, whether they were removed meanwhile or not.
func (a *Actor[T]) Read() {
	k := a.pin(0)
	if k == nil {
		return
	}
	a.nested()
	if a.w.tortures {
		a.linger(k)
	} else if a.Chance(4) {
		runtime.Gosched()
	}
	a.pass(k)
}

// pass ends k, here or on another goroutine.
func (a *Actor[T]) pass(k *pinned[T]) {
	a.look(k)
	if a.Chance(8) {
		select {
		case a.w.pins <- k:
			return
		default:
		}
	}
	a.lapse(k)
}

// look reads the values of k again, and counts those that were removed.
func (a *Actor[T]) look(k *pinned[T]) {
	k.Check(a, a.w.Kind)
	a.Did(Read, 1)
	for _, t := range k.of {
		removed, live := t.wins.Load() > 0, a.w.Pool.Contains(t.H)
		if removed && live {
			a.Failf("%v is live, and was removed", t.H)
		}
		if !live {
			a.Did(Late, 1)
		}
	}
}

// lapse reads the values of k for the last time, and unpins or releases it.
func (a *Actor[T]) lapse(k *pinned[T]) {
	a.look(k)
	if k.from != a.ID {
		a.Did(Lapsed, 1)
	}
	a.unpin(k.Hold)
}

// Ebb removes all values on the board, and trims, so that pages lose their memory and get
// it back with the next insertions.
func (a *Actor[T]) Ebb() {
	for i := range a.w.board {
		a.discard(a.w.board[i].Swap(nil))
	}
	a.named("Trim", nil).Do()
	if a.Chance(8) {
		runtime.GC()
	}
}

// Sweep visits or removes all values by one of the verbs that do.
func (a *Actor[T]) Sweep() {
	c := a.draw(verbs.Loops, verbs.Guard, nil)
	if c.Needs&verbs.Spreads == 0 {
		c.N = a.IntN(100)
	}
	c.Do()
}

// Write inserts or removes a value.
func (a *Actor[T]) Write() {
	switch a.IntN(8) {
	default:
		if t := a.Insert(); t != nil {
			a.own(t)
			a.discard(a.place().Swap(t))
		}
	case 5, 6:
		a.discard(a.place().Swap(nil))
	case 7: // beside others that may remove it
		a.discard(a.place().Load())
	}
}

// own looks at a value, at times, before other goroutines know of it.
func (a *Actor[T]) own(t *Ticket[T]) {
	if a.Chance(4) {
		t.owned = true
		a.Look(t)
		t.owned = false
	}
}

// Step does one of the above.
func (a *Actor[T]) Step() {
	switch a.IntN(12) {
	default:
		a.Write()
	case 8, 9:
		a.Read()
	case 10:
		a.peek()
		a.lapsePassed()
	case 11:
		a.Stale()
	}
}

// Look passes t's handle to a verb that needs no guard and removes nothing.
func (a *Actor[T]) Look(t *Ticket[T]) {
	a.draw(verbs.Handle, verbs.Removes|verbs.Inserts|verbs.Pins|verbs.Guard, t).Do()
}

// peek looks at a value on the board.
func (a *Actor[T]) peek() {
	if t := a.place().Load(); t != nil {
		a.Look(t)
	}
}

// Watch copies a value from the board again and again, so that copies meet its removal, and
// the next value of its slot.
func (a *Actor[T]) Watch() {
	t := a.place().Load()
	for n := 0; t != nil && n < 64; n++ {
		v, ok := a.w.Pool.Get(t.H)
		if !ok {
			return
		}
		if a.w.Kind.Number(&v) != t.stamp {
			a.Failf("Get(%v) copies %+v; want stamp %d", t.H, v, t.stamp)
		}
		a.Did(Read, 1)
	}
}

// lapsePassed ends a guard or Ref of another goroutine, if there is one.
func (a *Actor[T]) lapsePassed() {
	select {
	case k := <-a.w.pins:
		a.lapse(k)
	default:
	}
}
