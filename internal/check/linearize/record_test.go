package linearize

import (
	"fmt"
	"sync"

	"go.uber.org/atomic"

	"coatcheck/internal/check/storm"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Values have 8 KiB, so that copying them takes time and a page has 32 slots.
type (
	value   = storm.Bulky
	handle  = pool.Handle[value]
	call    = verbs.Call[value]
	actor   = storm.Actor[value]
	subject = verbs.Subject[value]
)

// effect is what an operation says about one handle, whatever its verb.
type effect uint8

// The effects, in the order of a life.
const (
	reserve effect = iota // an unborn handle was shown
	insert                // an unborn handle went live, with value
	commit                // a reserved handle went live, with value
	cancel                // a reserved handle will never go live
	look                  // ok: it is live
	read                  // as look, with value
	remove                // ok: this call removed it
	take                  // as remove, with value
	sweep                 // this call removed it if it was live
)

// record is one operation on one handle.
type record struct {
	thread    int
	verb      string // the name of the call
	effect    effect
	handle    handle
	value     uint64
	ok        bool
	call, ret int64
}

func (r *record) String() string {
	effects := [...]string{"reserve", "insert", "commit", "cancel", "look", "read", "remove", "take", "sweep"}
	return fmt.Sprintf("%6d %6d %6d  %s: %v %s %d %v", r.call, r.ret, r.thread, r.verb, r.handle, effects[r.effect], r.value, r.ok)
}

// span is one call that says something about every handle that it did not meet.
type span struct {
	record // look: the others were not live at some moment; sweep: and not after it
	met    map[handle]bool
}

// history is what the actors of a storm have recorded, and what they share.
type history struct {
	clock   *atomic.Int64                       // each reading is greater than those before it
	waiting atomic.Pointer[storm.Ticket[value]] // of a value at which an actor waits for another
	shown   *atomic.Uint64                      // the last handle that was shown, which may not be live yet

	mu      sync.Mutex
	logs    []*log
	records []record // of all, when they have ended
}

// log is what one actor has recorded.
type log struct {
	records []record
	spans   []span
}

func newHistory() *history {
	return &history{clock: atomic.NewInt64(0), shown: atomic.NewUint64(0)}
}

// recorder records the results of an actor's calls, and passes them on to the actor, which
// judges them as in any storm.
type recorder struct {
	*actor
	*history
	*log
	pool  subject
	times map[*call]*times
	open  int // calls under way
}

// times are those of a call. A reading of the clock is a locked instruction: a thread that reads
// a later time sees all stores before this one, so an operation takes effect before it returns.
type times struct {
	begin int64
	call  int64 // when the part of it began that is recorded now
	ret   int64 // 0: it has not returned
	first int   // index of its first record
}

func (h *history) recorder(w *storm.World[value]) func(a *actor) verbs.Judge[value] {
	return func(a *actor) verbs.Judge[value] {
		l := new(log)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.logs = append(h.logs, l)
		return &recorder{actor: a, history: h, log: l, pool: w.Pool, times: map[*call]*times{}}
	}
}

// moment is how often a thread looks while it waits at a handle. It takes about ten
// microseconds, in which another thread does a few operations. The waiter does not yield, since
// the two threads would not continue at the same moment then.
const moment = 20_000

// step does one of the storm's steps. In every second one two actors remove a value, or one looks
// at it, at the same moment: operations take a fraction of a microsecond, and by chance alone two
// would hardly ever use one live handle at once.
func (h *history) step(a *actor) {
	if a.Chance(2) {
		a.Step()
		return
	}
	if t := h.waiting.Swap(nil); t != nil {
		if a.Chance(2) {
			a.Remove(t)
		} else {
			a.Look(t)
		}
		return
	}
	t := a.Insert()
	if t == nil {
		return
	}
	h.waiting.Store(t)
	for range moment {
		if h.waiting.Load() != t {
			break
		}
	}
	h.waiting.CompareAndSwap(t, nil)
	a.Remove(t)
}

// say records an effect of c on a handle: now, or when c returned.
func (r *recorder) say(c *call, e effect, h handle, v uint64, ok bool) {
	t := r.times[c]
	ret := t.ret
	if ret == 0 {
		ret = r.clock.Inc()
	}
	r.log.records = append(r.log.records, record{r.ID, c.String(), e, h, v, ok, t.call, ret})
}

// peek looks at a handle that the thread should not know: of a constructor or Reservation of
// another, or of the next life of its slot.
func (r *recorder) peek() {
	h := handle(r.shown.Load())
	if r.Chance(2) {
		h += 2 << 32
	}
	at := r.clock.Inc()
	ok := r.pool.Contains(h)
	r.log.records = append(r.log.records, record{r.ID, "Contains", look, h, 0, ok, at, r.clock.Inc()})
}

func (r *recorder) Begin(c *call) {
	r.actor.Begin(c)
	switch {
	case c.Name == "Each":
		c.N = 1 // several goroutines would need times of their own
	case r.Chance(4):
		r.peek()
	}
	if r.open == 0 {
		clear(r.times) // they keep a Reservation that was dropped from the collector
	}
	r.open++
	now := r.clock.Inc()
	r.times[c] = &times{begin: now, call: now, first: len(r.log.records)}
}

func (r *recorder) Returned(c *call) {
	r.times[c].ret = r.clock.Inc()
	r.open--
}

func (r *recorder) Inside(c *call, h handle) {
	r.actor.Inside(c, h)
	r.times[c].call = r.clock.Inc()
}

func (r *recorder) Shown(c *call, h handle, v *value) {
	r.say(c, reserve, h, 0, true)
	r.actor.Shown(c, h, v)
	r.shown.Store(uint64(h))
}

func (r *recorder) Inserted(c *call, h handle, v uint64) {
	e := insert
	if c.Known {
		e = commit
	}
	r.say(c, e, h, v, true)
	r.actor.Inserted(c, h, v)
}

func (r *recorder) GivenUp(c *call, h handle) {
	r.say(c, cancel, h, 0, true)
	r.actor.GivenUp(c, h)
}

func (r *recorder) Asked(c *call, h handle, ok bool) {
	r.say(c, look, h, 0, ok)
	r.actor.Asked(c, h, ok)
}

func (r *recorder) Looked(c *call, h handle, v *value) {
	number := uint64(0)
	if v != nil {
		number = storm.Bulkies.Number(v)
	}
	r.say(c, read, h, number, v != nil)
	r.actor.Looked(c, h, v)
}

func (r *recorder) Removed(c *call, h handle, v *value, ok bool) {
	if v == nil {
		r.say(c, remove, h, 0, ok)
	} else {
		r.say(c, take, h, storm.Bulkies.Number(v), ok)
	}
	r.actor.Removed(c, h, v, ok)
}

// Condemned records a sweep, since another thread may remove the value first. Counted sets when
// it returned.
func (r *recorder) Condemned(c *call, h handle, v *value) bool {
	goes := r.actor.Condemned(c, h, v)
	if goes {
		r.log.records = append(r.log.records, record{r.ID, c.Name, sweep, h, 0, true, r.times[c].call, 0})
	}
	return goes
}

// Counted records the removals of a batch, which has one handle twice, or of a sweep.
func (r *recorder) Counted(c *call, n int) {
	t := r.times[c]
	switch c.Name {
	case "Clear":
		r.span(c, sweep, nil)
	case "DeleteFunc":
		for i := range r.log.records[t.first:] {
			if o := &r.log.records[t.first+i]; o.ret == 0 {
				o.ret = t.ret
			}
		}
	default:
		r.say(c, remove, c.Handles[0], 0, n > 0)
	}
	r.actor.Counted(c, n)
}

// Ranged records that the handles that a loop did not yield were not live at some moment.
func (r *recorder) Ranged(c *call, met map[handle]bool) { r.span(c, look, met) }

func (r *recorder) span(c *call, e effect, met map[handle]bool) {
	t := r.times[c]
	r.spans = append(r.spans, span{record{thread: r.ID, verb: c.Name, effect: e, call: t.begin, ret: t.ret}, met})
}
