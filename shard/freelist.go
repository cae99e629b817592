package shard

import (
	"slices"

	"coatcheck/internal/hint"
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
// removal. So a stack serves as a queue.

// Insert stores v in the first slot of the freelist to which a frame's hint leads, and makes it
// live. It returns the slot's handle. If it finds none at once, it claims one. It costs one
// locked instruction on amd64.
//
// The table is loaded after the top. If the slot stays in the list from then on, that table
// shows its memory and the next slot's. If not, the compare-and-swap fails, and the link may
// lead out of the table. In an older table, the page might be one that was absent and has come
// back.
func (a *Arena[T]) Insert(frame uintptr, v T) (uint64, error) {
	s := a.Local(hint.Of(frame))
	if s.fifo && s.unclaimed() > 0 {
		return a.insertSlow(s, v)
	}
	// Observes (P3), and then (P2).
	if top, t := s.free.Load(), a.Table.Current.Load(); Low(top) < t.Limit {
		array, inverse, mask, limit := t.Array, t.Inverse, t.Mask, t.Limit
		slot := at[T](array, inverse, mask, limit, Low(top))
		rest := emptyList
		if next := Low(slot.Word.Load()); next < limit {
			rest = Pack(Generation(at[T](array, inverse, mask, limit, next).Word.Load()), next)
		}
		// Success proves that slot i never left the list since top was read, so rest is what
		// lies below it. Failure means that another pop or a push succeeded.
		if s.free.CompareAndSwap(top, rest) {
			slot.Value = v
			return slot.Publish(top + generationStep), nil
		}
		s.contend()
	}
	return a.insertSlow(s, v)
}

func (a *Arena[T]) insertSlow(s *shard[T], v T) (uint64, error) {
	slot, h, err := a.claim(s)
	if err != nil {
		return 0, err
	}
	slot.Value = v
	return slot.Publish(h), nil
}

// Pop takes a slot as Insert does, and returns it with the handle that it will have, or nil. The
// caller owns the slot. Under FIFO it prefers slots that were never used, to use up generations
// evenly.
func (s *shard[T]) Pop() (*Slot[T], uint64) {
	if s.fifo {
		if slot, h := s.takeFresh(); slot != nil {
			return slot, h
		}
	}
	var one [1]kept[T]
	if s.popRun(one[:]) == 0 {
		return nil, 0
	}
	return one[0].slot, one[0].h
}

// popRun takes as many slots as dst has room for, or all. It puts them into dst, the first one
// last, and returns how many there are.
//
// The links that it reads may be stale, and then lead to other slots, or out of the table. The
// compare-and-swap succeeds only if the top has not changed, and so proves all of them.
func (s *shard[T]) popRun(dst []kept[T]) int {
	for {
		// Observes (P3), and then (P2).
		top, t := s.free.Load(), s.arena.Table.Current.Load()
		i, n := Low(top), 0
		for ; n < len(dst) && i < t.Limit; n++ {
			slot := At[T](t, i)
			word := slot.Word.Load()
			dst[n] = kept[T]{slot, Pack(Generation(word)+1, i)}
			i = Low(word)
		}
		if n == 0 {
			return 0
		}
		rest := emptyList
		if i < t.Limit {
			rest = Pack(Generation(At[T](t, i).Word.Load()), i)
		}
		if s.free.CompareAndSwap(top, rest) {
			slices.Reverse(dst[:n])
			return n
		}
		s.contend()
	}
}

// push puts c, whose last slot is known, on top of the list with one compare-and-swap. It
// writes the last slot's link at each try, since failure means that another push or a pop
// succeeded. The caller holds a shard's lock.
//
// The wrong version reads the top once, and links to a slot that another push has buried or a
// pop has taken.
func (s *shard[T]) push(c *chain[T]) {
	for c.n > 0 {
		top := s.free.Load()
		c.link(Low(top))
		if s.free.CompareAndSwap(top, c.first) { // publishes (P3)
			return
		}
	}
}

// splice makes c the list if that is empty, without a visit of any slot: c ends with None. It
// reports whether it did. The caller holds a shard's lock.
func (s *shard[T]) splice(c *chain[T]) bool {
	return s.free.Load() == emptyList && s.free.CompareAndSwap(emptyList, c.first) // publishes (P3)
}
