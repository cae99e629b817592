package storm

import (
	"errors"
	"runtime"

	"go.uber.org/atomic"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Actor is one goroutine's part in a world: it calls verbs and judges what it can.
type Actor[T any] struct {
	*Hand
	verbs.Idle[T] // others come and go: what loops leave out says nothing
	w             *World[T]
	via           verbs.Shared[T]
	reserver      *pool.Reserver[T]

	stamps uint64
	buried [64]*Ticket[T] // the last that it removed, or tried to
	next   int
	depth  int // steps within steps
}

// call is a call of a verb.
type call[T any] = verbs.Call[T]

// about is what is known of the values of a call.
type about[T any] struct {
	t     *Ticket[T] // nil: nothing
	dead  bool       // t must be refused
	fresh []*Ticket[T]
	taken T
}

// Actor returns the part of h, which acts through d.
func (w *World[T]) Actor(h *Hand, d verbs.Shared[T]) *Actor[T] {
	return &Actor[T]{Hand: h, w: w, via: d, reserver: w.Pool.Reserver()}
}

// Ended hands over what only the storm's end can judge. It is called when the
// goroutine ends.
func (a *Actor[T]) Ended() {
	for _, t := range a.buried {
		if t != nil {
			select {
			case a.w.dead <- t:
			default: // enough of them
			}
		}
	}
}

// draw returns a call of one of the verbs that need all of these and none of those,
// on t if that is not nil.
func (a *Actor[T]) draw(these, those verbs.Needs, t *Ticket[T]) *call[T] {
	return a.call(a.w.verbs.Draw(a.IntN, these, those), t)
}

func (a *Actor[T]) call(v *verbs.Verb[T], t *Ticket[T]) *call[T] {
	c := &call[T]{
		Verb: v, Judge: a, Kind: a.w.number, Pool: a.w.Pool, Reserver: a.reserver,
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

// named returns a call of the verb with this name.
func (a *Actor[T]) named(name string, t *Ticket[T]) *call[T] { return a.call(a.w.verbs.Named(name), t) }

// NewNumber returns a stamp.
func (a *Actor[T]) NewNumber() uint64 {
	a.stamps += 2
	return uint64(a.ID)<<40 + a.stamps | 1
}

// claim enters a slot that was handed out to a.
func (a *Actor[T]) claim(h pool.Handle[T]) {
	if h.Generation()%2 == 0 {
		a.Failf("handed out %v, whose generation is even", h)
	}
	if a.w.owners != nil {
		if err := a.w.owners.Claim(h.Index(), uint64(h)); err != nil {
			a.Failf("%w", err)
		}
	}
}

// release strikes a slot out that may be handed out again from now on.
func (a *Actor[T]) release(h pool.Handle[T]) {
	if a.w.owners != nil {
		a.w.owners.Release(h.Index(), uint64(h))
	}
}

// Failf ends the storm.
func (a *Actor[T]) Failf(format string, args ...any) {
	a.w.Failf("goroutine %d: "+format, append([]any{a.ID}, args...)...)
}

// Begin releases what the call may give back.
func (a *Actor[T]) Begin(c *call[T]) {
	if c.Needs&verbs.Removes != 0 {
		a.release(c.Handles[0])
	}
	if c.Name == "Cancel" {
		a.release(c.Open.Handle())
	}
}

// Inside takes a step within a step, now and then.
func (a *Actor[T]) Inside(c *call[T], h pool.Handle[T]) {
	if c.Needs&verbs.Loops != 0 {
		return
	}
	a.nested()
	if c.Needs&verbs.Inserts != 0 && c.Fails {
		a.release(h)
	}
}

func (a *Actor[T]) nested() {
	if a.depth < 2 && a.Chance(4) {
		a.depth++
		a.Step()
		a.depth--
	}
}

// Refused counts an insertion that found no slot.
func (a *Actor[T]) Refused(c *call[T], err error) {
	switch {
	case errors.Is(err, pool.ErrStalled):
		a.Did(Stalled, 1)
	case errors.Is(err, pool.ErrExhausted):
		a.Did(Spent, 1)
	case !errors.Is(err, pool.ErrFull):
		a.Failf("%v: %v", c, err)
	}
	a.Did(Full, 1)
}

// Shown checks a slot that is handed out and not live yet.
func (a *Actor[T]) Shown(c *call[T], h pool.Handle[T], v *T) {
	a.claim(h)
	if !a.w.Kind.Blank(v) {
		a.Failf("%v: the constructor finds %+v", h, *v)
	}
	if a.w.Pool.Contains(h) {
		a.Failf("%v is live before it was built", h)
	}
}

// Inserted makes the ticket of a value that is live.
func (a *Actor[T]) Inserted(c *call[T], h pool.Handle[T], stamp uint64) {
	if !c.Known {
		a.claim(h)
	}
	a.Did(Inserted, 1)
	it := c.State.(*about[T])
	it.fresh = append(it.fresh, &Ticket[T]{H: h, stamp: stamp})
}

// GivenUp remembers a handle that must never be live.
func (a *Actor[T]) GivenUp(c *call[T], h pool.Handle[T]) {
	a.Did(Burned, 1)
	a.bury(&Ticket[T]{H: h})
}

// Asked judges whether h is live.
func (a *Actor[T]) Asked(c *call[T], h pool.Handle[T], ok bool) {
	if ok && c.State.(*about[T]).dead {
		a.Failf("%v finds %v, which was removed", c, h)
	}
}

// Looked judges a value that was found; in loops it is anybody's.
func (a *Actor[T]) Looked(c *call[T], h pool.Handle[T], v *T) {
	it := c.State.(*about[T])
	a.Asked(c, h, v != nil)
	if v == nil {
		return
	}
	if s := a.w.Kind.Stamp(v); s == 0 || it.t != nil && s != it.t.stamp {
		a.Failf("%v(%v): %+v, of stamp %d", c, h, *v, s)
	}
	a.Did(Read, 1)
}

// Removed judges a removal, by which others may have been faster.
func (a *Actor[T]) Removed(c *call[T], h pool.Handle[T], v *T, ok bool) {
	it := c.State.(*about[T])
	a.Asked(c, h, ok)
	switch {
	case ok && it.t == nil:
		a.Did(Swept, 1)
		if a.w.Kind.Stamp(v) == 0 {
			a.Failf("%v meets %+v under %v", c, *v, h)
		}
		return
	case ok:
		a.Did(Removed, 1)
		if n := it.t.wins.Inc(); n > 1 {
			a.Failf("%v was removed %d times", h, n)
		}
		if v != nil {
			if it.taken = *v; a.w.Kind.Stamp(v) != it.t.stamp {
				a.Failf("%v(%v): %+v; want stamp %d", c, h, *v, it.t.stamp)
			}
		}
	}
	if a.w.Pool.Contains(h) {
		a.Failf("%v is live after %v", h, c)
	}
	if !it.dead {
		a.bury(it.t)
	}
}

// Condemned lets every fourth value go.
func (a *Actor[T]) Condemned(*call[T], pool.Handle[T], *T) bool { return a.Chance(4) }

// Counted judges a batch, which names one handle twice.
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

// Acted counts what Trim gave back.
func (a *Actor[T]) Acted(c *call[T], err error) {
	switch {
	case c.Name != "Trim":
	case c.N < 0:
		a.Failf("Trim gave back %d bytes", c.N)
	case c.N > 0:
		a.Did(Trimmed, 1)
	}
}

// Insert inserts a value in one of the ways there are. It returns nil if there
// was no slot, or if the value was not meant to live.
func (a *Actor[T]) Insert() *Ticket[T] {
	c := a.draw(verbs.Inserts, 0, nil)
	c.Do()
	it := c.State.(*about[T])
	if c.Open != nil {
		it = a.settle(c.Open)
	}
	var last *Ticket[T]
	for _, t := range it.fresh {
		if last != nil {
			a.Show(last)
		}
		last = t
	}
	return last
}

// settle ends a Reservation in one of the ways there are.
func (a *Actor[T]) settle(r *pool.Reservation[T]) *about[T] {
	a.nested()
	if a.Chance(64) {
		a.release(r.Handle())
		a.Did(Burned, 1)
		runtime.KeepAlive(r)
		runtime.GC() // it is dropped, and tiny pools can do nothing until that is seen
		return new(about[T])
	}
	c := a.draw(verbs.Reservation, 0, nil)
	c.Open = r
	c.Do()
	if c.Hold != nil {
		a.lapse(&pinned[T]{c.Hold, a.ID})
	}
	return c.State.(*about[T])
}

// Show puts t where all find it, and removes what lay there.
func (a *Actor[T]) Show(t *Ticket[T]) {
	if old := a.place().Swap(t); old != nil {
		a.Remove(old)
	}
}

func (a *Actor[T]) place() *atomic.Pointer[Ticket[T]] { return &a.w.board[a.IntN(len(a.w.board))] }

// Remove removes t's value by one of the verbs, unless others are faster.
func (a *Actor[T]) Remove(t *Ticket[T]) { a.draw(verbs.Removes, 0, t).Do() }

// Take takes the value of a ticket that nobody else has.
func (a *Actor[T]) Take(t *Ticket[T]) T {
	c := a.named("Take", t)
	c.Do()
	if t.wins.Load() == 0 {
		a.Failf("Take refuses %v, which nobody else knows", t.H)
	}
	return c.State.(*about[T]).taken
}

// bury remembers a handle that must never be live again.
func (a *Actor[T]) bury(t *Ticket[T]) {
	if t.stamp == 0 {
		t.wins.Store(1) // it never lived
	}
	a.buried[a.next%len(a.buried)] = t
	a.next++
}

// Stale shows a dead handle to one of the verbs.
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
	c.Do()
	a.Did(Refused, 1)
}

func (a *Actor[T]) unpin(k *verbs.Hold[T]) {
	c := a.named("Unpin", nil)
	c.Hold = k
	c.Do()
}

// Read looks at a value under a guard or a Ref, does other things, and looks
// again: it must be the same, whether it was removed meanwhile or not.
func (a *Actor[T]) Read() {
	t := a.place().Load()
	if t == nil {
		return
	}
	pin := a.draw(verbs.Pins, verbs.Reservation, t)
	pin.Do()
	k := pin.Hold
	if k == nil {
		return
	}
	if k.Ref != nil {
		a.Did(Held, 1)
	} else {
		look := a.draw(verbs.Guard, verbs.Loops, t)
		look.Hold = k
		look.Do()
		if len(k.Seen) == 0 {
			a.unpin(k)
			return
		}
	}
	held := &pinned[T]{k, a.ID}
	a.nested()
	if a.Chance(4) {
		runtime.Gosched()
	}
	a.look(held)
	if a.Chance(8) {
		select {
		case a.w.pins <- held:
			return
		default:
		}
	}
	a.lapse(held)
}

func (a *Actor[T]) look(g *pinned[T]) {
	g.Check(a, a.w.number)
	a.Did(Read, 1)
}

// lapse looks for the last time, and unpins or releases.
func (a *Actor[T]) lapse(g *pinned[T]) {
	a.look(g)
	if g.from != a.ID {
		a.Did(Lapsed, 1)
	}
	a.unpin(g.Hold)
}

// Ebb removes all that is shown, and trims: pages lose what they have and come
// back with the next insertions.
func (a *Actor[T]) Ebb() {
	for i := range a.w.board {
		if t := a.w.board[i].Swap(nil); t != nil {
			a.Remove(t)
		}
	}
	a.named("Trim", nil).Do()
	if a.Chance(8) {
		runtime.GC()
	}
}

// Sweep removes or visits everything by one of the verbs that do.
func (a *Actor[T]) Sweep() {
	c := a.draw(verbs.Loops, verbs.Guard, nil)
	if c.Name != "Each" {
		c.N = a.IntN(100)
	}
	c.Do()
}

// Step does one thing of those above.
func (a *Actor[T]) Step() {
	switch a.IntN(12) {
	case 0, 1, 2, 3, 4:
		if t := a.Insert(); t != nil {
			a.Show(t)
		}
	case 5, 6:
		if t := a.place().Swap(nil); t != nil {
			a.Remove(t)
		}
	case 7: // against whoever takes it from the board
		if t := a.place().Load(); t != nil {
			a.Remove(t)
		}
	case 8, 9:
		a.Read()
	case 10:
		if t := a.place().Load(); t != nil {
			a.draw(verbs.Handle, verbs.Removes|verbs.Pins|verbs.Guard, t).Do()
		}
		select {
		case g := <-a.w.pins:
			a.lapse(g)
		default:
		}
	case 11:
		a.Stale()
	}
}
