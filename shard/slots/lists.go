package slots

import (
	"slices"

	"coatcheck/internal/atom"
)

// The lists that goroutines share: the freelist, limbo, and ranges of slots that were never used. Each has
// one word.

// EmptyList is the head of a list without slots.
const EmptyList = uint64(None)

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

// Stack is a freelist: the generation and index of its top slot, or None.
//
//	writers  an insertion, Pop, PopRun and TakeAll, by compare-and-swap; Push and Splice, under a shard's
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

// PopRun is one try. It fails if another goroutine was faster.
//
// The links that it reads may be stale, and then lead to other slots, or out of the table. The
// compare-and-swap succeeds only if the top has not changed, and so proves all of them.
func (f *Stack) PopRun(pages *Table, dst []Cached) (n int, ok bool) {
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

// In limbo removed slots wait for their grace period. It is a stack that is only pushed to and
// taken whole. The head counts the pushes, at no cost, since each one writes it. So a remover knows
// when enough slots wait for a seal.

// Limbo is how many slots were ever pushed, modulo 2^32, and the index of the last, or None.
//
// A push that succeeds found the top that it linked to, whatever came between. That limbo was not taken
// between either, it knows by the count, which taking leaves as it is. The wrong version counts what waits:
// then limbo looks the same when it was empty before and is again, and a slot that was stamped before a
// seal comes into the next one (backlog.take).
//
//	writers  Push and PushOne, by compare-and-swap; TakeAll, by compare-and-swap; the goroutine that
//	         restores an arena
//	readers  Unlink, for the link that it writes
//	orders   the push publishes the unlinking to seal (P6)
type Limbo struct {
	Head atom.Uint64

	// taken is what the head counted when it was last taken.
	//
	//	writers  TakeAll, for the holder of the shard's lock; Restore, in a new arena
	//	readers  Size
	taken atom.Uint64
}

// Size returns how many slots there are. To others than the holder of the shard's lock it may be too many.
func (l *Limbo) Size() uint32 {
	_, n := l.Top()
	return n
}

// Top returns the index of the last slot, or None, and how many there are.
func (l *Limbo) Top() (first, n uint32) {
	taken := uint32(l.taken.Load()) // before the head, so that it counts no more
	head := l.Head.Load()           // observes (P6)
	return Low(head), Generation(head) - taken
}

// Init makes a zero Limbo ready, and Restore makes it one of n slots, of which first is the one removed last,
// to which so many were ever pushed.
func (l *Limbo) Init() { l.Restore(None, 0, 0) }

func (l *Limbo) Restore(first, n, pushed uint32) {
	l.taken.Store(uint64(pushed - n))
	l.Head.Store(Pack(pushed, first))
}

// Pushed returns how many slots were ever pushed, modulo SealEvery.
func (l *Limbo) Pushed() uint32 { return Generation(l.Head.Load()) % SealEvery }

// Unlink ends the life of slot k, which h names. What it writes already links to the top, so
// that retiring mostly needs no second store.
//
// It loads the slot's word before limbo. In the other order limbo's top might be this slot,
// one incarnation earlier, and a handle that was guessed would make the slot link to itself
// (I4). A slot that was live with h before limbo was read, and still is at the
// compare-and-swap, was not in limbo between the two.
func (l *Limbo) Unlink(k *Hook, h uint64) (seen uint64, ok bool) {
	if k.Word.Load() == h {
		seen = l.Head.Load()
		ok = k.Word.CompareAndSwap(h, Vacated(h, Low(seen)))
	}
	return seen, ok
}

// Push pushes n slots, whose first is i and whose last links to the top that was seen.
func (l *Limbo) Push(seen uint64, i, n uint32) bool {
	return l.Head.CompareAndSwap(seen, (seen>>32+uint64(n))<<32|uint64(i)) // publishes (P6)
}

// PushOne is Push for one slot, if its push is not the last before a seal; otherwise it does nothing, and
// reports false.
func (l *Limbo) PushOne(seen uint64, i uint32) bool {
	now := (seen | None) + (1 + uint64(i))
	return now&((SealEvery-1)<<32) != 0 && l.Head.CompareAndSwap(seen, now) // publishes (P6)
}

// TakeAll takes all that waits: n slots, of which first is the one removed last. The caller holds the
// shard's lock.
func (l *Limbo) TakeAll() (first, n uint32) {
	for {
		head := l.Head.Load()
		if Low(head) == None {
			return None, 0
		}
		// Failure means that another removal has pushed.
		if l.Head.CompareAndSwap(head, head|None) { // observes (P6)
			pushed := Generation(head)
			n = pushed - uint32(l.taken.Load())
			l.taken.Store(uint64(pushed))
			return Low(head), n
		}
	}
}

// Run is a range of slots that were never used, or not since their page came back: next | end.
// Its zero value is empty.
//
//	writers  Take and Cut, by compare-and-swap; Set, under the owner's lock, when it is empty
//	moves    next grows to end; then another range
type Run struct{ Word atom.Uint64 }

// Bounds returns the range: it is empty if both are equal.
func (r *Run) Bounds() (next, end uint32) {
	w := r.Word.Load()
	return min(Generation(w), Low(w)), Low(w)
}

// Left returns how many slots are left.
func (r *Run) Left() int { return length(r.Word.Load()) }

func length(w uint64) int { return max(0, int(int64(Low(w))-int64(Generation(w)))) }

// Take takes up to n slots: count of them from index first. It says whether it met another goroutine.
func (r *Run) Take(n int) (first uint32, count int, contended bool) {
	for ; ; contended = true {
		w := r.Word.Load()
		count = min(n, length(w))
		// Success gives the first slots of the range that was read, or of a later one that
		// looks the same, which is as good. Failure means that another goroutine was given
		// slots.
		if count == 0 || r.Word.CompareAndSwap(w, w+uint64(count)<<32) {
			return Generation(w), count, contended
		}
	}
}

// Cut takes the slots from lo on of the range next to end, if it still is that.
func (r *Run) Cut(next, end, lo uint32) bool {
	return r.Word.CompareAndSwap(Pack(next, end), Pack(next, lo))
}

// Set makes slots lo to hi-1 the range, which is empty.
func (r *Run) Set(lo, hi uint32) { r.Word.Store(Pack(lo, hi)) }

// Ends returns the range, lo and hi, or nothing if it is empty.
func (r *Run) Ends() []uint64 {
	lo, hi := r.Bounds()
	if lo == hi {
		return nil
	}
	return []uint64{uint64(lo), uint64(hi)}
}
