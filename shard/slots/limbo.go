package slots

import "coatcheck/internal/atom"

// In limbo removed slots wait for their grace period. It is a stack that is only pushed to and
// taken whole, so its head needs no tag. The head counts the slots, at no cost, since each
// push writes it. So a remover knows when enough slots wait for a seal.

// Limbo is how many slots there are, and the index of the last.
//
//	writers  Push and PushOne, by compare-and-swap; TakeAll, by a swap; the goroutine that restores
//	         an arena
//	readers  Unlink, for the link that it writes
//	moves    nothing is popped, so there is no ABA: a push that succeeds found the top that it
//	         linked to
//	orders   the push publishes the unlinking to seal (P6)
type Limbo struct{ Head atom.Uint64 }

// Size returns how many slots there are.
func (l *Limbo) Size() uint32 { return Generation(l.Head.Load()) }

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

// PushOne is Push for one slot, if that does not complete a batch; otherwise it does nothing, and
// reports false.
func (l *Limbo) PushOne(seen uint64, i uint32) bool {
	now := (seen | None) + (1 + uint64(i))
	return now&((Batch-1)<<32) != 0 && l.Head.CompareAndSwap(seen, now) // publishes (P6)
}

// TakeAll takes all that waits, and returns the head.
func (l *Limbo) TakeAll() uint64 {
	if Low(l.Head.Load()) == None {
		return EmptyList
	}
	return l.Head.Swap(EmptyList) // observes (P6)
}
