package pool

import "coatcheck/shard"

// Guard is a pin of a pool. While it is pinned, every *T that it gave stays that
// incarnation: not zeroed, not reset, not handed out again, even when it has been
// removed. Removals go on; their slots wait.
//
// A Guard comes from [Pool.Pin] or [Worker.Pin]. Any number of goroutines may look
// up and loop under one guard, as long as none of them unpins it before the others
// have done; it may be unpinned by another than pinned it. It must not be copied
// (vet sees it; a copy's second Unpin panics). The zero Guard panics.
//
// A goroutine that looks values up all the time may keep a guard and [Guard.Repin] it now
// and then, where it has none of the pointers any more: after every 64 look-ups the pins
// cost next to nothing, and what is removed waits no longer than these take. Such a guard
// must be unpinned before the goroutine waits for anything.
type Guard[T any] struct {
	_ noCopy
	// pool leads to the table of pages, which a guard must not keep itself: a page that
	// Trim gave up may come back while the guard is pinned, and it must see what is
	// inserted there. It is nil when not pinned.
	pool *Pool[T]
	pin  tracedPin // an epoch.Guard
}

// noCopy makes vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Pin pins the pool until [Guard.Unpin]. It costs one locked instruction, and Unpin
// none on amd64; neither waits. There is no limit on the number of guards.
//
// A guard that is never unpinned keeps what is removed after it from being
// reused: insertions then take new memory up to Options.MaxLimbo, and return
// ErrStalled after that. [Stats] tells. What was removed before does not wait for
// the guard; only where memory can grow without a bound, up to 63 slots a shard may.
func (p *Pool[T]) Pin() (g Guard[T]) {
	g.pin = p.domain.Pin()
	g.pool = p
	return
}

// Unpin ends the pin. No pointer that the guard gave may be used after it. A
// second Unpin, or a Get after it, panics.
func (g *Guard[T]) Unpin() {
	if g.pool == nil || !g.pin.Release() {
		if debugging {
			panic(misuse(unpinAgain, &g.pin))
		}
		panic(unpinAgain)
	}
	g.pool = nil
}

// Repin is Unpin and Pin in one call: what was removed before no longer waits for the
// guard. No pointer that the guard gave before may be used after it, those of loops
// under way included. It costs what Unpin and Pin cost, and does not wait. Of a guard
// that is not pinned it panics as Unpin does. If several goroutines look up under the
// guard, none may do so during the call.
func (g *Guard[T]) Repin() {
	p := g.pool
	g.Unpin()
	*g = p.Pin()
}

// pages returns the current table.
func (g *Guard[T]) pages() *shard.Pages {
	if g.pool == nil {
		panic(unpinned)
	}
	return g.pool.arena.Table.Pages()
}
