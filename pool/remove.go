package pool

import (
	"iter"

	"coatcheck/internal/hint"
)

// Remove ends the life of the value that h names. It returns true for exactly one caller
// per handle, and false if h is not live.
//
// The value stays readable for Refs, and for guards that are pinned now. When they have gone,
// the slot is reclaimed: it is zeroed or Reset, and may be reused. A later call does so, or
// the garbage collector within two cycles, or [Pool.Synchronize] at once. A later guard may delay
// it: see [Pool.Pin]. In a pool with a Reset only calls do so; after a [Worker], only that Worker's.
//
// Remove costs two locked instructions. In a pool with a Capacity or a MaxLimbo, the first
// removal after a Pin costs one more. About one call in 64 also reclaims what has gathered,
// and calls Options.Reset for it. It waits for a lock only after a Reset.
func (p *Pool[T]) Remove(h Handle[T]) bool {
	if debugging {
		return p.ended(h, p.arena.Remove(hint.Frame(), uint64(h)))
	}
	return p.arena.Remove(hint.Frame(), uint64(h))
}

// Take is like [Pool.Remove] but also returns a shallow copy of the value. Guards and Refs
// may still read the value in its slot. In a pool with a Reset the slot is zeroed and not
// Reset, so what the copy refers to belongs to the caller, and to copies that Get made before.
func (p *Pool[T]) Take(h Handle[T]) (v T, ok bool) {
	v, ok = p.arena.Local(hint.Goroutine()).Take(uint64(h))
	p.ended(h, ok)
	return v, ok
}

// RemoveBatch removes the values that hs names, one after the other, and returns how many
// it removed. A removal costs one locked instruction.
func (p *Pool[T]) RemoveBatch(hs []Handle[T]) int {
	p.pages()
	r := p.arena.Removals()
	defer r.End()
	for _, h := range hs {
		p.ended(h, r.Remove(uint64(h)))
	}
	return r.N
}

// Drain returns an iterator that removes the live values one after the other, and yields
// shallow copies, as Take does. Each value is yielded by one Drain. A loop that ends early leaves the
// rest in the pool. Drain holds no pin.
func (p *Pool[T]) Drain() iter.Seq2[Handle[T], T] {
	return func(yield func(Handle[T], T) bool) {
		t := p.pages()
		for h := range liveSlots[T](t, 0, t.Limit) {
			if v, ok := p.Take(h); ok && !yield(h, v) {
				return
			}
		}
	}
}

// DeleteFunc removes the values for which del returns true, and returns how many it removed.
// It holds a pin while it runs. If del panics, the values that were removed before stay
// removed.
//
// DeleteFunc reads every slot that has memory. To remove the values of one owner among many,
// keep their handles in a list, as the example "Owner" does.
func (p *Pool[T]) DeleteFunc(del func(Handle[T], *T) bool) (n int) {
	g := p.Pin()
	defer g.Unpin()
	for h, v := range g.All() {
		// Each slot is retired at once: del may use the pool, and must find every slot in
		// its place (I3).
		if del(h, v) && p.Remove(h) {
			n++
		}
	}
	return n
}

// Clear removes all values, one after the other, and returns how many it removed. A value
// that is inserted meanwhile may stay. No stale handle becomes valid.
func (p *Pool[T]) Clear() int {
	t := p.pages()
	r := p.arena.Removals()
	defer r.End()
	for h := range liveSlots[T](t, 0, t.Limit) {
		p.ended(h, r.Remove(uint64(h)))
	}
	return r.N
}

// ended records that h was removed, if ok. It returns ok.
func (p *Pool[T]) ended(h Handle[T], ok bool) bool {
	if debugging && ok {
		p.records.lives.Ended(uint64(h), "removed")
	}
	return ok
}
