package shard

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
)

// Reasons to refuse a claim; package pool documents them.
var (
	ErrFull      = errors.New("pool: full")
	ErrStalled   = fmt.Errorf("%w: removed slots wait for a guard that is still pinned, or for a Ref", ErrFull)
	ErrExhausted = fmt.Errorf("%w: every slot has used up its generations", ErrFull)
)

// verdicts is what insertions share that find no slot. One of them at a time takes all locks.
type verdicts struct {
	// mu is held by the one goroutine that takes the locks of all shards, before them.
	mu atom.Mutex

	// number counts the verdicts.
	//
	//	writers  claimLocked, under mu; claimSlow, which adds 0
	//	readers  claimSlow, by the result of its addition
	number atom.Uint64

	refused uint64 // under mu: the last verdict that was a refusal
	err     error  // and what it was
}

// verdict is the result of claimLocked: a slot, or why there is none, or what to do before the
// caller looks again.
type verdict struct {
	slot   *Hook
	h      uint64
	err    error
	grow   bool
	resets resets // run them

	left bool // the table had slots without memory when all lists were empty
}

// claimLocked finds a slot for s, or the reason why there is none. It holds all locks, so that no
// list is filled meanwhile (I9), and one look at each is enough (L11).
//
// A refusal holds for all calls that were waiting for the locks when they were taken: began is
// what number was before this call.
//
// The wrong version takes what it sees without the locks. It misses slots that move from a
// shard that it has not looked at yet to one that it has, and those that a preempted reclaimer
// has in hands.
func (s *shard) claimLocked(began uint64) (d verdict) {
	a := s.arena
	v := &a.verdicts
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.refused > began {
		d.err = v.err
		return d
	}
	number := v.number.Add(1)
	all := a.shards() // no more are made meanwhile (I13)
	all.lock()
	defer all.unlock()
	if s.takeLocked(&d); d.slot != nil {
		return d
	}
	if d.err = s.refuseLocked(&d); d.err != nil {
		v.refused, v.err = number, d.err
	}
	return d
}

// takeLocked takes a slot from a list, a range or the table, under all locks. If there is none,
// this is the moment that a refusal speaks of.
func (s *shard) takeLocked(d *verdict) {
	for k := range s.arena.shards() {
		o := s.next(k)
		if d.slot, d.h = o.popFree(); d.slot == nil {
			d.slot, d.h = o.takeFresh()
		}
		if d.slot != nil {
			s.setHome(Low(d.h), Low(d.h)+1)
			return
		}
	}
	d.slot, d.h = s.alloc(1)
	d.left = s.arena.Table.Left() > 0
}

// refuseLocked reclaims all that has passed. If that gives no slot, it returns why there is none.
// It returns nil if the caller has a slot, or must look again.
//
// One scan serves all shards, since each is sealed before it.
func (s *shard) refuseLocked(d *verdict) error {
	a := s.arena
	if uint64(a.spent.Load()) >= a.Slots {
		return ErrExhausted
	}
	// Slots that wait for a guard or a Ref. Parked ones are counted before the seals: a Drop puts its
	// slot into limbo, which would be found in neither otherwise.
	wait := a.parked.Load()
	for _, o := range a.shards() {
		o.sealAll()
	}
	pins := a.Domain.Scan()
	least := uint64(epoch.NoPin) // the least stamp of one that waits for a guard
	again := false               // some came free, or were exhausted
	for k := range a.shards() {
		o := s.next(k)
		for more := true; more; {
			r := o.refuseRound(s, pins)
			if r.resets.n > 0 {
				d.resets = r.resets
				return nil
			}
			if d.slot, d.h = o.recipient(s).popFree(); d.slot != nil {
				return nil
			}
			again = again || r.moved
			more = r.more
		}
		wait += int64(o.delayed(pins.Oldest))
		least = min(least, o.leastDelayed(pins.Oldest))
	}
	switch {
	case again, least < pins.OldestGuard: // or a look-up's own pin is in the way
		return nil
	case wait > 0 && a.shards().removed():
		return nil // since the seals, and perhaps before the guard that delays the others was pinned
	case d.left:
		// Limbo alone can forbid new memory.
		if d.grow = a.mayGrow(wait); d.grow {
			return nil
		}
		return stalled{a}
	case wait > 0:
		return stalled{a}
	}
	return full{a}
}

// stalled is an ErrStalled whose text reports the arena's figures. It is one pointer, so a
// refusal allocates nothing.
type stalled struct{ arena *Arena }

func (e stalled) Unwrap() error { return ErrStalled }

// Error has the figures of the moment at which it is called. By then a guard may have gone.
func (e stalled) Error() string {
	a, pins, waiting := e.arena, e.arena.Domain.Scan(), e.arena.Waiting()
	oldest, opened := "", ""
	if age := a.Domain.Age(pins).Truncate(time.Millisecond); age > 0 {
		oldest = fmt.Sprintf(" for %v or longer", age)
	}
	if a.Opened != nil {
		opened = a.Opened()
	}
	return fmt.Sprintf("%v; pinned: %d%s; Refs: %d; waiting: %d, limit: %d; Pool.ExplainOpen tells more%s",
		ErrStalled, pins.Count, oldest, a.Held(), waiting, a.limboLimit(int64(a.Table.Resident()-waiting)), opened)
}

// full is an ErrFull, as stalled is an ErrStalled.
type full struct{ arena *Arena }

func (e full) Unwrap() error { return ErrFull }

func (e full) Error() string {
	kept := ""
	if n := e.arena.magazines.reach.Load(); n > 0 {
		kept = fmt.Sprintf(", kept by open Workers: up to %d", n)
	}
	return fmt.Sprintf("%v; capacity: %d%s; Pool.Stats tells more", ErrFull, cmp.Or(e.arena.Capacity, e.arena.Slots), kept)
}

// defaultLimbo is the least value of MaxLimbo's default.
const defaultLimbo = 1_000_000

// limboLimit returns how many slots may wait before new memory is refused, if so many are live.
func (a *Arena) limboLimit(live int64) int64 {
	n := cmp.Or(a.MaxLimbo, max(defaultLimbo, 2*live))
	if a.Capacity > 0 {
		n = min(n, int64(a.Capacity))
	}
	return n
}

// refusals counts the calls that were refused, by the error.
type refusals struct{ full, stalled, exhausted atom.Int64 }

// count counts a refusal, if err is one, and returns it.
func (r *refusals) count(err error) error {
	switch {
	case err == nil:
	case errors.Is(err, ErrStalled):
		r.stalled.Add(1)
	case errors.Is(err, ErrExhausted):
		r.exhausted.Add(1)
	default:
		r.full.Add(1)
	}
	return err
}
