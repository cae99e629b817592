package pool

import "coatcheck/shard/slots"

// Guard protects values in place. While it is pinned, each pointer that it returned keeps its
// value, even if the value is removed: its slot is not zeroed, not Reset and not reused. Removals
// do not wait for guards; the removed slots do. Goroutines that share a value must synchronize,
// as with any pointer.
//
// [Pool.Pin] returns a Guard; a zero Guard panics. It must not be copied: vet reports copies, and
// the second Unpin panics. Any number of goroutines may use one Guard at once. Any of them may
// unpin it, once the others have finished.
//
// In a loop that does not end, unpin the Guard and pin another after some 64 look-ups, and before
// the goroutine blocks.
type Guard[T any] struct {
	_ noCopy
	// pool leads to the table of pages, and is nil when the guard is not pinned. The guard
	// does not keep the table itself. During the pin a page may come back that Trim gave up,
	// and the guard must find what is inserted there.
	pool *Pool[T]
	pin  tracedPin // an epoch.Guard
}

// Pin pins the pool until [Guard.Unpin]. Any number of goroutines may pin at once, and none
// waits.
//
// Until Unpin, the pool does not reuse slots that are removed during the pin. If Unpin never
// comes, insertions take new memory until MaxLimbo slots wait, and then return ErrStalled.
// [Stats] shows such a guard.
//
// Slots that were removed before the Pin do not wait for it, except for some in a pool with
// neither a Capacity nor a MaxLimbo (DESIGN.md, L10).
func (p *Pool[T]) Pin() (g Guard[T]) {
	g.pin = p.domain.Pin()
	g.pool = p
	return
}

// Unpin ends the pin. No pointer that the guard returned may be used after it. A second
// Unpin panics, and so does any other use of the guard.
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
