package slots

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

// EmptyList is the head of a list without slots.
const EmptyList = uint64(None)

// Stack is a freelist: the generation and index of its top slot, or None.
//
//	writers  an insertion, Pop, PopMany and TakeAll, by compare-and-swap; Push and Splice, under a shard's
//	         lock; the goroutine that restores an arena
//	readers  the same
//	orders   a push publishes that the slot was cleaned (P3)
type Stack struct{ Head atom.Uint64 }

// Empty reports whether the list has no slot.
func (f *Stack) Empty() bool { return f.Head.Load() == EmptyList }

// Pop is one try to take the first slot: it returns nil if there is none, and fails if another
// goroutine was faster.
//
// The table is loaded after the top. If the slot stays in the list from then on, that table
// shows its memory and the next slot's. If not, the compare-and-swap fails, and the link may
// lead out of the table. In an older table, the page might be one that was decommitted and has come
// back.
func (f *Stack) Pop(pages *Table) (slot *Hook, h uint64, ok bool) {
	// Observes (P3), and then (P2).
	top, t := f.Head.Load(), pages.Current.Load()
	if Low(top) >= t.Limit {
		return nil, 0, true
	}
	slot = t.At(Low(top))
	remainder := EmptyList
	if next := Low(slot.Word.Load()); next < t.Limit {
		remainder = Pack(Generation(t.At(next).Word.Load()), next)
	}
	// Success proves that the slot never left the list since top was read, so remainder is what
	// lies below it. Failure means that another pop or a push succeeded.
	return slot, top + GenerationStep, f.Head.CompareAndSwap(top, remainder)
}

// PopMany is one try. It fails if another goroutine was faster.
//
// The links that it reads may be stale, and then lead to other slots, or out of the table. The
// compare-and-swap succeeds only if the top has not changed, and so proves all of them.
func (f *Stack) PopMany(pages *Table, dst []Cached) (n int, ok bool) {
	// Observes (P3), and then (P2).
	top, t := f.Head.Load(), pages.Current.Load()
	i := Low(top)
	for ; n < len(dst) && i < t.Limit; n++ {
		slot := t.At(i)
		word := slot.Word.Load()
		dst[n] = NewCached(slot, Pack(Generation(word)+1, i))
		i = Low(word)
	}
	if n == 0 {
		return 0, true
	}
	remainder := EmptyList
	if i < t.Limit {
		remainder = Pack(Generation(t.At(i).Word.Load()), i)
	}
	ok = f.Head.CompareAndSwap(top, remainder)
	slices.Reverse(dst[:n])
	return n, ok
}

// Push puts c, whose last slot is known, on top of the list with one compare-and-swap. It
// writes the last slot's link at each try, since failure means that another push or a pop
// succeeded. The caller holds a shard's lock.
//
// The wrong version reads the top once, and links to a slot that another push has buried or a
// pop has taken.
func (f *Stack) Push(c *Chain) {
	for c.N > 0 {
		top := f.Head.Load()
		c.Link(Low(top))
		if f.Head.CompareAndSwap(top, c.First) { // publishes (P3)
			return
		}
	}
}

// Splice makes c the list if that is empty, without a visit of any slot: c ends with None. It
// reports whether it did. The caller holds a shard's lock.
func (f *Stack) Splice(c *Chain) bool {
	return f.Empty() && f.Head.CompareAndSwap(EmptyList, c.First) // publishes (P3)
}

// TakeAll takes the whole list, and returns its head.
func (f *Stack) TakeAll() uint64 {
	for {
		top := f.Head.Load() // observes (P3)
		// Success proves that the list is as it was pushed, and makes it the caller's.
		// Failure means that another goroutine has popped a slot.
		if top == EmptyList || f.Head.CompareAndSwap(top, EmptyList) {
			return top
		}
	}
}
