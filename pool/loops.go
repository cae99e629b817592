package pool

import (
	"iter"
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
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
		t := p.arena.Table.Current.Load()
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

// Len returns the number of live values: exact when nobody changes anything, and
// otherwise a number that was right for each slot at some moment. It looks at
// every slot that has memory, so that no other operation has to count.
func (p *Pool[T]) Len() int {
	p.pages()
	return p.arena.Len()
}

// A range over All is fast because the compiler puts the iterator into the
// caller's loop, which it does not do for an iterator with a defer: that would
// cost 3 ns a value in place of 0.6. But without one, a loop body that panics
// leaves the pin behind.
//
// So the pin of such a loop lies in an object of its own, a loop. On the way out
// the iterator unpins it and puts it by for the next. If a panic or Goexit skips
// that, nobody refers to the object any more, and its finalizer unpins it with
// the next cycle of the garbage collector.
//
// On a path through the body that cannot come back, nothing uses the loop any
// more either, and the finalizer may run while the body still does: All warns of
// it. The tempting cures are none. A KeepAlive is not reached, an array or closure
// on the stack counts as dead with the last use of its address, and a reference
// from the pool would keep the pin after a panic. Only a defer holds.
type loop struct {
	// guard is plain: its holder writes it, and the finalizer reads it, which
	// runs when there is no holder. The collector, which stops the world between
	// the two, orders them.
	guard tracedPin // an epoch.Guard
}

// idleLoops is how many loops a pool puts by. More that run at once allocate.
const idleLoops = 8

// loops keeps idle loops, so that ranging over a pool does not allocate.
type loops struct {
	// idle holds a loop that nobody uses, or nil.
	//
	//	writers  take, by a swap with nil, which makes the loop the caller's;
	//	         give, by compare-and-swap from nil
	idle [idleLoops]atom.Pointer[loop]
}

// fill provides every idle loop in advance.
func (ls *loops) fill() {
	for i := range ls.idle {
		ls.idle[i].Store(newLoop())
	}
}

// newLoop makes a loop whose pin comes back even if its holder does not.
// A finalizer serves here where a cleanup would not: it is handed the object
// itself and needs no second one. The loop refers to nothing that refers back.
func newLoop() *loop {
	l := new(loop)
	runtime.SetFinalizer(l, func(l *loop) { l.guard.Release() })
	return l
}

func (ls *loops) take(at uint32) *loop {
	first := hint.Index(at, idleLoops)
	for i := range idleLoops {
		at := &ls.idle[(first+i)%idleLoops]
		if at.Load() == nil {
			continue
		}
		if l := at.Swap(nil); l != nil {
			return l
		}
	}
	return newLoop()
}

func (ls *loops) give(l *loop, at uint32) {
	first := hint.Index(at, idleLoops)
	for i := range idleLoops {
		if ls.idle[(first+i)%idleLoops].CompareAndSwap(nil, l) {
			return
		}
	}
}

// beginLoop pins the pool for a loop.
func (p *Pool[T]) beginLoop() *loop {
	p.pages()
	at := hint.Goroutine()
	l := p.loops.take(at)
	l.guard = p.domain.Pin()
	return l
}

// endLoop unpins it.
func (p *Pool[T]) endLoop(l *loop) {
	l.guard.Unpin()
	p.loops.give(l, hint.Goroutine())
}
