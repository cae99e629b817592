package linearize

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"

	"coatcheck/pool"
)

// thread is one client of a history. What it does depends on its seed and on what
// it reads from the board.
type thread struct {
	*rand.Rand
	log
	subject Subject
	board   *board
	worker  *pool.Worker[Value] // nil if it acts through the subject
	values  uint64              // how many it has made
	own     []Handle            // that it has inserted, the last ones
	open    *pool.Reservation[Value]
	hold    hold

	enough  func() bool // ends the run early; nil: never
	noLoops bool        // where a loop over all slots is too long
}

// remembered is how many of its own handles a thread remembers.
const remembered = 8

// operations are what a thread may do, and how often.
var operations = []struct {
	weight int
	do     func(*thread)
}{
	{10, func(t *thread) { t.insert() }},
	{12, (*thread).duel},
	{7, (*thread).insertFunc},
	{9, (*thread).reservation},
	{3, (*thread).insertBatch},
	{12, at((*thread).get)},
	{9, at((*thread).contains)},
	{4, at((*thread).view)},
	{7, (*thread).guard},
	{15, at((*thread).remove)},
	{8, at((*thread).take)},
	{4, (*thread).removeBatch},
	{2, (*thread).changeWorker},
	{4, (*thread).loop},
}

// at makes an operation of what is done at one handle.
func at(f func(*thread, Handle)) func(*thread) { return func(t *thread) { f(t, t.pick()) } }

var weights = func() (n int) {
	for _, o := range operations {
		n += o.weight
	}
	return n
}()

// run does n operations and leaves nothing open. A broken list leads out of the
// pages: that shall be a panic, whose history can be seen, and not the end.
func (t *thread) run(n int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for range n {
		if t.enough != nil && t.enough() {
			break
		}
		w := t.IntN(weights)
		for _, o := range operations {
			if w -= o.weight; w < 0 {
				o.do(t)
				break
			}
		}
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

// verbs returns through what the thread acts, and the prefix of its verbs' names.
func (t *thread) verbs() (verbs, string) {
	if t.worker != nil {
		return t.worker, "Worker."
	}
	return t.subject, ""
}

// value makes a value that no other insertion has.
func (t *thread) value() Value {
	t.values++
	return newValue(uint64(t.thread+1)<<32 | t.values)
}

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
next:
	for range n {
		h := t.pick()
		for _, o := range hs {
			if o == h {
				continue next
			}
		}
		hs = append(hs, h)
	}
	return hs
}
