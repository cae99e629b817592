package pool

import (
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"weak"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/pool/internal/trace"
	"coatcheck/shard/slots"
)

// A tracer records who pinned guards and who holds Refs, of one in so many, for a pool with
// Options.TraceGuards. Others have none, and pay nothing: a traced pin takes the slow half of
// epoch's Pin, where the hook is, and a traced Ref has another state, which Release finds after it
// has failed to find the usual one. A pin with its Unpin takes 20 ns instead of 7, and 3 µs more when recorded (AMD
// family 26, model 2; BenchmarkTraceGuards).
//
// Unpin tells nobody. The tracer asks the guard's cell instead, before it reports, and when it has
// recorded twice as many as were pinned when it asked last.
type tracer struct {
	period uint32
	*opened

	mu     atom.Mutex
	pinned []tracedGuard         // under mu
	held   map[*hold]*trace.Item // under mu: it keeps Refs that are dropped, whose slots are lost anyway
	limit  int                   // under mu: ask when so many are recorded
}

// tracedGuard is a guard that was recorded, and may be unpinned by now.
type tracedGuard struct {
	guard epoch.Guard
	item  *trace.Item
}

// askFrom is how many recorded guards a tracer does not ask about.
const askFrom = 64

// trace makes c's tracer, if its pool is to have one. c's domain must be new.
func (c *core) trace(period int) {
	if period == 0 {
		return
	}
	t := &tracer{period: uint32(period), opened: new(opened), held: map[*hold]*trace.Item{}, limit: askFrom}
	c.tracer = t
	clock(&c.domain).Trace(&epoch.Tracer{
		Pinned: func(g epoch.Guard) {
			if t.drawn() {
				t.pin(g)
			}
		},
		Wrapped: t.forget,
	})
	if !slots.Exploring {
		t.opened.watch(c)
	}
}

// drawn reports whether to record this one. A count would be a word that all pins write.
func (t *tracer) drawn() bool { return rand.Uint32N(t.period) == 0 }

func (t *tracer) pin(g epoch.Guard) {
	it := t.guards.Open("pinned", "")
	profile().Add(it, 1+trace.UserSkip()) // 0 begins in Add
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pinned = append(t.pinned, tracedGuard{g, it})
	if len(t.pinned) >= t.limit {
		t.ask()
		t.limit = max(askFrom, 2*len(t.pinned))
	}
}

// each records who calls Each, and returns the record, or nil if it was not drawn. Its goroutines pin
// untraced, since their stacks begin in package errgroup.
func (t *tracer) each() *trace.Item {
	if t == nil || !t.drawn() {
		return nil
	}
	it := t.guards.Open("pinned", "")
	profile().Add(it, 1+trace.UserSkip()) // 0 begins in Add
	return it
}

// closeEach ends the record of a call of Each.
func (t *tracer) closeEach(it *trace.Item) {
	t.guards.Close(it, "unpinned")
	profile().Remove(it)
}

// ask forgets the guards that are not pinned any more. The caller holds mu.
func (t *tracer) ask() { t.close(func(g epoch.Guard) bool { return !g.Pinned() }) }

// forget forgets the guards of a cell, where a new one has its first word again. A record that stayed
// would be another guard's.
func (t *tracer) forget(guard epoch.Guard) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.close(func(g epoch.Guard) bool { return g.Beside(guard) })
}

// close forgets the guards of which gone is true, which are not pinned any more. The caller holds mu.
func (t *tracer) close(gone func(epoch.Guard) bool) {
	t.pinned = slices.DeleteFunc(t.pinned, func(r tracedGuard) bool {
		if !gone(r.guard) {
			return false
		}
		t.guards.Close(r.item, "unpinned")
		profile().Remove(r.item)
		return true
	})
}

// refresh is ask, for whoever reports.
func (t *tracer) refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ask()
}

// hold records a Ref, and reports whether it was drawn.
func (t *tracer) hold(r *hold) bool {
	if t == nil || !t.drawn() {
		return false
	}
	it := t.refs.Open("held", textOf(r.h))
	profile().Add(it, 1+trace.UserSkip()) // 0 begins in Add
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held[r] = it
	return true
}

func (t *tracer) release(r *hold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	it := t.held[r]
	delete(t.held, r)
	t.refs.Close(it, "released")
	profile().Remove(it)
}

// tellGuards and tellRefs write lines with the calls that opened what is open and was drawn. With
// the build tag coatcheck_debug, the pool has records of all, and tells these.
func (t *tracer) tellGuards(b *strings.Builder) {
	if t != nil && !debugging {
		t.refresh()
		t.guards.WriteOpen(b, "\t")
	}
}

func (t *tracer) tellRefs(b *strings.Builder) {
	if t != nil && !debugging {
		t.refs.WriteOpen(b, "\t")
	}
}

// profile is that of all pools, which lasts as long as the program. It has the records of those
// guards and Refs that tracers know to be open.
var profile = sync.OnceValue(func() *pprof.Profile { return pprof.NewProfile(ProfileName) })

// ProfileName is the name of runtime/pprof's profile of open guards and Refs, which the first pool
// with Options.TraceGuards makes.
const ProfileName = "coatcheck/pool.guards"

// opened has the records of one pool. They do not refer to it, so that they can end after it.
type opened struct{ guards, refs trace.Set }

// watch brings the profile up to date after each cycle of the garbage collector: where the pool c
// is gone, what was open in it leaves the profile. What it calls does not refer to c.
func (o *opened) watch(c *core) {
	pool := weak.Make(c)
	eachCycle(func() bool {
		if c := pool.Value(); c != nil {
			c.tracer.refresh()
			return true
		}
		for _, set := range []*trace.Set{&o.guards, &o.refs} {
			for _, it := range set.Items() {
				profile().Remove(it)
			}
		}
		return false
	})
}
