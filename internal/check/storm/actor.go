package storm

import (
	"errors"
	"runtime"

	"coatcheck/pool"
)

// Actor is one goroutine's part in a world: each verb does the thing and checks
// what it can.
type Actor[T any] struct {
	*Hand
	w *World[T]
	v Verbs[T]

	stamps uint64
	buried [64]*Ticket[T] // the last that it removed, or tried to
	next   int
	depth  int // steps within steps
}

// Actor returns the part of h, which acts through v.
func (w *World[T]) Actor(h *Hand, v Verbs[T]) *Actor[T] { return &Actor[T]{Hand: h, w: w, v: v} }

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

func (a *Actor[T]) stamp() uint64 {
	a.stamps += 2
	return uint64(a.ID)<<40 + a.stamps | 1
}

// claim enters a slot that was handed out to a.
func (a *Actor[T]) claim(h pool.Handle[T]) {
	if h.Generation()%2 == 0 {
		a.w.Failf("handed out %v, whose generation is even", h)
	}
	if a.w.owners != nil {
		if err := a.w.owners.Claim(h.Index(), uint64(h)); err != nil {
			a.w.Failf("goroutine %d: %w", a.ID, err)
		}
	}
}

func (a *Actor[T]) release(h pool.Handle[T]) bool {
	return a.w.owners == nil || a.w.owners.Release(h.Index(), uint64(h))
}

// inserted is the ticket of a value that is live.
func (a *Actor[T]) inserted(h pool.Handle[T], stamp uint64) *Ticket[T] {
	a.Did(Inserted, 1)
	return &Ticket[T]{H: h, stamp: stamp}
}

// refused counts an insertion that found no slot, and answers whether it was one.
func (a *Actor[T]) refused(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, pool.ErrStalled):
		a.Did(Stalled, 1)
	case errors.Is(err, pool.ErrExhausted):
		a.Did(Spent, 1)
	case !errors.Is(err, pool.ErrFull):
		a.w.Failf("insertion: %v", err)
	}
	a.Did(Full, 1)
	return true
}

// Insert inserts a value in one of the ways there are. It returns nil if there
// was no slot, or if the value was not meant to live.
func (a *Actor[T]) Insert() *Ticket[T] {
	switch a.IntN(8) {
	case 0, 1:
		return a.build(false)
	case 2:
		return a.build(true)
	case 3:
		return a.reserve()
	case 4:
		return a.batch()
	default:
		stamp := a.stamp()
		h, err := a.v.Insert(a.w.Kind.Make(stamp))
		if a.refused(err) {
			return nil
		}
		a.claim(h)
		return a.inserted(h, stamp)
	}
}

// begun checks and fills a slot that is handed out and not live yet.
func (a *Actor[T]) begun(h pool.Handle[T], v *T, stamp uint64) {
	a.claim(h)
	if !a.w.Kind.Blank(v) {
		a.w.Failf("%v: the constructor finds %+v", h, *v)
	}
	if a.w.Pool.Contains(h) {
		a.w.Failf("%v is live before it was built", h)
	}
	*v = a.w.Kind.Make(stamp)
}

// build inserts by a constructor, which may insert and remove in its turn, and
// may panic.
func (a *Actor[T]) build(fail bool) (t *Ticket[T]) {
	stamp := a.stamp()
	defer func() {
		if v := recover(); v != nil {
			if v != errMeant || !fail {
				panic(v)
			}
			a.Did(Burned, 1)
		}
	}()
	h, err := a.v.InsertFunc(func(h pool.Handle[T], v *T) {
		a.begun(h, v, stamp)
		a.nested()
		if fail {
			a.release(h)
			a.bury(&Ticket[T]{H: h})
			panic(errMeant)
		}
	})
	if a.refused(err) {
		return nil
	}
	return a.inserted(h, stamp)
}

// nested takes a step within a step, now and then.
func (a *Actor[T]) nested() {
	if a.depth < 2 && a.Chance(4) {
		a.depth++
		a.Step()
		a.depth--
	}
}

func (a *Actor[T]) reserve() *Ticket[T] {
	r, err := a.w.Pool.Reserve()
	if a.refused(err) {
		return nil
	}
	stamp, h := a.stamp(), r.Handle()
	a.begun(h, r.Value(), stamp)
	a.nested()
	if a.Chance(64) {
		a.release(h)
		a.Did(Burned, 1)
		runtime.KeepAlive(r)
		runtime.GC() // it is dropped, and tiny pools can do nothing until that is seen
		return nil
	}
	switch a.IntN(4) {
	case 0:
		a.release(h)
		r.Cancel()
		a.Did(Burned, 1)
		a.bury(&Ticket[T]{H: h})
		return nil
	default:
		if r.Commit() != h {
			a.w.Failf("%v: Commit returns another handle", h)
		}
		return a.inserted(h, stamp)
	}
}

func (a *Actor[T]) batch() *Ticket[T] {
	vs := make([]T, 1+a.IntN(5))
	stamps := make([]uint64, len(vs))
	for i := range vs {
		stamps[i] = a.stamp()
		vs[i] = a.w.Kind.Make(stamps[i])
	}
	hs, err := a.w.Pool.InsertBatch(vs, nil)
	if a.refused(err) == (len(hs) == len(vs)) {
		a.w.Failf("InsertBatch: %d of %d and %v", len(hs), len(vs), err)
	}
	var t *Ticket[T]
	for i, h := range hs {
		a.claim(h)
		if t != nil {
			a.Show(t)
		}
		t = a.inserted(h, stamps[i])
	}
	return t
}

