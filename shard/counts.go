package shard

import (
	"time"

	"coatcheck/shard/slots"
)

// Counts describes an arena at a moment. Each figure is exact if no other goroutine changes
// anything. If some do, slots that move meanwhile are counted in one place at most.
type Counts struct {
	Live      int   // slots with a live value
	Inserted  int64 // values that were ever live; never less than an earlier call returned
	Free      int   // vacant slots that any insertion may take
	Limbo     int   // removed slots that wait
	Refs      int   // holds
	Exhausted int
	Worn      float64 // share of its lives that the most worn slot with memory has had
	Allocated int     // slots that have memory
	Bytes     int64   // without the Arena itself and its Domain
	MaxLimbo  int64   // the Limbo at which new memory is refused

	Full, Stalled, Spent int64 // calls that were refused, by the error

	Waiting, Waited int           // calls that wait for a slot, and all that ever did
	WaitedFor       time.Duration // how long, in all
}

// Count visits every slot that has memory, and follows the freelists.
func (a *Arena) Count() Counts {
	found := a.Table.Survey()
	c := Counts{
		Live:      found.Live,
		Inserted:  a.inserted(found),
		Free:      int(a.Table.Unused()),
		Limbo:     int(a.parked.Load()),
		Refs:      int(a.refs.Load()),
		Exhausted: int(a.Table.Exhausted()),
		Worn:      found.Worn,
		Bytes:     a.affinity.bytes() + a.Table.Bytes(),
		MaxLimbo:  a.limboLimit(int64(found.Live)),
		Full:      a.refusals.full.Load(),
		Stalled:   a.refusals.stalled.Load(),
		Spent:     a.refusals.exhausted.Load(),
	}
	c.Waiting, c.Waited, c.WaitedFor = a.waiters.count()
	for _, s := range a.shards() {
		free, limbo, bytes := s.count()
		c.Free += free
		c.Limbo += limbo
		c.Bytes += bytes
	}
	c.Free += a.quarantine.size()
	c.Allocated = a.Table.Resident() // last: what was counted has memory
	c.fit()
	return c
}

// inserted returns how many values were ever live, by a survey that has just been made.
func (a *Arena) inserted(found slots.Survey) int64 {
	unborn := int64(0)
	for _, s := range a.shards() {
		unborn += s.unborn.Load() // after the survey
	}
	return a.reported.atLeast(a.Table.Inserted(found, unborn))
}

// fit takes off what was counted twice, since it moved from one place to another that was counted
// later: first off the figures that change most, so that all are together at most Allocated.
//
// The wrong version adds up what each shard has at its own moment. Where slots go from shard to shard
// it found 542,265 slots in limbo, of 262,144.
func (c *Counts) fit() {
	left := c.Allocated
	for _, n := range []*int{&c.Exhausted, &c.Live, &c.Limbo, &c.Free} {
		*n = max(0, min(*n, left))
		left -= *n
	}
}

// listBytes returns the memory of what waits and of what is ready.
func (list shards) listBytes() (n int64) {
	for _, s := range list {
		s.lock()
		n += s.backlog.bytes() + s.ready.bytes()
		s.unlock()
	}
	return n
}

// count returns how many slots the shard has for insertions, and how many wait or are in Resets.
// It follows the freelist. bytes is the memory of what waits and of what is ready.
func (s *shard) count() (free, limbo int, bytes int64) {
	s.lock()
	defer s.unlock()
	limbo = int(s.removed() + s.backlog.size() + s.backlog.resetting())
	free = s.fresh.Left() + int(s.ready.size())
	limit := int(s.arena.Table.Pages().Limit)
	i := slots.Low(s.free.Head.Load())
	for i != slots.None && free <= limit {
		word := s.arena.Table.Slot(i).Word.Load()
		if slots.IsLive(word) {
			break // another goroutine has popped it
		}
		free++
		i = slots.Low(word)
	}
	return free, limbo, s.backlog.bytes() + s.ready.bytes()
}
