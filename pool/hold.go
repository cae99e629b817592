package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Ref is a long hold on one value: across blocking I/O, from one goroutine to
// another, for minutes. It keeps its own slot from being reused and holds nothing
// else back, where a [Guard] would hold back whatever is removed after it.
//
// The value may be removed meanwhile; it stays readable, and its slot waits for
// Release, counted under Stats.Limbo. Any number of Refs may hold one value.
//
// A Ref comes from [Pool.Hold] or [Reservation.CommitHold]. Value and Handle may be
// called by any number of goroutines at once, Release by one of them, after which nobody
// may use what Value gave. One that is dropped without Release is not guessed at: its slot is
// never reused, and Stats.Held shows it for ever. The zero Ref panics. It must not
// be copied.
type Ref[T any] struct {
	mark mark // noCopy
	pool *Pool[T]
	held shard.Held[T]
	h    Handle[T]

	// state is open until Release, which ends it by compare-and-swap: once.
	state atom.Uint32
}

// Hold returns a Ref to the value that h names, or false if it is not live. Raced
// by Remove, Take, Clear and reuse it holds the incarnation that h names or
// returns false. It allocates the Ref, and costs three locked instructions. The
// first Hold in a page also allocates 4 bytes for each slot of the page, at most
// 32 KiB, except in a pool with Preallocate, where New has allocated them.
//
// For look-ups, and for as long as no call blocks, Pin is cheaper.
func (p *Pool[T]) Hold(h Handle[T]) (*Ref[T], bool) {
	p.pages()
	k, ok := p.arena.Hold(uint64(h))
	if !ok {
		return nil, false
	}
	return p.ref(k, h), true
}

// ref returns a Ref for a hold of h.
func (p *Pool[T]) ref(k shard.Held[T], h Handle[T]) *Ref[T] {
	r := &Ref[T]{pool: p, held: k, h: h}
	r.state.Store(open)
	if debugging {
		r.mark.opened(p.records.refs, held, h.String())
	}
	return r
}

// Value returns the value. The pointer is good until Release, also after the
// value was removed.
func (r *Ref[T]) Value() *T {
	if r.state.Load() != open {
		panic(releasedRef)
	}
	return r.held.Value()
}

// Handle returns the handle that was held. It may be stale by now.
func (r *Ref[T]) Handle() Handle[T] {
	if r.pool == nil {
		panic(releasedRef)
	}
	return r.h
}

// Release ends the hold. A second Release panics. It costs three locked
// instructions; the last one of a value that was removed gives its slot back,
// and may then reclaim, which is when Options.Reset is called.
func (r *Ref[T]) Release() {
	if !r.state.CompareAndSwap(open, settled) {
		panic(releasedRef)
	}
	if debugging {
		r.mark.closed(r.pool.records.refs, released)
	}
	r.pool.arena.Drop(r.held)
}
