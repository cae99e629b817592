package shard

import (
	"errors"
	"fmt"

	"coatcheck/internal/atom"
)

// Reasons to refuse a claim; package pool documents them.
var (
	ErrFull      = errors.New("pool: full")
	ErrStalled   = fmt.Errorf("%w: removed slots wait for a guard that is still pinned, or for a Ref", ErrFull)
	ErrExhausted = fmt.Errorf("%w: every slot has used up its generations", ErrFull)
)

// Claim finds a vacant slot for an insertion, and returns it with the handle that it will
// have. The caller owns the slot, and publishes or abandons it.
//
// It looks where it costs least: in the shard's freelist, its range, its limbo, the other
// shards, and then in new memory. It refuses only after it has looked everywhere.
func (a *Arena[T]) Claim() (*Slot[T], uint64, error) { return a.claim(a.Local()) }

func (a *Arena[T]) claim(s *shard[T]) (*Slot[T], uint64, error) {
	if slot, h := s.Pop(); slot != nil {
		return slot, h, nil
	}
	return a.claimSlow(s)
}

// claimSlow looks everywhere, until it has a slot or a reason why there is none. A failed
// search is no reason: slots move from shards that it has not searched to those that it has,
// and preempted goroutines may own many.
//
// It waits for a Trim, for reclaimers, and for look-ups that have a pin of their own. None of
// them runs user code meanwhile. Otherwise it repeats only because another insertion was
// faster.
func (a *Arena[T]) claimSlow(s *shard[T]) (*Slot[T], uint64, error) {
	for round := 0; ; round++ {
		trims := a.trims.Load()
		if slot, h := a.search(s); slot != nil {
			return slot, h, nil
		}
		if !a.settled(trims) {
			continue
		}
		slot, h, blocked := a.sweepWaiting(s)
		if slot != nil {
			return slot, h, nil
		}
		// A Trim may have begun since, and have taken slots that sweepWaiting looked for.
		if err := a.refusal(blocked); err != nil && a.settled(trims) {
			return nil, 0, err
		}
		atom.Pause(round)
	}
}

// search looks for a slot in s, in the other shards, and in new memory.
func (a *Arena[T]) search(s *shard[T]) (*Slot[T], uint64) {
	if slot, h := s.takeFresh(); slot != nil {
		return slot, h
	}
	if slot, h := s.Pop(); slot != nil { // it may have slots again
		return slot, h
	}
	if s.pending() >= Batch {
		s.reclaim(s, effortScan)
		if slot, h := s.Pop(); slot != nil {
			return slot, h
		}
	}
	ahead := s.mayGoAhead()
	for k := 1; k < len(a.shards); k++ {
		o := a.next(s, k)
		if o.list.bare() {
			continue
		}
		if ahead {
			// Do not wait for memory: another shard has a slot.
			if slot, h := a.claimNew(s, false); slot != nil {
				s.ahead.Add(1 + uint32(s.unclaimed()))
				return slot, h
			}
		}
		ahead = false
		if slot, h := o.Pop(); slot != nil {
			s.settle(Low(h), Low(h)+1)
			return slot, h
		}
	}
	if slot, h := a.sweep(s); slot != nil {
		return slot, h
	}
	if slot, h := a.claimNew(s, true); slot != nil {
		return slot, h
	}
	// Other shards may have been given the last slots.
	for k := range a.shards {
		if slot, h := a.next(s, k).takeFresh(); slot != nil {
			return slot, h
		}
	}
	return nil, 0
}

// claimNew takes a slot that was never given to a shard. It grows the arena if it must and
// may. If the arena is crowded, it first waits for reclaimers, unless wait is false: then it
// fails.
func (a *Arena[T]) claimNew(s *shard[T], wait bool) (*Slot[T], uint64) {
	for {
		if slot, h := s.refill(Batch); slot != nil {
			return slot, h
		}
		if a.crowded() {
			if !wait {
				return nil, 0
			}
			if slot, h, _ := a.sweepWaiting(s); slot != nil {
				return slot, h
			}
		}
		if !a.mayGrow() || !a.Table.grow() {
			return nil, 0
		}
	}
}

// crowded reports whether so many slots wait that growth should first wait for reclaimers.
func (a *Arena[T]) crowded() bool {
	waiting := a.Waiting()
	return waiting >= crowd && waiting >= a.Table.Resident()/2
}

// crowd is how many slots must wait for a pool to be crowded. With fewer, growth costs less
// than waiting.
const crowd = 64 * Batch

