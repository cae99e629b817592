package pool

import (
	"iter"

	"coatcheck/shard"
)

// All returns an iterator over the live values. The loop is pinned from beginning to end, so each
// pointer is valid until the loop ends. If the body panics or calls runtime.Goexit, the pin ends.
//
// The body may use the pool, but slots that any goroutine removes during the loop are not reused
// before its end. So in the body, insertions into a full pool fail, and InsertWait and Synchronize
// wait until ctx is done. If the body would block, as on a slow connection, collect the pointers of
// a Pool[*T], or the handles of a Pool[T], and block after the loop.
//
// Iteration is weakly consistent. A value that lives through the whole loop is yielded exactly
// once, and one that is inserted or removed meanwhile at most once. All reads every slot that has
// memory, live or not. A loop over [Guard.All] is several times as fast, because the compiler
// inlines its body.
func (p *Pool[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) { p.rangeAll(yield) }
}

// rangeAll is the loop of All. In a function literal, a deferred call would allocate.
func (p *Pool[T]) rangeAll(yield func(Handle[T], *T) bool) {
	g := p.Pin()
	defer g.Unpin()
	t := g.pages()
	liveSlots[T](t, 0, t.Limit)(yield)
}

// All returns an iterator over the live values, like [Pool.All]. The pointers are valid until
// Unpin. If the body unpins the guard, it must then end the loop.
func (g *Guard[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		t := g.pages()
		liveSlots[T](t, 0, t.Limit)(yield)
	}
}

// liveSlots ranges over the live slots of t with from ≤ index < end. Loops over values hold a
// pin; those that only use the handles need none. It is inlined into each loop, and so is the
// loop's body.
func liveSlots[T any](t *shard.PageTable, start, end uint32) iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for first := start; first < end; {
			block := shard.Block[T](t, first, end-first)
			for j := range block {
				// A word with the slot's own index is live (I4). Observes (P1).
				if w := block[j].Word.Load(); uint32(w) == first+uint32(j) {
					if !yield(Handle[T](w), &block[j].Value) {
						return
					}
				}
			}
			first += uint32(len(block))
		}
	}
}
