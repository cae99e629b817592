package pool

import (
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

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
