package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// How many values were ever inserted is told from the generations of slots, so no insertion counts anything. That
// is too much by the lives that were burnt, and never began. They are counted here, where lives are burnt, and
// Stats never returns less than before.

// burner burns lives of vacant slots. It counts them as unborn before the words show them (slots/lives.go),
// burnAhead at a time, so that a call that burns many counts seldom. settle takes off what was counted in
// excess.
type burner struct {
	shard *shard
	ahead int64 // counted, and not burnt yet
}

const burnAhead = slots.Batch

// burn ends the next life of vacant slot i, that with a generation, which does not begin. It returns the
// slot's word, with that link, or reports false if the life was the last: then the slot is exhausted. The
// caller owns the slot, and no other goroutine can see it.
func (b *burner) burn(slot *slots.Hook, i, generation, link uint32) (word uint64, ok bool) {
	if b.ahead == 0 {
		b.ahead = burnAhead
		b.shard.unborn.Add(b.ahead)
	}
	b.ahead--
	a := b.shard.arena
	if generation == slots.LastGeneration {
		a.Table.CountSpent()
		if slots.Poisons {
			a.Table.Unmark(slot, i)
		}
		slot.Set(slots.Pack(slots.Spent, slots.None))
		a.Clear(slot)
		a.Table.CountExhausted()
		return 0, false
	}
	word = slots.Pack(generation+1, link)
	slot.Set(word)
	return word, true
}

// settle ends what the burner does.
func (b *burner) settle() {
	if b.ahead > 0 {
		b.shard.unborn.Add(-b.ahead)
	}
}

// reported is the greatest number of insertions that was reported.
type reported struct{ n atom.Int64 }

// atLeast returns n, or what was reported before if that is more. A sum that was made beside other calls may
// be too low, but none is too high. So the result never goes down, and is exact as soon as a sum is.
func (r *reported) atLeast(n int64) int64 {
	for {
		before := r.n.Load()
		// Success proves that no greater number was reported before. Failure means that another call
		// has reported one.
		if n <= before || r.n.CompareAndSwap(before, n) {
			return max(n, before)
		}
	}
}