// Show puts t where all find it, and removes what lay there.
func (a *Actor[T]) Show(t *Ticket[T]) {
	if old := a.place().Swap(t); old != nil {
		a.Remove(old)
	}
}

func (a *Actor[T]) place() interface {
	Load() *Ticket[T]
	Swap(*Ticket[T]) *Ticket[T]
} {
	return &a.w.board[a.IntN(len(a.w.board))]
}

// Remove removes t's value by one of the verbs, unless others are faster.
func (a *Actor[T]) Remove(t *Ticket[T]) {
	a.release(t.H)
	ok := false
	switch a.IntN(8) {
	case 0, 1, 2:
		var v T
		v, ok = a.v.Take(t.H)
		if ok && a.w.Kind.Stamp(&v) != t.stamp {
			a.w.Failf("Take(%v): %+v; want stamp %d", t.H, v, t.stamp)
		}
	case 3:
		n := a.w.Pool.RemoveBatch([]pool.Handle[T]{t.H, t.H})
		if ok = n > 0; n > 1 {
			a.w.Failf("RemoveBatch removed %v twice", t.H)
		}
	default:
		ok = a.v.Remove(t.H)
	}
	if ok {
		a.Did(Removed, 1)
		if n := t.wins.Inc(); n > 1 {
			a.w.Failf("%v was removed %d times", t.H, n)
		}
	}
	if a.w.Pool.Contains(t.H) {
		a.w.Failf("%v is live after Remove", t.H)
	}
	a.bury(t)
}

// Take takes the value of a ticket that nobody else has.
func (a *Actor[T]) Take(t *Ticket[T]) T {
	a.release(t.H)
	v, ok := a.v.Take(t.H)
	if !ok {
		a.w.Failf("Take refuses %v, which nobody else knows", t.H)
	}
	a.Did(Removed, 1)
	t.wins.Inc()
	a.bury(t)
	return v
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
	ok := false
	verb := ""
	switch a.IntN(5) {
	case 0:
		verb, ok = "Contains", a.w.Pool.Contains(t.H)
	case 1:
		verb = "Get"
		_, ok = a.v.Get(t.H)
	case 2:
		verb, ok = "Remove", a.v.Remove(t.H)
	case 3:
		verb = "Take"
		_, ok = a.v.Take(t.H)
	case 4:
		verb = "Guard.Get"
		g := a.v.Pin()
		_, ok = g.Get(t.H)
		g.Unpin()
	}
	if ok {
		a.w.Failf("%s finds %v, which was removed", verb, t.H)
	}
	a.Did(Refused, 1)
}

// Read looks at a value under a guard or a Ref, does other things, and looks
// again: it must be the same, whether it was removed meanwhile or not.
func (a *Actor[T]) Read() {
	t := a.place().Load()
	if t == nil {
		return
	}
	held := &pinned[T]{stamp: t.stamp, from: a.ID}
	if a.Chance(3) {
		ref, ok := a.w.Pool.Hold(t.H)
		if !ok {
			return
		}
		held.ref, held.v = ref, ref.Value()
		a.Did(Held, 1)
	} else {
		held.guard = a.v.Pin()
		v, ok := held.guard.Get(t.H)
		if !ok {
			held.guard.Unpin()
			return
		}
		held.v = v
	}
	a.look(held)
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
	if s := a.w.Kind.Stamp(g.v); s != g.stamp {
		a.w.Failf("goroutine %d: a value under a guard or a Ref became %+v (stamp %d); want stamp %d", a.ID, *g.v, s, g.stamp)
	}
	a.Did(Read, 1)
}

// lapse looks for the last time, and unpins or releases.
func (a *Actor[T]) lapse(g *pinned[T]) {
	a.look(g)
	if g.from != a.ID {
		a.Did(Lapsed, 1)
	}
	if g.ref != nil {
		g.ref.Release()
		return
	}
	g.guard.Unpin()
}

// Ebb removes all that is shown, and trims: pages lose what they have and come
// back with the next insertions.
func (a *Actor[T]) Ebb() {
	for i := range a.w.board {
		if t := a.w.board[i].Swap(nil); t != nil {
			a.Remove(t)
		}
	}
	switch freed := a.w.Pool.Trim(); {
	case freed < 0:
		a.w.Failf("Trim gave back %d bytes", freed)
	case freed > 0:
		a.Did(Trimmed, 1)
	}
	if a.Chance(8) {
		runtime.GC()
	}
}

// Copy gets a value, which must be whole.
func (a *Actor[T]) Copy() {
	t := a.place().Load()
	if t == nil {
		return
	}
	if v, ok := a.v.Get(t.H); ok && a.w.Kind.Stamp(&v) != t.stamp {
		a.w.Failf("Get(%v): %+v; want stamp %d", t.H, v, t.stamp)
	}
	a.Did(Read, 1)
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
		a.Copy()
		select {
		case g := <-a.w.pins:
			a.lapse(g)
		default:
		}
	case 11:
		a.Stale()
	}
}
