package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Ref keeps one value for long, as across blocking calls, and delays the reuse of its slot alone.
// Any number of Refs may hold one value. If the value is removed meanwhile, it stays readable.
//
// [Pool.Hold] returns a Ref; a zero Ref panics. It must not be copied. Any number of goroutines may
// call Pointer and Handle at once. One of them calls Release; after that none may use the value. If
// a Ref is dropped without Release, its slot is never reused.
type Ref[T any] struct {
	_ [0]*T
	hold
}

// hold is a Ref without its T.
type hold struct {
	mark mark  // noCopy
	core *core // nil after Release, and held is zero: a Ref keeps nothing then
	held shard.Hold
	h    uint64

	// state is open or traced until Release, which ends it by compare-and-swap: once.
	state atom.Uint32
}

// The states of a Ref. Those before Release are odd.
const (
	open    = 1
	traced  = 3 // and its tracer has a record
	settled = 2
)

// Hold returns a Ref to the value that h names, and reports whether h is live. It allocates the
// Ref, and costs three locked instructions. Without Preallocate, the first Hold in a page also
// allocates 4 bytes for each slot of the page.
func (p *Pool[T]) Hold(h Handle[T]) (*Ref[T], bool) {
	r := p.hold(uint64(h))
	return refOf[T](r), r != nil
}

func (c *core) hold(h uint64) *hold {
	c.pages()
	k, ok := c.arena.Hold(h)
	if !ok {
		if debugging {
			c.refused(h)
		}
		return nil
	}
	r := &hold{core: c, held: k, h: h}
	r.state.Store(open)
	if c.tracer.hold(r) {
		r.state.Store(traced)
	}
	if debugging {
		r.mark.watched(c.records.refs, "held", textOf(h))
	}
	return r
}

// Pointer returns a pointer to the value, valid until Release.
func (r *Ref[T]) Pointer() *T {
	if r.state.Load()&open == 0 {
		panic(releasedRef)
	}
	return slots.ValueOf[T](r.held.Slot())
}

// Handle returns the handle of the value, which is stale if the value was removed.
func (r *Ref[T]) Handle() Handle[T] {
	if r.state.Load() == 0 {
		panic(releasedRef)
	}
	return Handle[T](r.h)
}

// Release ends the hold, by three locked instructions. A second Release panics. If the value was
// removed, a later insertion, Synchronize or Trim reclaims its slot.
func (r *Ref[T]) Release() { r.release() }

func (r *hold) release() {
	if !r.state.CompareAndSwap(open, settled) {
		if !r.state.CompareAndSwap(traced, settled) {
			panic(releasedRef)
		}
		r.core.tracer.release(r)
	}
	if debugging {
		r.mark.closed(r.core.records.refs, "released")
	}
	c, k := r.core, r.held
	r.core, r.held = nil, shard.Hold{}
	c.arena.Drop(k)
}
