package shard

import (
	"math"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
	"coatcheck/shard/slots"
)

// Claim finds a vacant slot for an insertion, and returns it with the handle that it will have.
// The caller then owns the slot, and must publish or abandon it.
//
// Claim searches where it costs least. First come the shard's freelist, range and limbo, then the
// others' freelists, and what is ready there. Then come memory that belongs to no shard, and the
// others' limbo. If it finds nothing, it searches once more, under all locks, and then takes a slot,
// adds a page, or refuses (refuse.go).
//
//go:nosplit
func (a *Arena) Claim(frame uintptr) (*slots.Hook, uint64, error) {
	s := a.Local(hint.Of(frame))
	if slots.Poisons {
		reclaimAtOnce(a)
	}
	switch slot, h, ok := s.free.Pop(&a.Table); {
	case !ok:
		s.contend()
	case slot != nil:
		return slot, h, nil
	}
	return s.claim()
}

// claim tries the fresh range and then claimSlow. It counts a refusal, so it is called once for each
// insertion.
func (s *shard) claim() (*slots.Hook, uint64, error) {
	if slot, h := s.takeFresh(); slot != nil {
		return slot, h, nil
	}
	slot, h, err := s.claimSlow()
	if err != nil {
		s.arena.refusals.count(err)
	}
	return slot, h, err
}

// claimSlow repeats only because another insertion was faster, because the arena has grown, because it
// has called Resets, or because a look-up's own pin is in the way, which ends by itself.
func (s *shard) claimSlow() (*slots.Hook, uint64, error) {
	a := s.arena
	for round := 0; ; round++ {
		if slot, h := s.claimUnlocked(); slot != nil {
			return slot, h, nil
		}
		// The addition has full order: what decides after it sees that the caller's own guards
		// have ended, whose last stores may still be on their way.
		d := s.claimLocked(a.verdicts.number.Add(0))
		switch {
		case d.slot != nil || d.err != nil:
			return d.slot, d.h, d.err
		case d.grow:
			a.Table.Grow(d.changes)
			if slot, h := s.allocRange(slots.Batch); slot != nil {
				return slot, h, nil
			}
		case d.resets.n > 0:
			d.resets.call()
		default:
			atom.Pause(round)
		}
	}
}

// claimUnlocked looks for a slot in s, in the other shards, and in memory that belongs to none. The caller has
// found no slot in the freelist and in the range of s, so what waits comes first; of a queue, what was never used.
func (s *shard) claimUnlocked() (*slots.Hook, uint64) {
	a := s.arena
	if s.unworn.Load() != 0 {
		if slot, h := s.pop(); slot != nil {
			return slot, h
		}
	}
	minOthers, minOwn := slots.Batch, slots.Batch
	if a.Table.Left() == 0 {
		minOthers = 1 // there is no new memory to be had
		if s.searches.Add(1)%othersFirst != 0 {
			minOwn = minOthers
		}
	}
	if slot, h := s.reclaimFrom(s, minOwn); slot != nil {
		return slot, h
	}
	if slot, h := s.pop(); slot != nil {
		return slot, h
	}
	if slot, h := s.takeFresh(); slot != nil {
		return slot, h
	}
	if slots.Poisons && a.Table.Left() == 0 {
		if slot, h := a.quarantine.take(&a.Table); slot != nil {
			return slot, h
		}
	}
	ahead := s.mayGoAhead()
	for k := 1; k < len(a.shards()); k++ {
		o := s.next(k)
		if o.free.Empty() && !o.hasReady() {
			continue
		}
		if ahead {
			if slot, h := s.claimAhead(); slot != nil {
				took := 1 + uint32(s.fresh.Left())
				if s.fifo {
					took = a.Table.Pages().Beside(slots.Low(h), slots.None) // it goes on with the rest of the page
				}
				s.ahead.Add(took)
				return slot, h
			}
		}
		ahead = false
		if o.free.Empty() && o.tryLock() {
			o.refill(nil)
			o.unlock()
		}
		if slot, h := o.pop(); slot != nil {
			s.setHome(slots.Low(h), slots.Low(h)+1)
			return slot, h
		}
	}
	// Slots that have memory come first: others' limbo may wait for a guard, and a look at all
	// shards would find that each time.
	if slot, h := s.allocRange(slots.Batch); slot != nil {
		return slot, h
	}
	begin := 1
	if minOthers < minOwn {
		begin = 0 // in s too, which has less than a batch
	}
	for k := begin; k < len(a.shards()); k++ {
		if slot, h := s.reclaimFrom(s.next(k), minOthers); slot != nil {
			return slot, h
		}
	}
	if a.Table.Left() > 0 {
		return nil, 0 // a page may be added
	}
	// Other shards have been given the last slots.
	for k := 1; k < len(a.shards()); k++ {
		if slot, h := s.next(k).takeFresh(); slot != nil {
			return slot, h
		}
	}
	return nil, 0
}

// reclaimFrom reclaims in o for s if o has slots that are ready, or at least n that wait. It returns a slot that
// came free, if there is one.
func (s *shard) reclaimFrom(o *shard, n int) (*slots.Hook, uint64) {
	waiting, ready := o.pending()
	if ready == 0 && (waiting < n || slots.Poisons && o.backlog.reclaimsAtOnce()) || !o.tryLock() {
		return nil, 0
	}
	o.reclaimAndUnlock(s)
	return o.recipient(s).pop()
}

