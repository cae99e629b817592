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

// thread is one client of a history. What it does depends on its seed and on what
// it reads from the board.
type thread struct {
	*rand.Rand
	verbs.Idle[Value]
	log
	subject Subject
	board   *board
	worker  *pool.Worker[Value] // nil if it acts through the subject
	cheap   *pool.Reserver[Value]
	values  uint64   // how many it has made
	own     []Handle // that it has inserted, the last ones
	open    *pool.Reservation[Value]
	hold    *verbs.Hold[Value]

	enough  func() bool // ends the run early; nil: never
	noLoops bool        // where a loop over all slots is too long
}

// remembered is how many of its own handles a thread remembers.
const remembered = 8

// table is what a thread may do, and duels what it does at a handle that it has just
// inserted, at the moment at which another comes. The first three end its life.
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
	case 1, 2, 3: // which may be where another waits
		t.at(duels[t.IntN(len(duels))], t.pick())
		return
	case 4: // which waits for company
		t.of("InsertFunc").Do()
		return
	}
	v := table.Draw(t.IntN, 0, 0)
	if v.Needs&verbs.Loops != 0 && (t.noLoops || !t.chance(3)) {
		return
	}
	t.do(v)
}

// do calls v, if there is all that it needs.
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
	case !needs(verbs.Number): // Each by one goroutine: of several each would have its own times
	case needs(verbs.Loops):
		c.N = t.IntN(2) * t.IntN(16)
	default:
		c.N = 1 + t.IntN(4)
	}
	c.Hold, c.Open = t.hold, t.open
	c.Do()
	t.hold, t.cheap = c.Hold, c.Reserver
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
	c := &call{Verb: v, Judge: t, Kind: kind, Pool: t.subject, Reserver: t.cheap, Fails: t.chance(4)}
	if v.Needs&verbs.Any != 0 && t.worker != nil {
		c.Via = t.worker
	}
	return c
}

func (t *thread) of(name string) *call { return t.call(table.Named(name)) }

// at calls the verb of this name at h.
func (t *thread) at(name string, h Handle) {
	c := t.of(name)
	c.Handles = []Handle{h}
	c.Do()
}

// settle ends the open Reservation, and letGo the guard or Ref, if there is one.
func (t *thread) settle() {
	if t.open != nil {
		t.do(table.Named([]string{"Commit", "Commit", "CommitHold", "Cancel"}[t.IntN(4)]))
	}
	if t.open != nil {
		t.do(table.Named("Commit"))
	}
}

func (t *thread) letGo() { t.do(table.Named("Unpin")) }

// run does n operations and leaves nothing open. A broken list leads out of the
// pages: that shall be a panic, whose history can be seen, and not the end.
func (t *thread) run(n int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for range n {
		if t.enough != nil && t.enough() {
			break
		}
		t.step()
		if t.chance(4) {
			runtime.Gosched()
		}
		// Not for long: in a small pool the others wait for what is held here.
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

// know makes h one of the handles that are tried. It need not be live.
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

// pick chooses a handle to try: one where somebody waits for company; otherwise
// mostly one of the board, or one of the thread's own; and now and then the next
// incarnation, which may go live any time, or a generation that never does.
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

// picks chooses up to n different handles.
func (t *thread) picks(n int) []Handle {
	var hs []Handle
	for range n {
		if h := t.pick(); !slices.Contains(hs, h) {
			hs = append(hs, h)
		}
	}
	return hs
}
