//go:build interleave

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"coatcheck/internal/check/interleave"
	"coatcheck/pool"
)

// val is the value of the explored pools. The stamp is unique to each value; the pointer
// makes the pool zero reclaimed slots.
type val struct {
	stamp uint64
	keep  *int
}

var anchor int

type handle = pool.Handle[val]

// world is one run: a pool with buffers, what its threads know of them, and what must
// hold.
type world struct {
	r       *interleave.Run
	p       *pool.Pool[val]
	buffers []*Buffer[val]

	serial   uint64
	threads  int
	entries  []*entry
	applying int  // Applys under way
	applies  int  // Applys begun
	drops    bool // a Discard may overlap any call

	inserts  int // insertions that were recorded
	inserted int // the results of Applys
	removed  int
	outside  int // removals by others that succeeded

	events []string // what went live and what went, in order
	want   []string // the right events; empty if several orders are right
}

// entry is what is known of one handle.
type entry struct {
	h         handle
	name      string
	stamp     uint64
	buffer    int
	state     state
	mayLive   bool // an Apply began that may insert it
	removals  int  // Removes of it that began
	tries     int  // removals by others that began
	mustGo    bool // its Remove was recorded after its Insert, and is not discarded
	discarded bool // it may have been discarded
}

// state is a value's state: it never moves back.
type state uint8

const (
	waits state = iota
	lives
	gone
)

func nameOf(stamp uint64) string { return string(rune('a' + stamp - 1)) }

func newWorld(r *interleave.Run) *world { return &world{r: r} }

// pool makes the run's pool and n buffers, and returns the actor that prepares it.
func (w *world) pool(o pool.Options[val], n int) *actor {
	o.Origin, o.Shards = 101, 1
	w.p = pool.Must(&o)
	for range n {
		w.buffers = append(w.buffers, New(w.p))
	}
	w.r.Check(w.check)
	w.r.Finally(w.finally)
	w.r.Describe(w.describe)
	return &actor{w, nil}
}

// describe names the words of this package in a printed interleaving.
func (w *world) describe(p unsafe.Pointer) (string, func(uint64) string) {
	for i, b := range w.buffers {
		switch p {
		case unsafe.Pointer(&b.mu):
			return fmt.Sprintf("buffer %d, mu", i), nil
		case unsafe.Pointer(&b.applying):
			return fmt.Sprintf("buffer %d, applying", i), nil
		}
	}
	return "", nil
}

func (w *world) thread(body func(a *actor)) {
	name := string(rune('A' + w.threads))
	w.threads++
	w.r.Go(name, 0, func(t *interleave.Thread) { body(&actor{w, t}) })
}

func (w *world) find(h handle) *entry {
	for _, e := range w.entries {
		if e.h == h {
			return e
		}
	}
	return nil
}

// check is called after every step. Only an Apply makes a value live, and only a removal
// ends it. No value comes back to life, and no value in a buffer is live.
func (w *world) check() error {
	for _, e := range w.entries {
		live := w.p.Contains(e.h)
		switch {
		case live && e.state == waits:
			if !e.mayLive {
				return fmt.Errorf("%s is live, and no Apply was begun", e.name)
			}
			e.state = lives
			w.events = append(w.events, "+"+e.name)
		case live && e.state == gone:
			return fmt.Errorf("%s is live again", e.name)
		case !live && e.state == lives:
			if e.removals+e.tries == 0 {
				return fmt.Errorf("%s went, and was not removed", e.name)
			}
			e.state = gone
			w.events = append(w.events, "-"+e.name)
		}
	}
	for i, b := range w.buffers {
		for _, r := range b.insertions {
			if w.p.Contains(r.Handle()) {
				return fmt.Errorf("%v is live and waits in buffer %d", r.Handle(), i)
			}
			r.Value() // panics unless it is open
		}
	}
	return nil
}

// finally applies the rest and compares the results of all calls with the state of the
// pool.
func (w *world) finally() error {
	if w.applying != 0 {
		return errors.New("an Apply has not ended")
	}
	w.last()
	if err := w.check(); err != nil {
		return err
	}
	live, dead, never := 0, 0, 0
	for _, e := range w.entries {
		switch {
		case e.state == waits && !e.discarded:
			return fmt.Errorf("%s never went live", e.name)
		case e.state == waits:
			never++
		case e.state == lives && e.mustGo:
			return fmt.Errorf("%s is live, and its removal was recorded", e.name)
		case e.state == lives:
			live++
		default:
			dead++
		}
	}
	if w.inserted+never != w.inserts {
		return fmt.Errorf("Applys inserted %d and %d were discarded, of %d", w.inserted, never, w.inserts)
	}
	if w.removed+w.outside != dead {
		return fmt.Errorf("Applys removed %d and others %d, of %d", w.removed, w.outside, dead)
	}
	if len(w.want) > 0 && !slices.Equal(w.events, w.want) {
		return fmt.Errorf("what happened is %v; want %v", w.events, w.want)
	}
	if err := w.p.Synchronize(context.Background()); err != nil {
		return err
	}
	st := w.p.Stats()
	if st.Live != live || st.Reserved != 0 || st.Limbo != 0 || st.Allocated != st.Live+st.Free+st.Exhausted || st.Dropped != 0 {
		return fmt.Errorf("%d are live, and the pool has %+v", live, st)
	}
	return nil
}

