package storm

import (
	"context"
	"errors"
	"runtime"
	"time"

	"go.uber.org/atomic"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Kind says how values of a type are stamped. Stamps are odd, and written
// plainly: who reads one under a guard must find it whole.
type Kind[T any] struct {
	Make  func(stamp uint64) T
	Stamp func(v *T) uint64 // anything but the stamp if the value is not whole
	Blank func(v *T) bool   // whether it is as a constructor may find it
}

// Plain is a value without pointers.
type Plain struct{ stamp, check uint64 }

// Plains stamps Plain.
var Plains = Kind[Plain]{
	Make: func(s uint64) Plain { return Plain{s, ^s} },
	Stamp: func(v *Plain) uint64 {
		if v.check != ^v.stamp {
			return 0
		}
		return v.stamp
	},
	Blank: func(v *Plain) bool { return *v == Plain{} },
}

// Linked is a value with pointers, so that it is zeroed when it is reclaimed.
type Linked struct {
	to *uint64
	Plain
}

// Linkeds stamps Linked.
var Linkeds = Kind[Linked]{
	Make: func(s uint64) Linked { return Linked{&s, Plains.Make(s)} },
	Stamp: func(v *Linked) uint64 {
		if v.to == nil || *v.to != v.stamp {
			return 0
		}
		return Plains.Stamp(&v.Plain)
	},
	Blank: func(v *Linked) bool { return *v == Linked{} },
}

// Bulky is a value of which few fit into a page.
type Bulky struct {
	Plain
	_ [8 << 10]byte
}

// Bulkies stamps Bulky.
var Bulkies = Kind[Bulky]{
	Make:  func(s uint64) Bulky { return Bulky{Plain: Plains.Make(s)} },
	Stamp: func(v *Bulky) uint64 { return Plains.Stamp(&v.Plain) },
	Blank: func(v *Bulky) bool { return v.Plain == Plain{} },
}

// Ticket is what is known of one inserted value.
type Ticket[T any] struct {
	H     pool.Handle[T]
	stamp uint64
	wins  atomic.Int32 // removals that answered true
}

// World is a pool in a storm and all that is known of it.
type World[T any] struct {
	*Storm
	Pool   *pool.Pool[T]
	Kind   Kind[T]
	verbs  verbs.List[T]
	number verbs.Kind[T] // Kind, as verbs want it
	owners *Owners       // nil where slots are removed unseen

	board []atomic.Pointer[Ticket[T]] // where handles pass from hand to hand
	pins  chan *pinned[T]             // guards and Refs on their way to another goroutine
	dead  chan *Ticket[T]             // of goroutines that have ended
}

// pinned is a guard or a Ref and what was read under it, and whose it is.
type pinned[T any] struct {
	*verbs.Hold[T]
	from int
}

// NewWorld returns the world of p, which has at most slots slots in all. Up to
// shown handles lie where all goroutines find them.
func NewWorld[T any](s *Storm, p *pool.Pool[T], kind Kind[T], slots, shown int) *World[T] {
	return &World[T]{
		Storm:  s,
		Pool:   p,
		Kind:   kind,
		verbs:  verbs.Table[T](),
		number: verbs.Kind[T]{Make: kind.Make, Number: kind.Stamp},
		owners: NewOwners(slots),
		board:  make([]atomic.Pointer[Ticket[T]], shown),
		pins:   make(chan *pinned[T], 4),
		dead:   make(chan *Ticket[T], 1<<12),
	}
}

// Unowned drops the table of owners, for storms in which Clear and Drain remove
// what they find before anybody can strike it out. The books of what was
// inserted and removed remain.
func (w *World[T]) Unowned() *World[T] {
	w.owners = nil
	return w
}

// errMeant is what constructors panic with.
var errMeant = errors.New("meant")

// Finish ends the world of a bounded pool: it removes everything, and requires
// that every value was removed exactly once and that every slot is there. All
// Workers must have been closed or dropped.
func (w *World[T]) Finish() {
	w.t.Helper()
	w.Require(w.finish())
}

func (w *World[T]) finish() error {
	h := &Hand{storm: w.Storm, Rand: w.hands[0].Rand, done: make([]atomic.Int64, works)}
	w.hands = append(w.hands, h)
	a := w.Actor(h, w.Pool)
	close(w.pins)
	for g := range w.pins {
		a.lapse(g)
	}
	for i := range w.board {
		if t := w.board[i].Swap(nil); t != nil {
			a.Remove(t)
		}
	}
	if n := w.Pool.Clear(); n > 0 && w.owners != nil {
		w.Failf("%d values were live that nobody knew of", n)
	} else {
		h.Did(Swept, n)
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
	w.count()
	return w.failed.Load()
}

// count requires that every slot is there.
func (w *World[T]) count() {
	w.settled()
	if w.Pool.Cap() < pool.MaxCapacity {
		w.brim()
	}
}

// settled waits until no slot waits, and counts them.
func (w *World[T]) settled() {
	var st pool.Stats
	for end := time.Now().Add(patience); ; {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := w.Pool.Synchronize(ctx)
		cancel()
		if err != nil {
			w.Failf("Synchronize: %v; %+v", err, w.Pool.Stats())
			return
		}
		st = w.Pool.Stats()
		if st.Limbo+st.Cached+st.Reserved+st.Pinned == 0 || time.Now().After(end) {
			break
		}
		runtime.GC() // for Workers and Reservations that were dropped
		time.Sleep(time.Millisecond)
	}
	if st.Limbo != 0 || st.Cached != 0 || st.Reserved != 0 || st.Pinned != 0 {
		w.Failf("slots did not come back: %+v", st)
	}
	if sum := st.Live + st.Free + st.Exhausted; sum != st.Allocated {
		w.Failf("%d slots were lost: %+v", st.Allocated-sum, st)
	}
}

// brim fills the pool: as many values must fit as it has slots left, each in a
// slot of its own, and not one more.
func (w *World[T]) brim() {
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
		w.Failf("a pool with %d live of %d answers %v; %+v", len(seen), w.Pool.Cap(), err, st)
	case len(seen) > w.Pool.Cap() || len(seen)+st.Exhausted < w.Pool.Cap():
		w.Failf("%d values fill a pool of %d; %+v", len(seen), w.Pool.Cap(), st)
	}
	if n := w.Pool.Clear(); n != len(seen) {
		w.Failf("%d values were inserted, %d cleared", len(seen), n)
	}
	w.settled()
}
