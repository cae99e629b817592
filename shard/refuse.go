package shard

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// An insertion that finds no slot without locks comes here for its last look. One goroutine at a time takes the
// locks of all shards, so that no slot moves meanwhile. It takes a slot, or finds that the arena needs a page, or
// says why there is no slot. The other insertions that wait for the locks share what it finds.

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

	shared  uint64  // under mu: the last verdict that had a finding
	finding finding // and what it was
}

// verdict is the result of claimLocked: a slot, or why there is none, or what to do before the
// caller looks again.
type verdict struct {
	slot   *slots.Hook
	h      uint64
	resets resets // run them
	finding
	left      bool  // the table had slots without memory when all freelists were empty
	exhausted int64 // how many slots had been exhausted before
}

// finding is a refusal, or that the arena needs another page than the table had when it had changed so
// many times.
type finding struct {
	err     error
	grow    bool
	changes uint32
}

// claimLocked finds a slot for s, or the reason why there is none. It holds all locks, so that no
// list is filled meanwhile (I9), and one look at each is enough (L11).
//
// A finding holds for all calls that were waiting for the locks when they were taken: began is
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
	if v.shared > began {
		d.finding = v.finding
		return d
	}
	number := v.number.Add(1)
	list := a.shards() // no more are made meanwhile (I13)
	list.lock()
	defer list.unlock()
	if d.takeLocked(s); d.slot == nil && !d.grow {
		d.err = d.refuseLocked(s)
		if slots.Poisons && d.err != nil {
			d.takeQuarantined(s)
		}
	}
	if d.grow || d.err != nil {
		v.shared, v.finding = number, d.finding
	}
	return d
}

// takeLocked takes a slot for s from a list, a range or the table, under all locks, or finds that the arena
// needs a page. If there is no slot, this is the moment that a refusal speaks of.
//
// The arena needs a page if fewer slots are vacant than slack says. Let t be the moment at which Allot
// finds no slot. The freelists were found empty before t, and are at t, since nothing fills them (I9). The
// ranges were looked at before t, and only shrink. Limbo and the backlogs are looked at after t, and
// lose nothing meanwhile. So vacant is at least what was vacant at t, and all other slots of the table
// were in use.
//
// The wrong version adds a page only if no slot is vacant. Then insertions take the last slots out of
// others' ranges, one by one, and every few of them take all locks.
func (d *verdict) takeLocked(s *shard) {
	a := s.arena
	d.changes, d.exhausted = a.Table.Changes(), a.Table.Exhausted() // before the look at the table
	vacant := 0
	for k := range a.shards() {
		o := s.next(k)
		o.refill(nil) // a Synchronize may have left slots there
		if d.slot, d.h = o.popFree(); d.slot != nil {
			s.setHome(slots.Low(d.h), slots.Low(d.h)+1)
			return
		}
		vacant += o.fresh.Left()
	}
	if d.slot, d.h = s.alloc(1); d.slot != nil {
		return
	}
	waiting := 0
	for _, o := range a.shards() {
		waiting += int(o.removed() + o.backlog.size())
		vacant += int(o.ready.size())
	}
	d.left = a.Table.Left() > 0
	if d.left && vacant+waiting < a.slack() && a.mayGrow(int64(waiting)+a.parked.Load()) {
		d.grow = true
		return
	}
	for k := range a.shards() {
		if d.slot, d.h = s.next(k).takeFresh(); d.slot != nil {
			s.setHome(slots.Low(d.h), slots.Low(d.h)+1)
			return
		}
	}
	if slots.Poisons && !d.left {
		d.takeQuarantined(s)
	}
}

// takeQuarantined takes a slot out of the quarantine, instead of a refusal.
func (d *verdict) takeQuarantined(s *shard) {
	if d.slot, d.h = s.arena.quarantine.take(&s.arena.Table); d.slot != nil {
		s.setHome(slots.Low(d.h), slots.Low(d.h)+1)
		d.err = nil
	}
}

