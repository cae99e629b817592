package pool

import "coatcheck/shard/slots"

// Guard protects values in place. While it is pinned, each pointer that it returned keeps its
// value, even if the value is removed: its slot is not zeroed, not Reset and not reused. Removals
// do not wait for guards; the removed slots do.
//
// [Pool.Pin] returns a Guard; a zero Guard panics. It must not be copied; vet reports copies. Any
// number of goroutines may use one Guard at once, and one of them unpins it. In a loop that does
// not end, pin another after some 64 look-ups, and before the goroutine blocks.
type Guard[T any] struct {
	_ noCopy
	// pool leads to the table of pages, and is nil when the guard is not pinned. The guard
	// does not keep the table itself. During the pin a page may come back that Trim gave up,
	// and the guard must find what is inserted there.
	pool *Pool[T]
	pin  tracedPin // an epoch.Guard
}

// Pin pins the pool until [Guard.Unpin], and never waits. Until then, the pool does not reuse slots
// that are removed during the pin. If Unpin never comes, insertions take new memory until MaxLimbo
// slots wait, and then return ErrStalled.
func (p *Pool[T]) Pin() (g Guard[T]) {
	g.pin = p.domain.Pin()
	g.pool = p
	return
}

// Unpin ends the pin, and the use of all pointers that the guard returned. A second Unpin panics,
// and so does any other use of the guard.
func (g *Guard[T]) Unpin() {
	if g.pool == nil || !g.pin.Release() {
		if debugging {
			panic(misuse(unpinAgain, &g.pin))
		}
		panic(unpinAgain)
	}
	g.pool = nil
}

// pages returns the current table.
func (g *Guard[T]) pages() *slots.PageTable {
	if g.pool == nil {
		panic(unpinned)
	}
	return g.pool.arena.Table.Pages()
}

// noCopy makes vet report copies.
type noCopy struct{}

func (*noCopy) Lock() {}

func (*noCopy) Unlock() {}
