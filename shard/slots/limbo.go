package slots

import "coatcheck/internal/atom"

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
