package shard

import "slices"

// The freelist, LIFO, is Treiber's stack of vacant slots, linked through their words. The head
// has the top's generation and index.
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

// Pop takes the freelist's first slot, and returns it with the handle that it will have, or
// nil. It costs one locked instruction. The caller owns the slot. Under FIFO, Pop prefers
// slots that were never used, to use up generations evenly.
//
// The table is loaded after the top. If the slot stays in the list from then on, that table
// shows its memory. If not, the compare-and-swap fails. In an older table, the page might be
// one that was absent and has come back.
func (s *shard[T]) Pop() (*Slot[T], uint64) {
	if s.fifo {
		if slot, h := s.takeFresh(); slot != nil {
			return slot, h
		}
	}
	for {
		top := s.free.Load() // observes (P3)
		i := Low(top)
		if i == None {
			return nil, 0
		}
		t := s.arena.Table.Pages() // observes (P2)
		slot := At[T](t, i)
		word := slot.Word.Load()
		if Generation(word) != Generation(top) {
			continue // popped since: its link may lead outside t
		}
		rest := emptyList
		if next := Low(word); next != None {
			if s.fifo {
				t = s.arena.Table.Pages() // a queue's links are newer than its top
			}
			rest = Pack(Generation(At[T](t, next).Word.Load()), next)
		} else if s.fifo {
			return nil, 0 // the dummy stays
		}
		// Success proves that slot i never left the list since top was read, so rest is what
		// lies below it. Failure means that another pop or a push succeeded.
		if s.free.CompareAndSwap(top, rest) {
			return slot, top + generationStep
		}
		s.contend()
	}
}

// popRun takes as many slots as dst has room for, or all, from a stack. It puts them into dst,
// the first one last, and returns how many there are.
//
// The links that it reads may be stale, and then lead to other slots. The compare-and-swap
// succeeds only if the top has not changed, and so proves all of them.
func (s *shard[T]) popRun(dst []kept[T]) int {
	a := s.arena
	for {
		top := s.free.Load() // observes (P3)
		i, n := Low(top), 0
		for ; n < len(dst) && i != None; n++ {
			slot := a.slot(i) // by a table that is newer than the link
			word := slot.Word.Load()
			dst[n] = kept[T]{slot, Pack(Generation(word)+1, i)}
			i = Low(word)
		}
		if n == 0 {
			return 0
		}
		rest := emptyList
		if i != None {
			rest = Pack(Generation(a.slot(i).Word.Load()), i)
		}
		if s.free.CompareAndSwap(top, rest) {
			slices.Reverse(dst[:n])
			return n
		}
	}
}

// push puts c on top of the stack with one compare-and-swap. It writes the last slot's link at
// each try, since failure means that another push or a pop succeeded. The wrong version reads
// the top once, and links to a slot that another push has buried or a pop has taken.
func (s *shard[T]) push(c *chain[T]) {
	for c.n > 0 {
		top := s.free.Load()
		c.link(Low(top))
		if s.free.CompareAndSwap(top, c.first) { // publishes (P3)
			return
		}
	}
}

// stack is the freelist of a LIFO shard. Any shard may get what is reclaimed.
type stack[T any] struct{ of *shard[T] }

func (l stack[T]) hold(bool) bool { return true }
func (l stack[T]) release()       {}
func (l stack[T]) put(c chain[T]) { l.of.push(&c) }

// splice visits no slot: the batch ends with None, because it began as limbo's first slot.
// Failure means that the stack has slots again: the batch waits, or is moved in parts.
func (l stack[T]) splice(b *batch[T]) bool {
	if l.of.free.Load() != emptyList {
		return false
	}
	word := l.of.arena.slot(b.top).Word.Load()
	return l.of.free.CompareAndSwap(emptyList, Pack(Generation(word), b.top)) // publishes (P3)
}

func (l stack[T]) bare() bool                               { return l.of.free.Load() == emptyList }
func (l stack[T]) recipient(to *shard[T]) *shard[T]         { return to }
func (l stack[T]) reverse(*batch[T], uint32) (uint32, bool) { return 0, true } // limbo is a stack too

// A stack keeps nothing back, and Trim takes it with one compare-and-swap.
func (l stack[T]) fill(int)           {}
func (l stack[T]) keepLess() bool     { return false }
func (l stack[T]) keepsTooMuch() bool { return false }
func (l stack[T]) kept() uint32       { return 0 }
func (l stack[T]) dummies() uint32    { return 0 }
func (l stack[T]) enter() bool        { return true }
func (l stack[T]) needs() uint32      { return 0 }

// take takes the range last, as an insertion does.
func (l stack[T]) take(t *trimmer[T], into *taken[T]) {
	t.takeList(into)
	t.takeRange(into)
}
