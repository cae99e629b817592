package dense

import "coatcheck/internal/atom"

// phase tells whether a Store is in a phase, in which any goroutine may call it and
// nothing moves, or in a Refresh, which moves everything. While a Refresh calls one of the user's
// functions nothing moves either, and calls that only read are welcome.
//
// The user keeps calls and Refresh apart. A sync.RWMutex could do it here, but then every
// Pointer would write a shared word. To detect an overlap costs no write. Each call loads the
// counter when it begins and again when it ends:
//
//	call     p = phase, odd     …works…     phase = p still
//	Refresh                phase = p+3   …moves…   phase = p+4
//
// Go's atomics are sequentially consistent. So a call that overlaps what moves, in either
// order, loads an even number at its beginning or a different one at its end. Checking at
// the beginning alone would be wrong. It misses a call that began before the Refresh, the
// usual case when a program does not wait for its phase to end.
//
// The call learns only at its end that what it read was moving. So everything it reads
// must be safe to read then: slices are reached through a pointer to a header that is
// never changed (room), and every index is checked against it.
//
// It is a sequence lock without the retry: an overlapping Refresh is a bug, so the call
// does not wait for it.
//
// After such a call values may be lost, dead or half written, but the Store's own bookkeeping stays
// within its memory.
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

// enter begins a call that changes nothing, and returns the word that leave takes.
func (p *phase) enter(op string) uint64 {
	w := p.word.Load()
	if w&1 == 0 {
		p.refuse(op)
	}
	return w
}

// enterChange is enter for a call that changes something.
func (p *phase) enterChange(op string) uint64 {
	w := p.word.Load()
	if w%states != open {
		p.refuse(op)
	}
	return w
}

// leave ends a call.
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

// let calls a function of the user's, which may read the Store. The caller has the Store to
// itself, and does again when f returns, panics or exits.
func (p *phase) let(f func()) {
	p.word.Add(states - closed + reading)
	defer p.word.Add(closed - reading)
	f()
}

// alone lists the calls that use begin and end.
const alone = "Refresh, Clear, Clone, CreateAt, Grow, SortFunc, Trim, WriteTo or OnMove"

// refuse panics for a call outside a phase. Like overlapped it is not inlined, so that a look-up does
// not make a frame for the text.
//
//go:noinline
func (p *phase) refuse(op string) {
	if p.word.Load() == 0 {
		panic("dense: use of a zero Store; make one with New or Must")
	}
	panic("dense: " + op + " during " + alone + ", each of which must have the Store to itself: " +
		"wait for all other calls first, and only read from functions that they call")
}

// overlapped panics for a call during which a Refresh began.
//
//go:noinline
func overlapped(op string) {
	panic("dense: " + alone + " was called during " + op + ", and must have the Store to itself: " +
		"wait for all other calls first")
}
