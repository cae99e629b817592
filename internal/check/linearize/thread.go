package linearize

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// thread is one client of a history. Its operations depend on its seed and on the board.
type thread struct {
	*rand.Rand
	verbs.Idle[Value]
	log
	subject Subject
	board   *board
	worker  *pool.Worker[Value] // nil if it calls the subject
	values  uint64              // number of values that it has made
	own     []Handle            // the last handles that were shown to it
	open    *pool.Reservation[Value]
	hold    *verbs.Hold[Value]
}

// remembered is the length of thread.own.
const remembered = 8

// table has all operations. duels are those that two threads call at one handle at the same
// moment, the first three of which remove it.
var (
	table = verbs.Table[Value]()
	duels = []string{"Remove", "Remove", "Take", "Get", "Get", "Contains", "View"}
)

// step does one operation.
func (t *thread) step() {
	switch t.IntN(9) {
	case 0:
		c := t.of("Insert")
		c.Do()
		if h := courseOf(c).last; h != 0 {
			t.board.await(h)
			t.at(duels[t.IntN(len(duels))], h)
		}
		return
	case 1, 2, 3: // pick may return a handle at which another thread waits
		t.at(duels[t.IntN(len(duels))], t.pick())
		return
	case 4: // its constructor waits for another thread
		t.of("InsertFunc").Do()
		return
	}
	v := table.Draw(t.IntN, 0, 0)
	if v.Needs&verbs.Loops != 0 && !t.chance(3) {
		return
	}
	t.do(v)
}

// do calls v, if the thread has what it needs.
func (t *thread) do(v *verbs.Verb[Value]) {
	needs := func(n verbs.Needs) bool { return v.Needs&n != 0 }
	if needs(verbs.Guard) && t.hold == nil {
		t.do(table.Named("Pin"))
	}
	switch {
	case needs(verbs.Context), v.Name == "Open", needs(verbs.Worker) && t.worker == nil,
		needs(verbs.Pins) && t.hold != nil, needs(verbs.Either) && t.hold == nil, needs(verbs.Guard) && t.hold.Ref != nil,
		needs(verbs.Reservation) && t.open == nil, strings.HasPrefix(v.Name, "Reserve") && t.open != nil:
		return
	}
	c := t.call(v)
	switch {
	case needs(verbs.Handle):
		c.Handles = []Handle{t.pick()}
	case needs(verbs.Handles):
		c.Handles = t.picks(1 + t.IntN(4))
	}
	switch {
	case !needs(verbs.Number): // one goroutine for Each: several would need times of their own
	case needs(verbs.Loops):
		c.N = t.IntN(2) * t.IntN(16)
	default:
		c.N = 1 + t.IntN(4)
	}
	c.Hold, c.Open = t.hold, t.open
	c.Do()
	t.hold = c.Hold
	switch {
	case needs(verbs.Reservation):
		t.open = nil
	case needs(verbs.Inserts):
		t.open = c.Open
	case needs(verbs.Either):
		t.hold = nil
	case v.Name == "Close":
		open := t.of("Open")
		open.Do()
		t.worker = open.Opened
	}
}

// call returns a call of v.
func (t *thread) call(v *verbs.Verb[Value]) *call {
	c := &call{Verb: v, Judge: t, Kind: kind, Pool: t.subject, Fails: t.chance(4)}
	if v.Needs&verbs.Any != 0 && t.worker != nil {
		c.Via = t.worker
	}
	return c
}

func (t *thread) of(name string) *call { return t.call(table.Named(name)) }

// at calls the verb with this name on h.
func (t *thread) at(name string, h Handle) {
	c := t.of(name)
	c.Handles = []Handle{h}
	c.Do()
}

// settle ends the open Reservation, if there is one. letGo ends the guard or Ref.
func (t *thread) settle() {
	if t.open != nil {
		t.do(table.Named([]string{"Commit", "Commit", "CommitHold", "Cancel"}[t.IntN(4)]))
	}
	if t.open != nil {
		t.do(table.Named("Commit"))
	}
}

func (t *thread) letGo() { t.do(table.Named("Unpin")) }

// run does n operations and then ends what is open. A broken freelist leads outside of the
// pages: that must be a panic, after which the history can be judged.
func (t *thread) run(n int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for range n {
		t.step()
		if t.chance(4) {
			runtime.Gosched()
		}
		// Soon, since in a small pool other threads need the slots.
		if t.chance(3) {
			t.letGo()
		}
		if t.chance(4) {
			t.settle()
		}
	}
	t.settle()
	t.letGo()
	if t.worker != nil {
		t.worker.Close()
	}
}

func (t *thread) chance(n int) bool { return t.IntN(n) == 0 }

// know adds h to the handles that threads use. It need not be live.
func (t *thread) know(h Handle) {
	if len(t.own) < remembered {
		t.own = append(t.own, h)
	} else {
		t.own[t.IntN(remembered)] = h
	}
	if t.chance(2) {
		t.board.show(t.Rand, h)
	}
}

// pick returns a handle: one at which another thread waits, if there is one; otherwise one
// from the board or of the thread itself. At times it returns the next incarnation, which
// may go live at any time, or a generation that never does.
func (t *thread) pick() Handle {
	if h := t.board.join(); h != 0 {
		return h
	}
	h := t.board.look(t.Rand)
	if len(t.own) > 0 && t.chance(3) {
		h = t.own[t.IntN(len(t.own))]
	}
	switch t.IntN(24) {
	case 0, 1, 2:
		return h + 2<<32
	case 3:
		return h + 1<<32
	}
	return h
}

// picks returns up to n different handles.
func (t *thread) picks(n int) []Handle {
	var hs []Handle
	for range n {
		if h := t.pick(); !slices.Contains(hs, h) {
			hs = append(hs, h)
		}
	}
	return hs
}
