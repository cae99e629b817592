package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Claim finds a vacant slot for an insertion, and returns it with the handle that it will have.
// The caller then owns the slot, and must publish or abandon it.
//
// Claim searches where it costs least. First come the shard's freelist, range and limbo, then the
// others' freelists. Then come memory that belongs to no shard, the others' limbo and new memory.
// It waits for locks only to add a page, and before that if half of the slots wait. If it finds
// nothing, it searches once more, under all locks, and may then refuse (refuse.go).
//
//go:nosplit
func (a *Arena) Claim(frame uintptr) (*Hook, uint64, error) {
	s := a.Local(hint.Of(frame))
	switch slot, h, ok := s.free.pop(&a.Table); {
	case !ok:
		s.contend()
	case slot != nil:
		return slot, h, nil
	}
	return s.claim()
}

// claim is claimSlow for a call that has found no slot in the freelist, and that is over if it is
// refused.
func (s *shard) claim() (*Hook, uint64, error) {
	if slot, h := s.takeFresh(); slot != nil {
		return slot, h, nil
	}
	slot, h, err := s.claimSlow()
	return slot, h, s.arena.refusals.count(err)
}

// claimSlow repeats only because another insertion was faster, because it has called Resets, or
// because a look-up's own pin is in the way, which ends by itself.
func (s *shard) claimSlow() (*Hook, uint64, error) {
	a := s.arena
	for round := 0; ; round++ {
		if slot, h := s.claimUnlocked(); slot != nil {
			return slot, h, nil
		}
		// The addition has full order: what decides after it sees that the caller's own guards
		// have ended, whose last stores may still be on their way.
		d := s.claimLocked(a.verdicts.number.Add(0))
		if d.slot != nil || d.err != nil {
			return d.slot, d.h, d.err
		}
		switch {
		case d.grow:
			a.Table.grow(true)
		case d.resets.n > 0:
			d.resets.run()
		default:
			atom.Pause(round)
		}
	}
}

// claimUnlocked looks for a slot in s, in the other shards, and in new memory.
func (s *shard) claimUnlocked() (*Hook, uint64) {
	a := s.arena
	if slot, h := s.popOrFresh(); slot != nil {
		return slot, h
	}
	scans := s.scans()
	enough, own := Batch, Batch
	if a.Table.Left() == 0 {
		enough = 1 // there is no new memory to be had
		if s.searches.Add(1)%othersFirst != 0 {
			own = enough
		}
	}
	if slot, h := s.reclaimFrom(s, own, &scans); slot != nil {
		return slot, h
	}
	ahead := s.mayGoAhead()
	for k := 1; k < len(a.shards()); k++ {
		o := s.next(k)
		if o.free.empty() {
			continue
		}
		if ahead {
			// Do not wait for memory: another shard has a slot.
			if slot, h := s.claimFresh(false); slot != nil {
				took := 1 + uint32(s.fresh.left())
				if s.fifo {
					took = a.Table.Pages().Beside(Low(h), None) // it goes on with the rest of the page
				}
				s.ahead.Add(took)
				return slot, h
			}
		}
		ahead = false
		if slot, h := o.pop(); slot != nil {
			s.setHome(Low(h), Low(h)+1)
			return slot, h
		}
	}
	// Slots that have memory come first: others' limbo may wait for a guard, and a look at all
	// shards would find that each time.
	if slot, h := s.allocRange(Batch); slot != nil {
		return slot, h
	}
	for k := range a.shards() { // in s too, which has less than a batch
		if slot, h := s.reclaimFrom(s.next(k), enough, &scans); slot != nil {
			return slot, h
		}
	}
	if slot, h := s.claimFresh(true); slot != nil {
		return slot, h
	}
	// Other shards may have been given the last slots.
	for k := 1; k < len(a.shards()); k++ {
		if slot, h := s.next(k).takeFresh(); slot != nil {
			return slot, h
		}
	}
	return nil, 0
}