// refuseLocked reclaims all that has passed. If that gives no slot, it returns why there is none.
// It returns nil if the caller has a slot, or must look again.
//
// One scan serves all shards, since each is sealed before it. With a scan for each shard, 64 shards would look at
// what may be thousands of guards 64 times.
func (d *verdict) refuseLocked(s *shard) error {
	a := s.arena
	if spent, _ := a.Table.Spent(); uint64(spent) >= a.Slots {
		return exhausted{a}
	}
	// Slots that wait for a guard or a Ref. Parked ones are counted before the seals: a Drop puts its
	// slot into limbo, which would be found in neither otherwise.
	wait := a.parked.Load()
	for _, o := range a.shards() {
		o.backlog.seal(o)
	}
	pins := a.Domain.Scan()
	leastStamp := uint64(epoch.NoPin) // the least stamp of one that waits for a guard
	again := false                    // some came free, or were exhausted
	for k := range a.shards() {
		o := s.next(k)
		for unfinished := true; unfinished; {
			var r round
			r.refuse(o, s, pins)
			if r.resets.n > 0 {
				d.resets = r.resets
				return nil
			}
			if d.slot, d.h = o.recipient(s).popFree(); d.slot != nil {
				return nil
			}
			again = again || r.moved
			unfinished = r.unfinished
		}
		waits, least := o.backlog.delayed(pins)
		wait += int64(waits)
		leastStamp = min(leastStamp, least)
	}
	d.grow = !again && d.left && a.mayGrow(wait)
	// A look-up's own pin is in the way of some: each batch was cut at pins.Oldest, so no stamp that waits is below that.
	transient := leastStamp < pins.OldestGuard
	switch {
	case again, d.grow, transient, d.outdated(&a.Table):
		return nil
	case wait > 0 && a.shards().removed():
		return nil // since the seals, and perhaps before the guard that delays the others was pinned
	case wait > 0: // if the table has slots left, limbo alone can forbid them
		return stalled{a}
	}
	return full{a}
}

// outdated reports whether the table may have got a slot to hand out since d found none there. All locks do not
// keep it from that: Grow acts on an earlier finding, and a Worker's slot that is exhausted is replaced. Meanwhile
// others may have taken what the ranges had, so that there was a slot at each moment, and a refusal would be wrong.
func (d *verdict) outdated(t *slots.Table) bool {
	return t.Changes() != d.changes || t.Exhausted() != d.exhausted
}

// stalled is an ErrStalled whose text reports the arena's figures. It is one pointer, so a
// refusal allocates nothing.
type stalled struct{ arena *Arena }

func (e stalled) Unwrap() error { return ErrStalled }

// Error has the figures of the moment at which it is called. By then a guard may have gone.
func (e stalled) Error() string {
	a, pins := e.arena, e.arena.Domain.Scan()
	waiting := min(a.Waiting(), a.Table.Resident()) // those that move meanwhile are counted twice
	oldest := ""
	if age := a.Domain.Age(pins).Truncate(time.Millisecond); age > 0 {
		oldest = fmt.Sprintf(" for %v or longer", age)
	}
	return fmt.Sprintf("%v; %spinned: %d%s; Refs: %d; waiting: %d, limit: %d; Pool.ExplainOpen tells more",
		ErrStalled, a.name(), pins.Count, oldest, a.Refs(), waiting, a.limboLimit(int64(a.Table.Resident()-waiting)))
}

// name returns the beginning of figures, which says whose they are.
func (c *Config) name() string {
	if c.Name == nil {
		return ""
	}
	return c.Name() + "; "
}

// full is an ErrFull, as stalled is an ErrStalled.
type full struct{ arena *Arena }

func (e full) Unwrap() error { return ErrFull }

func (e full) Error() string {
	kept := ""
	if n := e.arena.magazines.reach.Load(); n > 0 {
		kept = fmt.Sprintf(", kept by open Workers: up to %d", n)
	}
	return fmt.Sprintf("%v; %scapacity: %d%s; Pool.Stats tells more", ErrFull, e.arena.name(), cmp.Or(e.arena.Capacity, e.arena.Slots), kept)
}

// exhausted is an ErrExhausted, as stalled is an ErrStalled.
type exhausted struct{ arena *Arena }

func (e exhausted) Unwrap() error { return ErrExhausted }

func (e exhausted) Error() string {
	return fmt.Sprintf("%v; %sslots: %d", ErrExhausted, e.arena.name(), e.arena.Slots)
}

// defaultLimbo is the least value of MaxLimbo's default.
const defaultLimbo = 1_000_000

// limboLimit returns how many slots may wait before new memory is refused, if so many are live.
func (c *Config) limboLimit(live int64) int64 {
	n := cmp.Or(c.MaxLimbo, max(defaultLimbo, 2*live))
	if c.Capacity > 0 {
		n = min(n, int64(c.Capacity))
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