// sweep reclaims in every shard in which a batch waits, until a slot comes free for s. Its
// second round scans the pin cells, and takes from queues that keep back too much.
func (a *Arena[T]) sweep(s *shard[T]) (*Slot[T], uint64) {
	for _, e := range [...]effort{effortKnown, effortAll} {
		for k := range a.shards {
			o := a.next(s, k)
			for more := o.pending() >= Batch || e == effortAll && o.list.keepsTooMuch(); more; {
				_, more = o.reclaim(s, e)
				if slot, h := o.list.recipient(s).Pop(); slot != nil {
					return slot, h
				}
			}
		}
	}
	return nil, 0
}

// sweepWaiting reclaims all that can be reclaimed, until a slot comes free for s, and waits
// for other reclaimers. It reports whether slots are left that wait for a guard.
func (a *Arena[T]) sweepWaiting(s *shard[T]) (slot *Slot[T], h uint64, blocked bool) {
	for k := range a.shards {
		o := a.next(s, k)
		for more := o.waiting() > 0 || o.list.keepsTooMuch(); more; {
			_, more = o.reclaim(s, effortWait)
			if slot, h = o.list.recipient(s).Pop(); slot != nil {
				return slot, h, false
			}
		}
		blocked = blocked || o.blocked()
	}
	return nil, 0, blocked
}

// defaultLimbo is the least value of MaxLimbo's default.
const defaultLimbo = 1_000_000

// mayGrow reports whether limbo allows new memory. Without a bound, a pool would grow for ever
// under a forgotten guard. Pages that Trim gave up do not count as new.
func (a *Arena[T]) mayGrow() bool {
	if a.Table.Missing() > 0 {
		return true
	}
	waiting := int64(a.parked.Load())
	for i := range a.shards {
		waiting += int64(a.shards[i].waiting()) // those in Resets wait for no guard
	}
	if a.MaxLimbo > 0 {
		return waiting < a.MaxLimbo
	}
	if waiting < defaultLimbo {
		return true
	}
	// No count of live values exists. Of the slots that were handed out, those that neither
	// wait nor may be in a magazine are live: the freelists have just been found empty.
	out := int64(a.Table.Resident()) - int64(a.Table.Unused())
	return waiting < 2*(out-waiting-a.cached.Load())
}

// Waiting returns how many slots wait for their grace period, or for holds.
func (a *Arena[T]) Waiting() int {
	n := int(a.parked.Load())
	for i := range a.shards {
		n += a.shards[i].pending()
	}
	return n
}

// refusal returns why an insertion that found nothing has no slot, or nil if it must look
// again. blocked is the result of sweepWaiting.
func (a *Arena[T]) refusal(blocked bool) error {
	spent, exhausted := a.spent.Load(), a.exhausted.Load()
	if uint64(spent)+a.dummies() >= a.Slots {
		return ErrExhausted
	}
	// An exhausted slot that waits cannot hold a value, unless FIFO's reserve replaces it.
	// Every other slot that waits can, since the reserve itself is in queues and not in limbo.
	worn := int(max(0, spent-exhausted-a.reserve.Load()))
	if a.Table.Left() > 0 {
		// Limbo alone forbids new memory, so an exhausted slot that waits is in the way as well.
		// It is never ErrFull: when nothing waited, the arena could grow.
		worn = 0
	} else if a.bare(worn) && a.exhausted.Load() == exhausted { // or worn was too many
		return ErrFull
	}
	if a.Waiting() > worn && (a.parked.Load() > 0 || blocked && a.Domain.Held()) {
		return ErrStalled
	}
	return nil
}

// bare reports whether there was a moment at which no shard had a slot and none waited, except
// worn ones. It looks at every shard three times. Its result is true only if no batch was
// sealed and no magazine gave slots back meanwhile: besides Trim, nothing else fills a
// freelist. After the first look no batch is left, so no list is filled any more. After the
// second, which is the moment, all lists are empty. A slot that waited then would still wait
// in the third.
//
// Two looks are not enough. A slot enters a list behind the first look, and is taken during
// the second, just after another was removed.
func (a *Arena[T]) bare(worn int) bool {
	var seals [3]uint32
	for i := range seals {
		waiting := int(a.parked.Load())
		for k := range a.shards {
			s := &a.shards[k]
			seals[i] += s.seals.Load()
			if waiting += s.waiting(); !s.bare() {
				return false
			}
		}
		if waiting > worn {
			return false
		}
	}
	return seals[0] == seals[2] && a.Table.Unused() == 0 && a.Table.Left() == 0
}

// dummies returns how many slots the queues need for themselves: one a shard under FIFO, fewer
// if the pool was restored with fewer vacant slots than shards.
func (a *Arena[T]) dummies() (n uint64) {
	for i := range a.shards {
		n += uint64(a.shards[i].list.dummies())
	}
	return n
}