// claimAhead takes a slot that was never given to a shard, while other shards have some. It grows the
// arena for that by a little at most (mayGoAhead), and fails where it would wait for a lock.
func (s *shard) claimAhead() (*slots.Hook, uint64) {
	a := s.arena
	for {
		changes := a.Table.Changes() // before the look
		if slot, h := s.allocRange(slots.Batch); slot != nil {
			return slot, h
		}
		if uint64(a.Table.Resident())*uint64(a.Size) < aheadBytes {
			return nil, 0 // a small pool does not grow while another shard has a slot
		}
		if !a.mayGrow(int64(a.Waiting())) || !a.Table.GrowAhead(changes, a.slack()) {
			return nil, 0
		}
	}
}

// slack is how many vacant slots the arena may have when it grows. With one batch in the range of each
// shard, and another in its limbo, shards mostly need no slots of others. If they have fewer, they
// take slots from each other, or search under all locks, again and again.
func (a *Arena) slack() int { return 2 * slots.Batch * len(a.shards()) }

// mayGrow reports whether new memory is allowed while so many slots wait. Without a bound, a
// pool would grow without end under a forgotten guard.
func (a *Arena) mayGrow(waiting int64) bool {
	// No count of live values exists. Of the slots that were handed out, those that neither wait nor may be in a
	// magazine are live, where the freelists have just been found empty. Elsewhere slots that are ready count too.
	handedOut := int64(a.Table.Resident()) - int64(a.Table.Unused())
	return waiting < a.limboLimit(handedOut-waiting-a.magazines.reach.Load())
}

// Insert stores v in the first slot of the freelist to which a frame's hint leads, makes it live
// and returns its handle. If it finds none at once, it claims one. It costs one locked
// instruction on amd64. It is Pop, spelt out for T.
//
// Insert loads the table after the top. If the slot stays in the list from then on, that table
// shows its memory and the next slot's. If not, the compare-and-swap fails, and the link may lead
// out of the table. An older table might show a page that was decommitted and has come back.
func Insert[T any](a *Arena, frame uintptr, v T) (uint64, error) {
	buckets, i := a.inserter(frame)
	if buckets == nil {
		return insertApart(a, v)
	}
	s := bucketOf(buckets, i).shard.Load() // observes (P9)
	// Observes (P3), and then (P2).
	if top, t := s.free.Head.Load(), a.Table.Current.Load(); slots.Low(top) < t.Limit {
		array, inverse, mask, limit := t.Array, t.Inverse, t.Mask, t.Limit
		slot := slots.SlotAt[T](array, inverse, mask, limit, slots.Low(top))
		remainder := slots.EmptyList
		if next := slots.Low(slot.Word.Load()); next < limit {
			remainder = slots.Pack(slots.Generation(slots.SlotAt[T](array, inverse, mask, limit, next).Word.Load()), next)
		}
		// Success proves that slot i never left the list since top was read, so remainder is what
		// lies below it. Failure means that another pop or a push succeeded.
		if s.free.Head.CompareAndSwap(top, remainder) {
			slot.Value = v
			return slot.Publish(top + slots.GenerationStep), nil
		}
		s.contend()
	}
	return insertSlow(a, s, v)
}

func insertSlow[T any](a *Arena, s *shard, v T) (uint64, error) {
	k, h, err := s.claim()
	if err != nil {
		return 0, err
	}
	*slots.ValueOf[T](k) = v
	return k.Publish(h), nil
}

// pop takes a slot as Insert does, and returns it with the handle that it will have, or nil. The
// caller owns the slot.
func (s *shard) pop() (*slots.Hook, uint64) {
	if s.unworn.Load() != 0 {
		if slot, h := s.takeNeverUsed(); slot != nil {
			return slot, h
		}
	}
	return s.popFree()
}

// popFree takes the first slot of the freelist, or returns nil.
func (s *shard) popFree() (*slots.Hook, uint64) {
	for {
		if slot, h, ok := s.free.Pop(&s.arena.Table); ok {
			return slot, h
		}
		s.contend()
	}
}

// takeNeverUsed takes a slot that was never used, under FIFO, so that all slots wear evenly. With a
// Capacity it uses all that before it uses one again; without, all that has memory.
//
// If too many slots wait for the arena to grow, most may have passed: they are made ready first. The wrong
// version asks limbo alone. A MaxLimbo below a batch then stops all growth, without any guard.
func (s *shard) takeNeverUsed() (*slots.Hook, uint64) {
	a := s.arena
	for least := math.MaxInt; ; {
		changes := a.Table.Changes() // before the look
		if slot, h := s.takeFresh(); slot != nil {
			return slot, h
		}
		if slot, h := s.allocRange(slots.Batch); slot != nil {
			return slot, h
		}
		if a.Capacity == 0 || a.Table.Left() == 0 {
			break
		}
		waiting := a.Waiting()
		if a.mayGrow(int64(waiting)) {
			a.Table.Grow(changes)
			continue
		}
		if waiting >= least || !s.tryLock() {
			break
		}
		least = waiting // it must become less each time
		if s.reclaimAndUnlock(s); a.Reset != nil {
			least = 0 // no other run of Resets in this call
		}
	}
	s.unworn.Store(0)
	for k := 1; k < len(a.shards()); k++ {
		if slot, h := s.next(k).takeFresh(); slot != nil {
			s.unworn.Store(1)
			return slot, h
		}
	}
	if s.tryLock() {
		s.refill(s)
		s.unlock()
	}
	return nil, 0
}

// popMany takes as many slots as dst has room for, or all. It puts them into dst, the first one
// last, and returns how many there are.
func (s *shard) popMany(dst []slots.Cached) int {
	for {
		if n, ok := s.free.PopMany(&s.arena.Table, dst); ok {
			return n
		}
		s.contend()
	}
}
