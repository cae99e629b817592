package shard

import (
	"slices"

	"coatcheck/internal/atom"
)

// The freelist is Treiber's stack of vacant slots, linked through their words. The head has
// the top's generation and index.
//
// A stack whose head is only an index breaks when three goroutines meet. A reads the top X and
// its link Y, and is preempted. B pops X and Y. C's removal pushes X again. A's
// compare-and-swap finds X on top, succeeds, and makes Y the top, although B owns Y.
//
// The usual cure is a counter beside the index. Here the slot's generation is the tag. A slot
// enters a freelist at most once with a generation (I5), since between two entries it was live
// or burnt a life. So a head that still reads {generation, X} proves that X never left the
// list, and that everything below X is unchanged. No argument about the width of a counter is
// needed.
//
// The wrong use is to push back a slot that was popped and not needed: it would enter twice
// with one generation. Such a slot goes through giveBack, or through limbo.
//
// Under FIFO the list is filled only when it is empty, with slots in the order of their
// removal. So a stack serves as a queue. It stays empty until all slots have been used (unworn), so
// that Insert need not ask.

// stack is a freelist: the generation and index of its top slot, or None.
//
//	writers  an insertion, pop, popRun and takeAll, by compare-and-swap; push and splice, under a shard's
//	         lock; the goroutine that restores an arena
//	readers  the same
//	orders   a push publishes that the slot was cleaned (P3)
type stack struct{ head atom.Uint64 }

// emptyList is the head of a list without slots.
const emptyList = uint64(None)

func (f *stack) empty() bool { return f.head.Load() == emptyList }

// pop takes a slot as Insert does, and returns it with the handle that it will have, or nil. The
// caller owns the slot.
func (s *shard) pop() (*Hook, uint64) {
	if s.unworn.Load() != 0 {
		if slot, h := s.takeNeverUsed(); slot != nil {
			return slot, h
		}
	}
	return s.popFree()
}

// popFree takes the first slot of the freelist, or returns nil.
func (s *shard) popFree() (*Hook, uint64) {
	for {
		if slot, h, ok := s.free.pop(&s.arena.Table); ok {
			return slot, h
		}
		s.contend()
	}
}

// takeNeverUsed takes a slot that was never used, under FIFO, so that all slots wear evenly. With a
// Capacity it uses all that before it uses one again; without, all that has memory.
func (s *shard) takeNeverUsed() (*Hook, uint64) {
	a := s.arena
	for {
		changes := a.Table.Changes() // before the look
		if slot, h := s.takeFresh(); slot != nil {
			return slot, h
		}
		if slot, h := s.allocRange(Batch); slot != nil {
			return slot, h
		}
		if a.Capacity == 0 || a.Table.Left() == 0 || !a.mayGrow(int64(a.Waiting())) {
			break
		}
		a.Table.Grow(changes)
	}
	s.unworn.Store(0)
	for k := 1; k < len(a.shards()); k++ {
		if slot, h := s.next(k).takeFresh(); slot != nil {
			s.unworn.Store(1)
			return slot, h
		}
	}
	if s.tryLock() {
		s.refill(s)
		s.unlock()
	}
	return nil, 0
}

// popRun takes as many slots as dst has room for, or all. It puts them into dst, the first one
// last, and returns how many there are.
func (s *shard) popRun(dst []cached) int {
	for {
		if n, ok := s.free.popRun(&s.arena.Table, dst); ok {
			return n
		}
		s.contend()
	}
}

// pop is one try to take the first slot: it returns nil if there is none, and fails if another
// goroutine was faster.
//
// The table is loaded after the top. If the slot stays in the list from then on, that table
// shows its memory and the next slot's. If not, the compare-and-swap fails, and the link may
// lead out of the table. In an older table, the page might be one that was decommitted and has come
// back.
func (f *stack) pop(pages *Table) (slot *Hook, h uint64, ok bool) {
	// Observes (P3), and then (P2).
	top, t := f.head.Load(), pages.Current.Load()
	if Low(top) >= t.Limit {
		return nil, 0, true
	}
	slot = t.At(Low(top))
	remainder := emptyList
	if next := Low(slot.Word.Load()); next < t.Limit {
		remainder = Pack(Generation(t.At(next).Word.Load()), next)
	}
	// Success proves that the slot never left the list since top was read, so rest is what
	// lies below it. Failure means that another pop or a push succeeded.
	return slot, top + generationStep, f.head.CompareAndSwap(top, remainder)
}

// popRun is one try. It fails if another goroutine was faster.
//
// The links that it reads may be stale, and then lead to other slots, or out of the table. The
// compare-and-swap succeeds only if the top has not changed, and so proves all of them.
func (f *stack) popRun(pages *Table, dst []cached) (n int, ok bool) {
	// Observes (P3), and then (P2).
	top, t := f.head.Load(), pages.Current.Load()
	i := Low(top)
	for ; n < len(dst) && i < t.Limit; n++ {
		slot := t.At(i)
		word := slot.Word.Load()
		dst[n] = newCached(slot, Pack(Generation(word)+1, i))
		i = Low(word)
	}
	if n == 0 {
		return 0, true
	}
	remainder := emptyList
	if i < t.Limit {
		remainder = Pack(Generation(t.At(i).Word.Load()), i)
	}
	ok = f.head.CompareAndSwap(top, remainder)
	slices.Reverse(dst[:n])
	return n, ok
}

// push puts c, whose last slot is known, on top of the list with one compare-and-swap. It
// writes the last slot's link at each try, since failure means that another push or a pop
// succeeded. The caller holds a shard's lock.
//
// The wrong version reads the top once, and links to a slot that another push has buried or a
// pop has taken.
func (f *stack) push(c *chain) {
	for c.n > 0 {
		top := f.head.Load()
		c.link(Low(top))
		if f.head.CompareAndSwap(top, c.first) { // publishes (P3)
			return
		}
	}
}

// splice makes c the list if that is empty, without a visit of any slot: c ends with None. It
// reports whether it did. The caller holds a shard's lock.
func (f *stack) splice(c *chain) bool {
	return f.empty() && f.head.CompareAndSwap(emptyList, c.first) // publishes (P3)
}

// takeAll takes the whole list, and returns its head.
func (f *stack) takeAll() uint64 {
	for {
		top := f.head.Load() // observes (P3)
		// Success proves that the list is as it was pushed, and makes it the caller's.
		// Failure means that another goroutine has popped a slot.
		if top == emptyList || f.head.CompareAndSwap(top, emptyList) {
			return top
		}
	}
}
