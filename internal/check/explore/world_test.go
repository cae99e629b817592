//go:build interleave

package explore_test

import (
	"context"
	"errors"
	"slices"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// val is the value of the explored pools. Each value has a stamp of its own. The pointer makes
// the pool zero what it reclaims.
type val struct {
	stamp uint64
	keep  *int
}

var anchor int

// released is a guard that has ended, and was pinned at from at the earliest. Until its thread's
// buffer is empty others may see it pinned, and what is removed meanwhile waits.
type released struct {
	by   *interleave.Thread
	from uint64
}

// world is one run: a pool, what its threads know of it, and what the judges compare.
type world struct {
	r *interleave.Run
	p *Pool[val]

	serial    uint64
	entries   []*life       // handles that were issued
	shown     []Handle[val] // handles that were shown to constructors, and with Reservations
	burned    []Handle[val] // those of them that must never be live
	guessed   []Handle[val] // handles that a thread removes although it never got them
	watched   []*reader
	released  []released // guards that others may still see
	late      []uint32   // slots that Holds kept which came too late, until they are put away
	workers   []*keeper
	reserved  []*Reservation[val]
	taken     []uint64 // stamps that Take moved out
	resets    []uint64 // stamps that Reset was shown
	cancelled int      // cancelled Reservations whose slots Reset has not seen yet
	gone      int      // removals that succeeded
	vague     bool     // others may have, whose results were lost in a panic or Goexit
	clock     uint64
	clearing  int // sweeping removals that are under way

	frames []*frame // operations under way; those of a callback follow its caller

	alone  bool // there is one thread
	roomy  bool // there is a slot for each insertion, whatever the schedule
	finish func() error

	generation [maxSlots]uint32 // the greatest that was seen of each slot
	line       [maxSlots]uint32 // of a restored pool: the last that its original may have issued since, of each slot
	place      [maxSlots]uint8  // of each slot, as locate found it
	why        [maxSlots]uint8  // of each slot, an insertion cannot have it at the moment
	wrong      error            // the first slot that locate found where it must not be
	lists      []uint32         // the slots that each shard may hand out, in order, after a None
	turn       [maxSlots]uint32 // of each slot in a queue: when it came there, or unused
	turns      uint32
	epoch      uint64
	shards     int
	most       int // cells of the longest row, if rows grow

	heard map[Handle[val]]*heard // what the events told; nil if there are none

	names names
}

// maxSlots is the most slots that a program may touch.
const maxSlots = 256

// life is what is known of one handle.
type life struct {
	h       Handle[val]
	stamp   uint64
	begun   bool   // an operation that may remove it has begun
	tries   int    // removals of it that have begun; a sweep counts as two
	removed bool   // a removal of it has returned
	gone    uint64 // the time of that return, if it is known

	unlinked bool // by an operation that has not returned
}

// keeper is an open Worker. While an operation of its is under way, its slots may be in
// transit; while it gives slots back, its lists may be inconsistent.
type keeper struct {
	w       *Worker[val]
	busy    int // operations under way
	closing bool
}

// reader is a guard or a Ref, with the values that it has seen.
type reader struct {
	*verbs.Hold[val]
	from  uint64 // the time at which its pin began
	loops int    // that run under it
}

// apart is the offset of slots that begin apart: the first one begins at 101.
const apart = 100

// pool makes the run's pool, and returns the actor that prepares it.
func (w *world) pool(sizes slots.PageSizes, o Options[val]) *actor {
	CopyWithoutPin(false) // unless a scenario says so afterwards
	var p *Pool[val]
	var err error
	if o.Origin == 0 {
		p, err = NewApart(&o, sizes, apart)
	} else {
		p, err = NewSized(&o, sizes)
	}
	if err != nil {
		panic(err)
	}
	w.p = p
	if w.most > 0 {
		Domain(p).SetMost(w.most)
	} else {
		g := Domain(p).Pin() // or each scenario's first Pin would make a row
		g.Unpin()
	}
	w.r.Check(w.check)
	w.r.Finally(w.finally)
	w.names.p = p
	w.r.Key(w.names.key)
	w.r.Describe(w.names.name)
	return &actor{w, nil, nil}
}

// thread adds a thread that uses shard s, of those that the pool has, and whose home is cell s, of
// those that a row has.
func (w *world) thread(s int, body func(a *actor)) {
	name := string(rune('A' + len(w.names.threads)))
	w.names.threads = append(w.names.threads, name)
	w.r.Go(name, Arena(w.p).HintOf(s), func(t *interleave.Thread) {
		a := &actor{w, t, nil}
		defer a.exits(name)
		body(a)
	})
}

// worker opens a Worker.
func (a *actor) worker() *actor {
	c := a.call("Open", nil)
	c.Do()
	k := &keeper{w: c.Opened}
	a.workers = append(a.workers, k)
	return &actor{a.world, a.t, k}
}

// by returns the actor of the same Worker on a's thread, and a if that Worker is closed.
func (a *actor) by(worker *actor) *actor {
	if worker == nil || IsClosed(worker.k.w) || !slices.Contains(a.workers, worker.k) {
		return a
	}
	return &actor{a.world, a.t, worker.k}
}

// giveBack calls f, which gives back slots of the actor's Worker, if it has one.
func (a *actor) giveBack(f func()) {
	if a.k == nil {
		return
	}
	was := a.k.closing
	a.k.closing = true
	defer func() { a.k.closing = was }()
	f()
}

// drop does once what the garbage collector does to an unreachable Worker. A Worker whose
// operation is under way is reachable, also where a Reset drops it.
func (a *actor) drop() {
	if a.k == nil || a.k.busy > 0 || !slices.Contains(a.workers, a.k) {
		return
	}
	a.giveBack(func() { a.do("finalizer", func() { DropWorker(a.k.w) }) })
	a.workers = slices.DeleteFunc(a.workers, func(k *keeper) bool { return k == a.k })
}

// find returns what is known of h, or nil.
func (w *world) find(h Handle[val]) *life {
	for _, e := range w.entries {
		if e.h == h {
			return e
		}
	}
	return nil
}

// life returns the state of h after all effects that were reported.
func (w *world) life(h Handle[val]) verbs.Life {
	switch e := w.find(h); {
	case e != nil && !e.removed:
		return verbs.Live(e.stamp)
	case e != nil || slices.Contains(w.burned, h):
		return verbs.Dead
	case slices.Contains(w.shown, h):
		return verbs.Reserved
	}
	return verbs.Unborn
}

// issued notes a new handle.
func (w *world) issued(h Handle[val], stamp uint64) {
	e := &life{h: h, stamp: stamp, begun: w.clearing > 0 || slices.Contains(w.guessed, h)}
	if e.begun {
		e.tries = 2
	}
	w.entries = append(w.entries, e)
}

// patience is a context that lets other threads run at each call of Err, and is done after a
// few calls. If all other threads have ended, the call that has it must return after a few more,
// and one for each slot that it may reclaim, of values and of Reservations.
type patience struct {
	context.Context
	w     *world
	turns int
	alone int
	gives bool // it is done once all other threads have ended: the call may wait for what nobody gives
}

// patient returns one that is done after so many calls of Err.
func (w *world) patient(turns int) context.Context {
	return &patience{Context: context.Background(), w: w, turns: turns, alone: 3 + len(w.entries) + int(Arena(w.p).Table.Pages().Limit)}
}

// brief returns a context for a call that waits for a slot which may never come.
func (w *world) brief() context.Context {
	return &patience{Context: context.Background(), w: w, turns: 3, gives: true}
}

var errImpatient = errors.New("no patience left")

func (c *patience) Err() error {
	switch alone := interleave.Alone(); {
	case alone && c.gives:
		return errImpatient
	case alone && !c.w.pinned():
		if c.alone--; c.alone < 0 {
			c.w.r.Failf("nothing is pinned, and a call that waits does not end")
			return errImpatient
		}
		return nil
	}
	if c.turns--; c.turns < 0 {
		return errImpatient
	}
	interleave.LetOthers()
	return nil
}

// pinned reports whether any guard is pinned, or a callback runs.
func (w *world) pinned() bool {
	return slices.ContainsFunc(w.watched, func(rd *reader) bool { return rd.Ref == nil }) ||
		slices.ContainsFunc(w.frames, func(f *frame) bool { return f.pins })
}
