package shard

import (
	"errors"
	"fmt"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
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
// It looks where it costs least: in the shard's freelist, its range, its limbo, the others'
// freelists, what has memory and is no shard's, the others' limbo, and then in new memory. It
// waits for locks only to add a page, and before that if half of the slots wait. If it finds
// nothing, decide looks once more, under all locks.
func (a *Arena[T]) Claim(frame uintptr) (*Slot[T], uint64, error) {
	s := a.Local(hint.Of(frame))
	if slot, h := s.Pop(); slot != nil {
		return slot, h, nil
	}
	return a.claim(s)
}

// claim is seek for a call that is over if it is refused.
func (a *Arena[T]) claim(s *shard[T]) (*Slot[T], uint64, error) {
	slot, h, err := a.seek(s)
	return slot, h, a.counted(err)
}

// seek repeats only because another insertion was faster, because it has called Resets, or
// because a look-up's own pin is in the way, which ends by itself.
func (a *Arena[T]) seek(s *shard[T]) (*Slot[T], uint64, error) {
	for round := 0; ; round++ {
		if slot, h := a.search(s); slot != nil {
			return slot, h, nil
		}
		// The addition has full order: what decides after it sees that the caller's own guards
		// have ended, whose last stores may still be on their way.
		d := a.decide(s, a.decisions.Add(0))
		if d.slot != nil || d.err != nil {
			return d.slot, d.h, d.err
		}
		switch {
		case d.grow:
			a.Table.grow()
		case d.resets.n > 0:
			d.resets.run()
		default:
			atom.Pause(round)
		}
	}
}

// search looks for a slot in s, in the other shards, and in new memory.
func (a *Arena[T]) search(s *shard[T]) (*Slot[T], uint64) {
	if slot, h := s.take(); slot != nil {
		return slot, h
	}
	enough, own := Batch, Batch
	if a.Table.Left() == 0 {
		enough = 1 // there is no new memory to be had
		if s.searches.Add(1)%othersFirst != 0 {
			own = enough
		}
	}
	if slot, h := a.reclaimIn(s, s, own); slot != nil {
		return slot, h
	}
	ahead := s.mayGoAhead()
	for k := 1; k < len(a.shards); k++ {
		o := a.next(s, k)
		if o.free.Load() == emptyList {
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
			s.setHome(Low(h), Low(h)+1)
			return slot, h
		}
	}
	// Slots that have memory come first: others' limbo may wait for a guard, and a look at all
	// shards would find that each time.
	if slot, h := s.refill(Batch); slot != nil {
		return slot, h
	}
	for k := range a.shards { // in s too, which has less than a batch
		if slot, h := a.reclaimIn(a.next(s, k), s, enough); slot != nil {
			return slot, h
		}
	}
	if slot, h := a.claimNew(s, true); slot != nil {
		return slot, h
	}
	// Other shards may have been given the last slots.
	for k := 1; k < len(a.shards); k++ {
		if slot, h := a.next(s, k).takeFresh(); slot != nil {
			return slot, h
		}
	}
	return nil, 0
}

// take takes a slot from the shard's freelist or from its range.
func (s *shard[T]) take() (*Slot[T], uint64) {
	if slot, h := s.Pop(); slot != nil {
		return slot, h
	}
	return s.takeFresh()
}

// reclaimIn reclaims in o for s if o has slots that are ready, or at least n that wait. It
// returns a slot that came free, if there is one.
func (a *Arena[T]) reclaimIn(o, s *shard[T], n int) (*Slot[T], uint64) {
	if !o.due(n) || !o.tryReclaim(s) {
		return nil, 0
	}
	return o.recipient(s).Pop()
}

// recipient returns the shard whose freelist gets what is reclaimed in o for s.
func (o *shard[T]) recipient(s *shard[T]) *shard[T] {
	if o.fifo {
		return o
	}
	return s
}

// claimNew takes a slot that was never given to a shard. It grows the arena if it must and
// may. If the arena is crowded, it reclaims first, and waits for locks, unless wait is false:
// then it fails.
func (a *Arena[T]) claimNew(s *shard[T], wait bool) (*Slot[T], uint64) {
	for {
		if slot, h := s.refill(Batch); slot != nil {
			return slot, h
		}
		if a.Table.Left() == 0 {
			return nil, 0
		}
		waiting := a.Waiting()
		if waiting >= crowd && waiting >= a.Table.Resident()/2 {
			if !wait {
				return nil, 0
			}
			if slot, h := a.reclaimAll(s); slot != nil {
				return slot, h
			}
		}
		if !a.mayGrow(int64(waiting)) || !a.Table.grow() {
			return nil, 0
		}
	}
}

// crowd is how many slots must wait for growth to wait for locks first, if they are half of
// the pool. With fewer, growth costs less than waiting.
const crowd = 64 * Batch

// reclaimAll reclaims in every shard until a slot comes free for s.
func (a *Arena[T]) reclaimAll(s *shard[T]) (*Slot[T], uint64) {
	for k := range a.shards {
		o := a.next(s, k)
		for more := o.due(1); more; {
			more, _ = o.reclaim(s)
			if slot, h := o.recipient(s).Pop(); slot != nil {
				return slot, h
			}
		}
	}
	return nil, 0
}

// mayGrow reports whether new memory is allowed while so many slots wait. Without a bound, a
// pool would grow without end under a forgotten guard.
func (a *Arena[T]) mayGrow(waiting int64) bool {
	// No count of live values exists. Of the slots that were handed out, those that neither
	// wait nor may be in a magazine are live: the freelists have just been found empty.
	out := int64(a.Table.Resident()) - int64(a.Table.Unused())
	return waiting < a.limit(out-waiting-a.cached.Load())
}

// Waiting returns about how many slots wait for their grace period, or for holds.
func (a *Arena[T]) Waiting() int {
	n := int(a.parked.Load())
	for i := range a.shards {
		waiting, _ := a.shards[i].pending()
		n += waiting
	}
	return n
}

// decision is the result of decide: a slot, or why there is none, or what to do before the
// caller looks again.
type decision[T any] struct {
	slot   *Slot[T]
	h      uint64
	err    error
	grow   bool
	resets resets[T] // run them

	left bool // the table had slots without memory when all lists were empty
}

// decide finds a slot for s, or the reason why there is none. It holds all locks, so that no
// list is filled meanwhile (I9), and one look at each is enough (L11).
//
// One goroutine decides at a time. A refusal holds for all calls that were waiting when it
// began: began is what decisions was before this call.
//
// The wrong version takes what it sees without the locks. It misses slots that move from a
// shard that it has not looked at yet to one that it has, and those that a preempted reclaimer
// has in hands.
func (a *Arena[T]) decide(s *shard[T], began uint64) (d decision[T]) {
	a.all.Lock()
	defer a.all.Unlock()
	if a.refused.number > began {
		d.err = a.refused.err
		return d
	}
	number := a.decisions.Add(1)
	a.lockShards()
	defer a.unlockShards()
	if a.find(s, &d); d.slot != nil {
		return d
	}
	if d.err = a.reason(s, &d); d.err != nil {
		a.refused.number, a.refused.err = number, d.err
	}
	return d
}

// lockShards locks all shards, and unlockShards unlocks them. The caller holds all.
func (a *Arena[T]) lockShards() {
	for i := range a.shards {
		a.shards[i].mu.Lock()
	}
}

func (a *Arena[T]) unlockShards() {
	for i := range a.shards {
		a.shards[i].unlock()
	}
}

// find takes a slot from a list, a range or the table, under all locks. If there is none, this
// is the moment that a refusal speaks of.
func (a *Arena[T]) find(s *shard[T], d *decision[T]) {
	for k := range a.shards {
		if d.slot, d.h = a.next(s, k).take(); d.slot != nil {
			s.setHome(Low(d.h), Low(d.h)+1)
			return
		}
	}
	d.slot, d.h = s.refill(1) // the lock is held, so it takes one slot from the table
	d.left = a.Table.Left() > 0
}

// reason reclaims all that has passed. If that gives no slot, it returns why there is none. It
// returns nil if the caller has a slot, or must look again.
func (a *Arena[T]) reason(s *shard[T], d *decision[T]) error {
	if uint64(a.spent.Load()) >= a.Slots {
		return ErrExhausted
	}
	wait := a.parked.Load() // slots that wait for a guard or a Ref
	again := false          // some came free, or wait for pins that end by themselves
	for k := range a.shards {
		o := a.next(s, k)
		for more := true; more; {
			m := o.move(s, atAll)
			if m.resets.n > 0 {
				d.resets = m.resets
				return nil
			}
			if d.slot, d.h = o.recipient(s).Pop(); d.slot != nil {
				return nil
			}
			again = again || m.moved || m.least < m.pins.Guard
			if more = m.more; !more {
				wait += m.blocked
			}
		}
	}
	switch {
	case again:
		return nil
	case d.left:
		// Limbo alone can forbid new memory.
		if d.grow = a.mayGrow(wait); d.grow {
			return nil
		}
		return stalled[T]{a}
	case wait > 0:
		return stalled[T]{a}
	}
	return ErrFull
}