// popOrFresh takes a slot from the shard's freelist or from its range.
func (s *shard) popOrFresh() (*Hook, uint64) {
	if slot, h := s.pop(); slot != nil {
		return slot, h
	}
	return s.takeFresh()
}

const (
	freeCells  = 4 * Batch // so many pin cells a search may visit for nothing, in each shard
	cellsASlot = 64        // so many more it pays for: some 50 ns
)

// scans returns how many times a search for a slot may scan the pin cells. If there are thousands
// of guards, that is once in many searches, as removals make a scan once in many (reclaimPast).
// The others go on to other shards and to new memory. A scan in each would take a hundred times
// as long as the insertion does. An insertion that would be refused scans whatever it costs.
func (s *shard) scans() int {
	cells := uint32(s.arena.scanned())
	if cells <= freeCells {
		return len(s.arena.shards()) + 1
	}
	if c := s.credit.Load() + cellsASlot; c < cells {
		s.credit.Store(c) // an addition that is lost delays a scan
		return 0
	}
	s.credit.Store(0)
	return 1
}

// reclaimFrom reclaims in o for s if o has slots that are ready, or at least n that wait and a scan
// is left. It returns a slot that came free, if there is one.
func (s *shard) reclaimFrom(o *shard, n int, scans *int) (*Hook, uint64) {
	waiting, ready := o.pending()
	if ready == 0 && waiting < n || !o.tryLock() {
		return nil, 0
	}
	if *scans > 0 {
		*scans--
		o.reclaimAndUnlock(s, o.fill())
	} else {
		o.refill(s)
		o.unlock()
	}
	return o.recipient(s).pop()
}

// recipient returns the shard whose freelist gets what is reclaimed in o for to, if that is not
// nil.
func (o *shard) recipient(to *shard) *shard {
	if o.fifo || to == nil {
		return o
	}
	return to
}

// claimFresh takes a slot that was never given to a shard. It grows the arena if it must and
// may. If the backlog is long, it reclaims first. Unless wait is true, it fails where it would
// wait for a lock, or reclaim.
func (s *shard) claimFresh(wait bool) (*Hook, uint64) {
	a := s.arena
	for {
		if slot, h := s.allocRange(Batch); slot != nil {
			return slot, h
		}
		if a.Table.Left() == 0 {
			return nil, 0
		}
		if !wait && uint64(a.Table.Resident())*uint64(a.Size) < aheadBytes {
			return nil, 0 // a small pool does not grow while another shard has a slot
		}
		waiting := a.Waiting()
		if waiting >= backlogLimit && waiting >= a.Table.Resident()/2 {
			if !wait {
				return nil, 0
			}
			if slot, h := s.reclaimAll(); slot != nil {
				return slot, h
			}
		}
		if !a.mayGrow(int64(waiting)) || !a.Table.grow(wait) {
			return nil, 0
		}
	}
}

// backlogLimit is how many slots must wait for growth to wait for locks first, if they are half
// of the pool. With fewer, growth costs less than waiting.
const backlogLimit = 64 * Batch

// reclaimAll reclaims in every shard until a slot comes free for s.
func (s *shard) reclaimAll() (*Hook, uint64) {
	for k := range s.arena.shards() {
		o := s.next(k)
		for more := o.due(); more; {
			more = o.reclaim(s)
			if slot, h := o.recipient(s).pop(); slot != nil {
				return slot, h
			}
		}
	}
	return nil, 0
}

// mayGrow reports whether new memory is allowed while so many slots wait. Without a bound, a
// pool would grow without end under a forgotten guard.
func (a *Arena) mayGrow(waiting int64) bool {
	// No count of live values exists. Of the slots that were handed out, those that neither
	// wait nor may be in a magazine are live: the freelists have just been found empty.
	out := int64(a.Table.Resident()) - int64(a.Table.Unused())
	return waiting < a.limboLimit(out-waiting-a.magazines.reach.Load())
}
