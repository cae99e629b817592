package shard

import (
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// recycler does what happens to slots between two lives, when their grace period is over: to those of a
// round, of a run of Resets, or of a magazine's bag. Their owner makes one when it has the slots. A slot
// goes through all of it, or is one of those for which keepsAll says that some of it does nothing:
//
//	passed ─▶ parked, if it is held ─▶ exhausted, if it has no other life ─▶ zeroed, or Reset
type recycler struct {
	arena     *Arena
	asksHolds bool // each slot must be asked whether it is held
}

// recycler returns one for slots that were unlinked before.
func (a *Arena) recycler() recycler { return recycler{a, a.refs.Load() != 0} } // observes (P7)

// keepsAll reports whether each slot has another life, and none is held.
func (c *recycler) keepsAll() bool {
	_, ending := c.arena.Table.Spent()
	return ending == 0 && !c.asksHolds
}

// takeKept takes the first slots of a chain, up to limit of them, that have another life and are not held.
func (c *recycler) takeKept(chain *slots.Chain, limit int) slots.Chain {
	return chain.TakeKept(c.arena.Table.Pages(), uint32(limit), c.asksHolds)
}

// renewsNone reports whether no value must be made ready for another life.
func (c *recycler) renewsNone() bool { return !slots.Poisons && c.arena.Plain() }

// slot makes a slot ready for its next life. It returns its word, and reports false if the slot has no
// other life, or is held. There is no Reset.
func (c *recycler) slot(slot *slots.Hook, i uint32, word uint64) (now uint64, ok bool) {
	now, owned, ok := c.next(slot, i, word)
	if owned && (c.arena.Pointers || !ok) {
		c.arena.Clear(slot)
	}
	if slots.Poisons && ok {
		c.arena.Table.MarkVacant(slot, i)
	}
	return now, ok
}

// bag is slot for those of a magazine's bag. It returns those that are ready, in the same array.
func (c *recycler) bag(entries []slots.Cached) []slots.Cached {
	a := c.arena
	cost.Slots(len(entries))
	if c.asksHolds && !slots.NoneIsHeld(a.Table.Pages(), entries) {
		entries = c.left(entries)
	}
	if a.Pointers {
		a.Clean(entries)
	}
	if slots.Poisons {
		for i := range entries {
			a.Table.MarkVacant(entries[i].Slot(), slots.Low(entries[i].H))
		}
	}
	return entries
}

// left returns those of a bag's slots that are not held. All have another life, or Remove had passed them on.
func (c *recycler) left(entries []slots.Cached) []slots.Cached {
	left := entries[:0]
	for _, k := range entries {
		if !c.arena.park(c.arena.Table.Pages(), slots.Low(k.H)) {
			left = append(left, k)
		}
	}
	return left
}

// reset calls Reset for a slot that is the caller's, which must expect that it panics or exits. A value
// that was moved out is zeroed, and so is a slot without another life, or whose Reset does not return.
func (c *recycler) reset(slot *slots.Hook, i uint32, reusable bool) {
	a := c.arena
	if slots.Poisons && reusable {
		defer a.Table.MarkVacant(slot, i) // whether or not Reset returns
	}
	if a.Table.UnmarkMoved(i) {
		a.Clear(slot)
		return
	}
	returned := false
	defer func() {
		if !returned || !reusable {
			a.Clear(slot)
		}
	}()
	a.Reset(slot)
	returned = true
}

// next reports whether a slot is the caller's, or else parked, and whether it has another life. If it
// has none, and is the caller's, it is exhausted from now on. It returns the word of a slot that is the
// caller's.
//
// The wrong version exhausts a slot before it asks for holders. Then nobody calls its Reset after the last Drop, and
// its memory keeps what the value refers to.
func (c *recycler) next(slot *slots.Hook, i uint32, word uint64) (now uint64, owned, reusable bool) {
	a := c.arena
	if c.asksHolds && a.park(a.Table.Pages(), i) {
		return word, false, false
	}
	if slots.Generation(word) == slots.Spent {
		slot.Set(slots.Pack(slots.Spent, slots.None))
		a.Table.CountExhausted()
		return word, true, false
	}
	return word, true, true
}

// With a Reset, reclaiming calls user code. It may use the pool in any way, take long, panic
// or exit. So it runs under no lock, on slots that were taken out of their batch before. They
// count as the caller's. What it leaves undone goes back to the backlog, with the stamps that
// it had.

// resets is a run of slots of one batch, for which one goroutine calls Reset.
type resets struct {
	source, target *shard
	n              uint32               // how many slots the run has
	left           slots.Stamped[batch] // those that are left
}

// take takes as many slots out of what has passed as a run may have. In a bounded pool a run is short,
// so that an insertion finds one of the others. It takes none if the shard has as many runs as it may have.
func (r *resets) take(m *round) {
	s := m.source
	if run := s.backlog.stepRun(min(s.arena.mostOwned, resetRun)); run.Body.N > 0 {
		r.source, r.target, r.n, r.left = s, m.target, run.Body.N, run
		m.moved = true
	}
}

// call calls Reset for the slots of r, and delivers them. If a Reset does not return, its slot
// is zeroed and free, and those after it wait again.
func (r *resets) call() {
	s, a := r.source, r.source.arena
	d := delivery{source: s}
	d.send(r.target, slots.Low(r.left.Body.First))
	defer func() {
		s.lock()
		defer s.unlock()
		r.end()
		d.deliver()
		if r.target != nil {
			s.refill(r.target)
		}
		a.waiters.wake()
	}()
	c := a.recycler()
	for r.left.Body.N > 0 {
		slot, i, word := r.left.Body.TakeFirst(&a.Table)
		word, owned, reusable := c.next(slot, i, word)
		if !owned {
			continue
		}
		if reusable {
			d.add(slot, i, word) // before the Reset, which may not return
		}
		c.reset(slot, i, reusable)
	}
}

// end puts back what is left, and ends the run, under the lock.
func (r *resets) end() {
	r.source.backlog.endRun(r.n, r.left)
}
