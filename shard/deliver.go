package shard

// delivery gathers slots that were visited for the freelists that get them.
type delivery[T any] struct {
	from  *shard[T]
	home  *shard[T] // gets the slots of which it is the home, or all
	sorts bool      // slots with another home stay in from
	clean chain[T]
	stays chain[T]
}

// send decides which shard gets the slots, of which i is the first: to, or their home. The
// first call decides for all.
func (d *delivery[T]) send(to *shard[T], i uint32) {
	switch {
	case d.home != nil:
	case d.from.fifo:
		d.home = d.from
	case to != nil:
		d.home = to
	default:
		d.home = d.from.home(i)
		d.sorts = d.home != d.from
	}
}

// add notes a slot that is ready for its next life.
func (d *delivery[T]) add(slot *Slot[T], i uint32, word uint64) {
	if d.sorts && d.from.home(i) != d.home {
		d.stays.append(slot, i, word)
	} else {
		d.clean.append(slot, i, word)
	}
}

// deliver makes vacant for all what was gathered. Slots for a queue come behind those that are
// ready. The caller holds the lock of from.
func (d *delivery[T]) deliver() {
	s := d.from
	switch {
	case d.clean.n+d.stays.n == 0:
	case s.fifo:
		d.clean.link(None)
		if len(s.ready) == 0 {
			s.ready = append(s.ready, chain[T]{})
		}
		s.ready[0].concat(&d.clean)
		s.fill(nil)
	default:
		d.home.push(&d.clean)
		s.push(&d.stays)
	}
}

// recycle makes a slot ready for its next life, after its grace period. It reports false if
// the slot has none, or is held.
func (a *Arena[T]) recycle(slot *Slot[T], i uint32, word uint64, held bool) bool {
	mine, fit := a.getBack(slot, i, word, held)
	if mine && (a.Pointers || !fit) {
		clear1(&slot.Value)
	}
	if poisons && mine && fit {
		a.fill(slot)
	}
	return mine && fit
}

// getBack reports whether a slot whose grace period is over is the caller's, or else parked,
// and whether it has another life. If not, it counts as exhausted from now on.
func (a *Arena[T]) getBack(slot *Slot[T], i uint32, word uint64, held bool) (mine, fit bool) {
	if fit = Generation(word) != Spent; !fit {
		slot.set(Pack(Spent, None))
		a.exhausted.Add(1)
	}
	return !held || !a.park(i, !fit), fit
}
