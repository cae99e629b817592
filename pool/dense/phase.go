package dense

import "coatcheck/internal/atom"

// phase tells which calls a Store may get. In a phase any goroutine may call it, and nothing moves. In
// a Refresh everything moves, and no other call may run. While a Refresh calls a function of the
// user's, nothing moves, and calls may read.
//
// The user keeps calls and Refresh apart. A sync.RWMutex could do that, but then every Pointer would
// write a shared word. To detect an overlap costs no write. Each call loads the counter when it begins
// and again when it ends:
//
//	call     p = phase, odd     …works…     phase = p still
//	Refresh                phase = p+3   …moves…   phase = p+4
//
// Go's atomics are sequentially consistent. So a call that overlaps a move loads an even number at its
// beginning, or another number at its end. To check only at the beginning would be wrong: that misses a
// call that began before the Refresh, as most do if a program does not wait for its phase to end.
//
// The call learns only at its end that what it read was moving. So all that it reads must be safe to
// read meanwhile. It reaches slices through a pointer to a header that never changes (room), and checks
// every index against their length.
//
// It is a sequence lock without the retry: an overlapping Refresh is a bug, so the call panics and does
// not try again. Then values may be lost, dead or half written, but the Store never leaves its memory.
type phase struct {
	// word has, in its lowest two bits, which calls there may be: open, reading or closed. It is
	// 0 in a zero Store.
	//
	//	writers  open; begin, by compare-and-swap; let; end
	//	readers  every call
	//	moves    it grows: open → closed → open, and closed → reading → closed between them
	//	orders   end publishes what Refresh did to the calls of the next phase
	word atom.Uint64
}

const (
	reading = 1 // calls that change nothing
	closed  = 2 // no call
	open    = 3 // any call; like reading, it is odd

	states = 4
)

// open begins the first phase.
func (p *phase) open() { p.word.Store(open) }

// enter begins a call that only reads. It returns the word for leave.
func (p *phase) enter(op string) uint64 {
	w := p.word.Load()
	if w&1 == 0 {
		p.refuse(op)
	}
	return w
}

// enterChange begins a call that creates or kills. It returns the word for leave.
func (p *phase) enterChange(op string) uint64 {
	w := p.word.Load()
	if w%states != open {
		p.refuse(op)
	}
	return w
}

// leave ends a call. It panics if a Refresh began since w was loaded.
func (p *phase) leave(op string, w uint64) {
	if p.word.Load() != w {
		overlapped(op)
	}
}

// begin takes the Store for op alone.
func (p *phase) begin(op string) {
	w := p.word.Load()
	// Success proves that no other Refresh is under way; failure means that one is.
	if w%states != open || !p.word.CompareAndSwap(w, w+states-open+closed) {
		p.refuse(op)
	}
}

// end begins the next phase.
func (p *phase) end() { p.word.Add(open - closed) }

// let calls a function of the user's, and lets calls read the Store meanwhile. Before, and after f has
// returned, panicked or exited, the caller has the Store to itself.
func (p *phase) let(f func()) {
	p.word.Add(states - closed + reading)
	defer p.word.Add(closed - reading)
	f()
}

// alone lists the calls that use begin and end.
const alone = "Refresh, Clear, Clone, CreateAt, Grow, SortFunc, Trim, WriteTo or OnMove"

// refuse panics because a call came outside a phase. Neither it nor overlapped is inlined, or each
// look-up would make a frame for the text.
//
//go:noinline
func (p *phase) refuse(op string) {
	if p.word.Load() == 0 {
		panic("dense: use of a zero Store; make one with New or Must")
	}
	panic("dense: " + op + " during " + alone + ", each of which must have the Store to itself: " +
		"wait for all other calls first, and only read from functions that they call")
}

// overlapped panics because a Refresh began during a call.
//
//go:noinline
func overlapped(op string) {
	panic("dense: " + alone + " was called during " + op + ", and must have the Store to itself: " +
		"wait for all other calls first")
}
