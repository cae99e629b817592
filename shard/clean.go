package shard

import "coatcheck/internal/cost"

// What is done to a slot between two lives.

// plain reports whether a slot is ready for its next life as it is.
func (l *Layout) plain() bool { return !l.Pointers && l.Reset == nil }

// Blank zeroes a claimed slot that reclaiming did not zero. If T has no pointers, that matters
// only where user code reads the value before it writes it.
func (l *Layout) Blank(slot *Hook) {
	if l.plain() {
		l.Clear(slot)
	}
}

// Blank is Layout.Blank for a caller that knows T, which saves a call.
func Blank[T any](l *Layout, slot *Hook) {
	if l.plain() {
		clear1(ValueOf[T](slot))
	}
}

// recycle makes a slot ready for its next life, after its grace period. It returns its word, and
// reports false if the slot has no other life, or is held.
func (a *Arena) recycle(slot *Hook, i uint32, word uint64, held bool) (now uint64, ok bool) {
	now, owned, reusable := a.finishGrace(slot, i, word, held)
	if owned && (a.Pointers || !reusable) {
		a.Clear(slot)
	}
	if poisons && owned && reusable {
		a.fill(slot)
	}
	return now, owned && reusable
}

// renewAll makes the slots of an array ready for their next life, which each of them has. It returns
// how many there are.
func (a *Arena) renewAll(b *array) int {
	t := a.Table.Pages()
	cost.Slots(int(b.n))
	for _, i := range b.slots[:b.n] {
		if a.Pointers {
			a.Clear(t.At(i))
		}
		if poisons {
			a.fill(t.At(i))
		}
	}
	return int(b.n)
}

// finishGrace reports whether a slot whose grace period is over is the caller's, or else parked,
// and whether it has another life. If it has none, and is the caller's, it is exhausted from now
// on. It returns the word of a slot that is the caller's.
func (a *Arena) finishGrace(slot *Hook, i uint32, word uint64, held bool) (now uint64, owned, reusable bool) {
	if held && a.park(a.Table.Pages(), i) {
		return word, false, false
	}
	word = a.skip(slot, i, word)
	if Generation(word) == Spent {
		slot.set(Pack(Spent, None))
		a.Table.CountExhausted()
		return word, true, false
	}
	return word, true, true
}

// clean makes a slot ready for its next life, after its grace period. The caller owns the
// slot, and must expect a Reset that panics or exits.
func (a *Arena) clean(slot *Hook, i uint32) {
	if a.Table.unmarkMoved(i) {
		a.Clear(slot)
		return
	}
	returned := false
	defer func() {
		if !returned {
			a.Clear(slot)
		}
	}()
	a.Reset(slot)
	returned = true
}
