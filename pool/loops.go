package pool

import (
	"iter"
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// All returns an iterator over the live values. The loop is pinned from beginning to end, so
// each pointer is valid until the loop ends. The body may do anything to the pool.
//
// Iteration is weakly consistent: a value that lives through the whole loop is yielded
// exactly once, and one that is inserted or removed meanwhile at most once. All reads every
// slot that has memory, live or not.
//
// If the body panics or calls runtime.Goexit, the pin ends with the next garbage collection
// at the latest. On a path that never returns to the loop, such as one that ends in panic,
// select {} or an endless for, it may end before the body does. A body that uses its pointers
// on such a path needs a guard of its own: call [Pool.Pin], defer its Unpin, and range over
// [Guard.All].
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

// All returns an iterator over the live values, like [Pool.All]. The pointers are valid
// until Unpin.
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

// Pages returns an iterator over blocks of a few thousand slots: it yields numbers from 0,
// each with an iterator over the block's live values. Several goroutines may run these at
// the same time while the guard is pinned.
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

// blockSlots is the number of slots of a block of [Guard.Pages]. It is less than a page may
// have, so that several goroutines can share a pool of one large page.
const blockSlots = 4096

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

// liveHandles ranges over the handles of the live slots of t, for removals. It takes no pin.
func liveHandles[T any](t *shard.PageTable) iter.Seq[Handle[T]] {
	return func(yield func(Handle[T]) bool) {
		for first := uint32(0); first < t.Limit; {
			block := shard.Block[T](t, first, blockSlots)
			for j := range block {
				if w := block[j].Word.Load(); uint32(w) == first+uint32(j) {
					if !yield(Handle[T](w)) {
						return
					}
				}
			}
			first += uint32(len(block))
		}
	}
}

// loop is the pin of a loop over [Pool.All].
//
// The compiler inlines an iterator into the caller's loop, which then takes 0.6 ns a value,
// unless the iterator has a defer, which makes it 3 ns. But without a defer, a body that
// panics skips the Unpin.
//
// So the pin lies in an object of its own. Normally the iterator unpins it and puts it in
// loops for the next. If a panic or Goexit skips that, nothing refers to the object any
// more, and its finalizer unpins it in the next cycle of the garbage collector.
//
// On a path through the body that never returns to the loop, nothing uses the object either.
// So the finalizer may run while the body does, and All's doc warns of it. A KeepAlive is
// not reached on such a path. An array or a closure on the stack is dead after the last use
// of its address. A reference from the pool would keep the pin after a panic. Only a defer
// helps.
type loop struct {
	// guard is plain. The loop's goroutine writes it, and the finalizer reads it when no
	// goroutine has the loop; the garbage collector orders the two.
	guard tracedPin // an epoch.Guard
}

// idleLoops is how many unused loops a pool keeps. If more run at once, they allocate.
const idleLoops = 8

// loops keeps unused loops, so that ranging over a pool does not allocate.
type loops struct {
	// idle holds an unused loop, or nil.
	//
	//	writers  take, by a swap with nil, which makes the loop the caller's;
	//	         give, by compare-and-swap from nil
	idle [idleLoops]atom.Pointer[loop]
}

// fill allocates every idle loop.
func (ls *loops) fill() {
	for i := range ls.idle {
		ls.idle[i].Store(newLoop())
	}
}

// newLoop returns a loop whose finalizer ends its pin. Unlike a cleanup, a finalizer gets
// the object itself, and needs no second one. The loop refers to nothing that refers to it.
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