// last applies the rest, in one step, so that check sees no value go live and end at
// once.
func (w *world) last() {
	var all []int
	var waiting []*entry
	for i, b := range w.buffers {
		all = append(all, i)
		for _, r := range b.insertions {
			waiting = append(waiting, w.find(r.Handle()))
		}
	}
	(&actor{w, nil}).apply(all...)
	for _, e := range waiting {
		if e.state = lives; !w.p.Contains(e.h) {
			e.state = gone
		}
	}
}

// actor acts for one thread on the buffers and the pool and checks the results. With t
// nil it prepares the run, or ends it.
type actor struct {
	*world
	t *interleave.Thread
}

// insert records an insertion in buffer i; 0 means that the pool was full.
func (a *actor) insert(i int) handle {
	a.serial++
	stamp := a.serial
	a.t.Begin("Insert")
	// An Apply that begins from now on may insert it, before its handle is known here.
	e := &entry{name: nameOf(stamp), stamp: stamp, buffer: i, mayLive: a.applying > 0, discarded: a.drops}
	a.entries = append(a.entries, e)
	h, err := a.buffers[i].InsertFunc(func(h handle, v *val) {
		if v.stamp != 0 || v.keep != nil {
			a.r.Failf("the slot of %v holds %+v", h, *v)
		}
		*v = val{stamp, &anchor}
		e.h = h // not shared yet
	})
	a.t.End()
	if err != nil {
		a.t.Notef("%v", err)
		if !errors.Is(err, pool.ErrFull) {
			a.r.Failf("Insert: %v", err)
		}
		a.entries = slices.DeleteFunc(a.entries, func(o *entry) bool { return o == e })
		return 0
	}
	a.t.Notef("%s is %v", e.name, h)
	for _, o := range a.entries {
		if o != e && o.h == h {
			a.r.Failf("%v was issued twice", h)
		}
	}
	a.inserts++
	return h
}

// insertValue is insert by Insert, whose handle is not known before it returns.
func (a *actor) insertValue(i int) {
	a.serial++
	v := val{a.serial, &anchor}
	a.t.Begin("Insert")
	h, err := a.buffers[i].Insert(v)
	a.t.End()
	if err != nil {
		a.r.Failf("Insert: %v", err)
	}
	a.inserts++
	a.entries = append(a.entries, &entry{h: h, name: nameOf(v.stamp), stamp: v.stamp, buffer: i, mayLive: true})
}

// put inserts at once, by the pool.
func (a *actor) put() handle {
	a.serial++
	e := &entry{name: nameOf(a.serial), stamp: a.serial, state: lives}
	h, err := a.p.Insert(val{a.serial, &anchor})
	if err != nil {
		a.r.Failf("%v", err)
	}
	e.h = h
	a.entries = append(a.entries, e)
	a.inserts++
	a.inserted++ // by this thread alone
	return h
}

// remove records the removal of h in buffer i.
func (a *actor) remove(i int, h handle) {
	if h == 0 {
		return
	}
	e := a.find(h)
	e.removals++
	a.t.Begin("Remove")
	a.buffers[i].Remove(h)
	a.t.End()
	e.mustGo = !a.drops
}

// apply applies the buffers, in the order of is.
func (a *actor) apply(is ...int) {
	bs := make([]*Buffer[val], len(is))
	for k, i := range is {
		bs[k] = a.buffers[i]
	}
	for _, e := range a.entries {
		e.mayLive = true
	}
	a.applying++
	a.applies++
	a.t.Begin("Apply")
	inserted, removed := Apply(bs...)
	a.t.End()
	a.applying--
	a.t.Notef("+%d -%d", inserted, removed)
	a.inserted += inserted
	a.removed += removed
}

// discard discards buffer i. Commands that wait there at any time during the call may be
// discarded.
func (a *actor) discard(i int) {
	for _, e := range a.entries {
		e.discarded = e.discarded || e.buffer == i && e.state == waits
		e.mustGo = false
	}
	a.t.Begin("Discard")
	n := a.buffers[i].Discard()
	a.t.End()
	a.t.Notef("%d", n)
}

// removeNow removes by the pool, behind the buffers' backs.
func (a *actor) removeNow(h handle) {
	if h == 0 {
		return
	}
	a.find(h).tries++
	a.t.Begin("pool.Remove")
	ok := a.p.Remove(h)
	a.t.End()
	a.t.Notef("%v: %v", h, ok)
	if ok {
		a.outside++
	}
}

// loop loops over what is recorded in buffer i. An Apply takes the values away, which may be
// reused meanwhile.
func (a *actor) loop(i int) {
	a.t.Begin("Insertions, Removals")
	for h, v := range a.buffers[i].Insertions() {
		interleave.Unseen(func() {
			if v.stamp == 0 && a.applies == 0 {
				a.r.Failf("%v is shown without a value", h)
			}
		})
	}
	for h := range a.buffers[i].Removals() {
		if a.find(h) == nil {
			a.r.Failf("removal of %v", h)
		}
	}
	a.t.End()
}

// read pins a guard and looks up hs in order, twice. Values that it has seen must stay
// while the guard is pinned.
func (a *actor) read(hs ...handle) {
	a.t.Begin("read")
	g := a.p.Pin()
	seen := map[*val]uint64{}
	for range 2 {
		for _, h := range hs {
			v, ok := g.Get(h)
			if e := a.find(h); ok && v.stamp != e.stamp {
				a.r.Failf("%s has value %d; want %d", e.name, v.stamp, e.stamp)
			}
			if ok {
				seen[v] = v.stamp
			}
		}
	}
	interleave.Pause()
	for v, stamp := range seen {
		if v.stamp != stamp {
			a.r.Failf("value %d changed under a guard", stamp)
		}
	}
	g.Unpin()
	a.t.End()
}
