package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Ref keeps one value for a long time, such as across blocking calls. It prevents the reuse
// of its own slot and of no other, whereas a [Guard] delays every slot that is removed after
// its Pin. Any number of Refs may hold one value.
//
// The value may be removed meanwhile. It then stays readable, and its slot waits for Release
// and counts under Stats.Limbo.
//
// [Pool.Hold] returns a Ref; a zero Ref panics. It must not be copied. Any number of
// goroutines may call Value and Handle at once. One of them calls Release; from then on none
// may use the value. The slot of a Ref that is dropped without Release is never reused, and
// Stats.Held goes on counting the Ref.
type Ref[T any] struct {
	mark mark     // noCopy
	pool *Pool[T] // nil after Release, and held is zero: a Ref keeps nothing then
	held shard.Held[T]
	h    Handle[T]

	// state is open until Release, which ends it by compare-and-swap: once.
	state atom.Uint32
}

const (
	open    = 1
	settled = 2
)

// Hold returns a Ref to the value that h names, and reports whether h is live.
//
// It allocates the Ref, and costs three locked instructions. Without Preallocate, the first
// Hold in a page also allocates 4 bytes for each slot of the page, at most 32 KiB. For
// look-ups between which nothing blocks, [Pool.Pin] is cheaper.
func (p *Pool[T]) Hold(h Handle[T]) (*Ref[T], bool) {
	p.pages()
	k, ok := p.arena.Hold(uint64(h))
	if !ok {
		return nil, false
	}
	return p.ref(k, h), true
}

// Value returns a pointer to the value. It is valid until Release, even if the value is
// removed meanwhile.
func (r *Ref[T]) Value() *T {
	if r.state.Load() != open {
		panic(releasedRef)
	}
	return r.held.Value()
}

// Handle returns the handle of the value, which is stale if the value was removed.
func (r *Ref[T]) Handle() Handle[T] {
	if r.state.Load() == 0 {
		panic(releasedRef)
	}
	return r.h
}

// Release ends the hold. A second Release panics. It costs three locked instructions. The
// last Release of a value that was removed sends its slot to limbo. A later call reclaims the
// slot: Release itself runs no Options.Reset.
func (r *Ref[T]) Release() {
	if !r.state.CompareAndSwap(open, settled) {
		panic(releasedRef)
	}
	if debugging {
		r.mark.closed(r.pool.records.refs, "released")
	}
	p, k := r.pool, r.held
	r.pool, r.held = nil, shard.Held[T]{}
	p.arena.Drop(k)
}

// ref returns a Ref to a value that the caller holds.
func (p *Pool[T]) ref(k shard.Held[T], h Handle[T]) *Ref[T] {
	r := &Ref[T]{pool: p, held: k, h: h}
	r.state.Store(open)
	if debugging {
		r.mark.watched(p.records.refs, "held", h.String())
	}
	return r
}
