package dense

import "coatcheck/internal/atom"

// phase tells whether a Store is in a phase, in which any goroutine may call it and
// nothing moves, or in a Refresh, which moves everything.
//
// The user keeps calls and Refresh apart. A sync.RWMutex could do it here, but then every
// Get would write a shared word. To detect an overlap costs no write. Each call loads the
// counter when it begins and again when it ends:
//
//	call     p = phase, odd     …works…     phase = p still
//	Refresh                phase = p+1   …moves…   phase = p+2
//
// Go's atomics are sequentially consistent. So a call that overlaps a Refresh, in either
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
type phase struct {
	// word is odd during a phase and even during Refresh; 0 in a zero Store.
	//
	//	writers  begin, by compare-and-swap; end
	//	readers  every call
	//	moves    +1 at each begin and end
	//	orders   end publishes what Refresh did to the calls of the next phase
	word atom.Uint64
}

// open begins the first phase.
func (p *phase) open() { p.word.Store(1) }

// enter begins a call and returns the word that leave takes.
func (p *phase) enter(op string) uint64 {
	w := p.word.Load()
	if w&1 == 0 {
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
	if w&1 == 0 || !p.word.CompareAndSwap(w, w+1) {
		p.refuse(op)
	}
}

// end begins the next phase.
func (p *phase) end() { p.word.Add(1) }

// alone lists the calls that use begin and end.
const alone = "Refresh, Clear, Reserve or WriteTo"

// refuse panics for a call outside a phase.
func (p *phase) refuse(op string) {
	if p.word.Load() == 0 {
		panic("dense: use of a zero Store; make one with New or Must")
	}
	panic("dense: " + op + " during " + alone + ", each of which must have the Store to itself: " +
		"wait for all other calls first, and call nothing from OnDestroy")
}

// overlapped panics for a call during which a Refresh began.
func overlapped(op string) {
	panic("dense: " + alone + " was called during " + op + ", and must have the Store to itself: " +
		"wait for all other calls first")
}
