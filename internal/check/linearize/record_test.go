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

// record is one operation on one handle.
type record struct {
	thread int
	verb   string // the name of the call
	handle handle
	verbs.Report
	call, ret int64
}

func (r *record) String() string {
	return fmt.Sprintf("%6d %6d %6d  %s: %v %v", r.call, r.ret, r.thread, r.verb, r.handle, r.Report)
}

// span is one call that says the same of every handle that it did not meet: Look, that they were
// not live at some moment, or Sweep, that they are not live after it either.
type span struct {
	record
	met map[handle]bool
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

// peek looks at a handle that the thread should not know: of a constructor or Reservation of
// another, or of the next life of its slot.
func (r *recorder) peek() {
	h := handle(r.shown.Load())
	if r.Chance(2) {
		h += 2 << 32
	}
	at := r.clock.Inc()
	ok := r.pool.Contains(h)
	r.log.records = append(r.log.records, record{r.ID, "Contains", h, verbs.Report{Effect: verbs.Look, OK: ok}, at, r.clock.Inc()})
}

func (r *recorder) Begin(c *call) {
	r.actor.Begin(c)
	switch {
	case c.Needs&verbs.Spreads != 0:
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

// Returned sets when what the call does last had an effect.
func (r *recorder) Returned(c *call) {
	t := r.times[c]
	t.ret = r.clock.Inc()
	for i := range r.log.records[t.first:] {
		if o := &r.log.records[t.first+i]; o.ret == 0 {
			o.ret = t.ret
		}
	}
	r.open--
}

func (r *recorder) Inside(c *call, h handle) {
	r.actor.Inside(c, h)
	r.times[c].call = r.clock.Inc()
}

// Reported records a result that was had now, or when c returned. A value that is to be swept is
// removed later, and perhaps by another thread.
func (r *recorder) Reported(c *call, h handle, what verbs.Report) {
	t := r.times[c]
	ret := t.ret
	if ret == 0 && what.Effect != verbs.Sweep {
		ret = r.clock.Inc()
	}
	r.log.records = append(r.log.records, record{r.ID, c.String(), h, what, t.call, ret})
	r.actor.Reported(c, h, what)
	if what.Effect == verbs.Reserve {
		r.shown.Store(uint64(h))
	}
}

// Others records what is said of the handles that the call did not meet.
func (r *recorder) Others(c *call, met map[handle]bool, what verbs.Report) {
	t := r.times[c]
	r.spans = append(r.spans, span{record{thread: r.ID, verb: c.Name, Report: what, call: t.begin, ret: t.ret}, met})
}
