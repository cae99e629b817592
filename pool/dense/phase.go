package dense

import "coatcheck/internal/atom"

// phase tells whether a Store is in a phase, in which any goroutine may call it and
// nothing moves, or in the hands of Refresh, which moves everything.
//
// Keeping calls and Refresh apart is the user's: a readers' and writer's lock would
// do it here and make every Get write a shared word. What costs nothing is to notice
// when it went wrong. Each call loads the counter when it begins and again when it
// ends:
//
//	call     p = phase, odd     …works…     phase = p still
//	Refresh                phase = p+1   …moves…   phase = p+2
//
// Go's atomics are sequentially consistent, so a call that overlaps a Refresh
// anywhere, in either order, meets an even number at its beginning or another one at
// its end. The wrong version checks at the beginning alone: it misses the call that
// was there first, which is how phases that were not waited for look.
//
// The call finds out at its end that it has looked at what was moving. So what it
// looks at must be safe to look at then: slices are reached through a pointer to a
// header that is never changed (room), and every index is checked against it.
//
// It is a sequence lock without the retry: a Refresh in the way is a bug, and not
// waited for.
type phase struct {
	// word is odd during a phase and even during Refresh; 0 in a zero Store.
	//
	//	writers  begin, by compare-and-swap; end
	//	readers  every call
	//	moves    +1 at each begin and end
	//	orders   end publishes what Refresh did to the calls of the next phase
	word atom.Uint64
}

// open starts the first phase.
func (p *phase) open() { p.word.Store(1) }

// enter begins a call. What it returns goes to leave.
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
	// Success proves that no other Refresh is under way. Failure means that one
	// is.
	if w&1 == 0 || !p.word.CompareAndSwap(w, w+1) {
		p.refuse(op)
	}
}

// end begins the next phase.
func (p *phase) end() { p.word.Add(1) }

// alone are the calls that begin and end.
const alone = "Refresh, Clear, Reserve, Trim or WriteTo"

// refuse panics for a call that finds no phase.
func (p *phase) refuse(op string) {
	if p.word.Load() == 0 {
		panic("dense: use of a zero Store; make one with New or Must")
	}
	panic("dense: " + op + " during " + alone + ", each of which must have the Store to itself: " +
		"wait for all other calls first, and call nothing from OnDestroy")
}

// overlapped panics for a call that a Refresh overtook.
func overlapped(op string) {
	panic("dense: " + alone + " was called during " + op + ", and must have the Store to itself: " +
		"wait for all other calls first")
}
