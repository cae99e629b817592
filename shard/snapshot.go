package shard

import "coatcheck/shard/slots"

// A snapshot reads what a pool's slots are while others use them, and a restored pool's lists
// are built from that.
//
// A slot's generation says all that a snapshot must know. If it is odd, the slot is live with
// it. If it is even, no handle beyond the next odd generation was ever issued, because a
// slot's owner has the handle of the very next life (I2). So a restored vacant slot burns that
// one life, whether it was in a freelist, in limbo, or with a Worker, a Reservation or a Ref.
//
// From Load on, the methods are for the goroutine that builds a pool which no other has seen.
// Their stores are atomic only because the words are.

// BesideSlot is how many bytes a restored slot may take beside its memory: a stamp, and what it
// skips. Each 64 slots take 4 bytes more.
const BesideSlot = 8

// RestoreSlot gives a generation to slot i, which was handed out. A live slot already has its
// value.
func (a *Arena) RestoreSlot(i, generation uint32) {
	slot := a.Table.Slot(i)
	if generation%2 == 1 {
		slot.Publish(slots.Pack(generation, i))
		return
	}
	a.Clear(slot)
	slot.Set(slots.Pack(generation, slots.None))
}

// Outlive makes sure that no handle is issued again of slot i, which the arena leaves out, and which the
// original had with a generation. If slots are exhausted, slots with new indexes take their place, and
// perhaps this one. So slots that were never used begin after it, by so many lives and one more. If it
// has none left, there will be no slot with its index or a greater one.
//
// The wrong version forgets what the arena has no slot for, since no handle is live there now.
func (a *Arena) Outlive(i, generation, lives uint32) {
	g := later(generation+generation%2, 1+lives)
	if g == slots.Spent {
		a.Slots = min(a.Slots, uint64(i))
		a.Table.Restrict(a.Slots)
		return
	}
	a.FreshGeneration = max(a.FreshGeneration, g+1)
	a.Table.BeginAt(a.FreshGeneration)
}

// Census counts the slots that were handed out.
type Census struct{ Live, vacant, exhausted uint64 }

// RetireUnborn ends the next lives of each vacant slot: so many, and those that the slot must
// skip besides. It ends one at least, because another goroutine may have been promised the next
// life. Live slots skip so many when they are reclaimed. A slot without another life is
// exhausted. It returns the counts of the slots.
func (a *Arena) RetireUnborn(lives uint32) (c Census) {
	skips := a.skips.Load()
	for i := range uint32(a.Table.Allocated()) {
		slot := a.Table.Slot(i)
		g := slots.Generation(slot.Word.Load())
		if g%2 == 1 {
			c.Live++
			if lives > 0 {
				skips = a.makeSkips()
				skips.add(i, lives)
			}
			continue
		}
		n := max(1, skips.take(i)+lives)
		if g = later(g, n); g == slots.Spent {
			c.exhausted++
		} else {
			c.vacant++
		}
		slot.Set(slots.Pack(g, slots.None))
	}
	if skips != nil && skips.left.Load() == 0 {
		a.skips.Store(nil)
	}
	a.Table.RestoreSpent(c.exhausted, 0)
	return c
}

// FillFreelists puts the vacant slots on the shards' freelists, in equal parts. c is the result of
// RetireUnborn.
func (a *Arena) FillFreelists(c Census) {
	receivers := a.shards()
	n := uint64(len(receivers))
	i := uint32(0)
	for k, s := range receivers {
		var list slots.Chain
		for range c.vacant*uint64(k+1)/n - c.vacant*uint64(k)/n {
			i = a.Table.NextVacant(i)
			slot := a.Table.Slot(i)
			list.Append(slot, i, slot.Word.Load())
			i++
		}
		s.free.Push(&list)
	}
	a.Preallocate()
}
