package shard

import "coatcheck/internal/atom"

// exhaustion counts the slots of an arena that have used up their generations.
type exhaustion struct {
	// spent counts slots that have left their last generation. Those whose grace period is over
	// are exhausted (Table).
	//
	//	writers  countLast and exhaust, before the slot is pushed on limbo or dropped; skip, for the
	//	         slot's owner; RetireUnborn and countRest, in a new arena
	//	readers  spentInLimbo, refuseLocked
	//	moves    it grows; exhausted never passes a spent that is read later
	spent atom.Int64
}

// note gives slot i, which was unlinked from h, its epoch stamp, and counts the end of a last life.
func (a *Arena) note(h uint64) {
	a.stamp(Low(h))
	a.countLast(h)
}

// countLast counts the end of the life that h names if it is a slot's last.
func (a *Arena) countLast(h uint64) {
	if h >= lastLife {
		a.spent.Add(1)
	}
}

// spentInLimbo returns how many slots in limbo have used up their generations. A slot is counted in
// spent before it is pushed on limbo, so the reclaimer of its batch sees it counted.
func (a *Arena) spentInLimbo() int64 {
	exhausted := a.Table.Exhausted() // first: it never passes a spent that is read later
	return a.spent.Load() - exhausted
}

// exhaust takes a slot out of use. The caller owns the slot, and no other goroutine can see
// it.
func (a *Arena) exhaust(slot *Hook) {
	a.spent.Add(1)
	a.discard(slot)
}

// discard is exhaust for a slot that spent counts already.
func (a *Arena) discard(slot *Hook) {
	slot.set(Pack(Spent, None))
	a.Clear(slot)
	a.Table.CountExhausted()
}
