package shard

import (
	"coatcheck/epoch"
	"coatcheck/shard/slots"
)

// A removed value stays in its slot until the slot is reclaimed, mostly by a later call. In an
// idle pool there is none, and the value may keep much memory reachable. So after each cycle of
// the garbage collector, ClearExpired reclaims what has passed, as any other call does.
//
// It does nothing in an arena that replays, where the order of reuse must not depend on when the
// collector ran. There an idle pool keeps its values. The naive way zeroes them in place, and reclaims
// nothing. That takes a second lock for all that is taken out of limbo or of a backlog, and counts of how
// far each batch was visited.

// ClearExpired reclaims removed slots whose grace period is over, and so zeroes their values. There must
// be no Reset. It visits about each slot that waits when it comes to the slot's shard, however many are
// removed meanwhile. A shard whose lock another goroutine has (I12) is left to the next cycle.
//
// One scan serves all shards. It begins in a later epoch than the seals, so it tells of what they took,
// and nothing of what others seal meanwhile (L3). The wrong version makes a round in each shard: 20,000
// guards and 1,024 shards then take a goroutine of the runtime up to half a second.
func (a *Arena) ClearExpired() {
	list := a.shards()
	if a.Replays || list.pending() == 0 {
		return
	}
	for _, s := range list {
		if s.removed() > 0 && s.tryLock() {
			s.backlog.seal(s)
			s.unlock()
		}
	}
	a.Domain.EndEpoch()
	pins := a.Domain.Scan()
	for _, s := range list {
		waiting, _ := s.pending()
		for unfinished := true; unfinished && waiting > 0 && s.tryLock(); waiting -= slots.Batch { // fewer than a round visits
			var r round
			unfinished = r.runByAndUnlock(s, pins)
		}
	}
}

// runByAndUnlock is a round in s by a scan that began in a later epoch than earlier seals, and that may not speak of
// what others have sealed since. What could not be sealed before is sealed at the end, so that later guards do not
// delay it. It reports whether another round would move more at once.
func (r *round) runByAndUnlock(s *shard, pins epoch.Pins) (unfinished bool) {
	defer s.unlock()
	b := &s.backlog
	r.begin(s, nil)
	b.Learn(pins)
	b.Mix()
	r.release(b.Known())
	if !r.unfinished {
		b.seal(s)
	}
	return r.unfinished
}
