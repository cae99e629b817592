package pool

import (
	"iter"

	"coatcheck/shard"
)

// blockSlots is how many slots a loop takes at a time, and what Pages calls a
// page: a pool of one large page can be shared out, too.
const blockSlots = 4096

// All ranges over the live values. The loop is pinned from beginning to end, so
// every pointer is good until the loop ends.
//
// Iteration is weakly consistent: a value that lives through the whole loop is
// yielded exactly once, one that comes or goes meanwhile at most once. The body
// may do anything to the pool. It costs a look at every slot that has memory,
// live or not.
//
// If the body panics or calls runtime.Goexit, the pin is given back with the
// next garbage collection at the latest. [Pool.View] and [Pool.Each] do so at
// once.
//
// There is one exception. On a path through the body from which the compiler sees
// no way back to the loop, such as one that ends in panic, select {} or an endless
// for, a garbage collection may end the pin at once. A body that uses its pointers
// on such a path takes a guard with [Pool.Pin], defers its Unpin, and ranges over
// [Guard.All] instead.
func (p *Pool[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		l := p.beginLoop()
		t := p.space.Table.Current.Load()
	slots:
		for first := uint32(0); first < t.Limit; {
			block := shard.Block[T](t, first, blockSlots)
			for j := range block {
				// A word with the slot's own index is live (I4). Observes (P1).
				if w := block[j].Word.Load(); uint32(w) == first+uint32(j) {
					if !yield(Handle[T](w), &block[j].Value) {
						break slots
					}
				}
			}
			first += uint32(len(block))
		}
		p.endLoop(l)
	}
}

// All ranges over the live values under the guard, like [Pool.All]. The pointers
// are good until Unpin.
func (g *Guard[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		t := g.pages()
		for first := uint32(0); first < t.Limit; {
			block := shard.Block[T](t, first, blockSlots)
			for j := range block {
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

// Pages is All by page, for parallel loops of one's own: it yields a number that
// counts from 0 and the loop over a few thousand slots. Those loops may run at
// the same time, on other goroutines, while the guard is pinned.
func (g *Guard[T]) Pages() iter.Seq2[int, iter.Seq2[Handle[T], *T]] {
	return func(yield func(int, iter.Seq2[Handle[T], *T]) bool) {
		t := g.pages()
		n := 0
		for first := uint32(0); first < t.Limit; n++ {
			block := shard.Block[T](t, first, blockSlots)
			if !yield(n, over(block, first)) {
				return
			}
			first += uint32(len(block))
		}
	}
}

// over ranges over the live values of a block whose first slot has index first.
func over[T any](block []shard.Slot[T], first uint32) iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for j := range block {
			if w := block[j].Word.Load(); uint32(w) == first+uint32(j) {
				if !yield(Handle[T](w), &block[j].Value) {
					return
				}
			}
		}
	}
}

// Drain removes the live values and yields what it removed, moved out. It is a
// sequence of Takes: each value is yielded by one Drain, and a loop that is left
// early leaves the rest in the pool. It holds no pin.
func (p *Pool[T]) Drain() iter.Seq2[Handle[T], T] {
	return func(yield func(Handle[T], T) bool) {
		t := p.pages()
		s := p.local()
		for first := uint32(0); first < t.Limit; {
			block := shard.Block[T](t, first, blockSlots)
			for h := range over(block, first) {
				v, ok := s.Take(&block[h.Index()-first], uint64(h))
				if debugging && ok {
					p.records.lives.Ended(uint64(h), removed)
				}
				if ok && !yield(h, v) {
					return
				}
			}
			first += uint32(len(block))
		}
	}
}

// DeleteFunc removes the values for which del returns true, and returns how many
// it removed. It is pinned while it runs. A panic in del comes up; what was
// removed before stays removed.
//
// What keeps a removed value from being let go is told at [Pool.Remove]; the pin of
// the DeleteFunc is one such guard.
func (p *Pool[T]) DeleteFunc(del func(Handle[T], *T) bool) (n int) {
	g := p.Pin()
	defer g.Unpin()
	t := g.pages()
	for first := uint32(0); first < t.Limit; {
		block := shard.Block[T](t, first, blockSlots)
		for h, v := range over(block, first) {
			// Each slot is retired at once. One that waited for company would be out of
			// everybody's sight while del runs, which may do anything.
			if del(h, v) && p.local().Remove(&block[h.Index()-first], uint64(h)) {
				n++
				if debugging {
					p.records.lives.Ended(uint64(h), removed)
				}
			}
		}
		first += uint32(len(block))
	}
	return n
}

// Clear removes all values and returns how many it removed. It is a sequence of
// removals: what is inserted meanwhile may survive it. No handle comes back to
// life. For what keeps the values from being let go, see [Pool.Remove].
func (p *Pool[T]) Clear() int {
	t := p.pages()
	b := p.remover()
	defer b.flush()
	for first := uint32(0); first < t.Limit; {
		block := shard.Block[T](t, first, blockSlots)
		for h := range over(block, first) {
			if b.remove(&block[h.Index()-first], uint64(h)) && debugging {
				p.records.lives.Ended(uint64(h), removed)
			}
		}
		first += uint32(len(block))
	}
	return b.n
}

// Len returns the number of live values: exact when nobody changes anything, and
// otherwise a number that was right for each slot at some moment. It looks at
// every slot that has memory, so that no other operation has to count.
func (p *Pool[T]) Len() int {
	n := 0
	t := p.pages()
	for first := uint32(0); first < t.Limit; {
		block := shard.Block[T](t, first, blockSlots)
		for range over(block, first) {
			n++
		}
		first += uint32(len(block))
	}
	return n
}
