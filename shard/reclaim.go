package shard

import (
	"coatcheck/epoch"
	"coatcheck/shard/slots"
)

// Reclaiming is the way from limbo back to the freelist:
//
//	limbo ──▶ backlog: waits for its grace period ──▶ recycle ──▶ ready, freelist
//
// An insertion that finds no vacant slot, Synchronize, Trim and the garbage collector's cycle reclaim, in rounds. A
// removal does not. The goroutine that runs a round holds the shard's lock, and runs no user code meanwhile. An
// insertion that would otherwise add a page or be refused, Synchronize, Trim, and a Worker that gives slots back
// wait for it.
//
// The naive way lets each goroutine claim sealed batches without a lock. Then lists fill while
// an insertion looks for a slot, and it cannot tell a full pool from one whose slots move.
//
// A round stops after a number of visits, and says that there is more. So a backlog is spread
// over many calls, and the longest Insert does not depend on what waits. With a complete visit, a refusal beside a
// guard and a million slots that waited took 4.3 ms.

// reclaimMost is how many slots a round visits before it stops, unless its scan costs more. A greater one would
// make the longest Insert longer.
const reclaimMost = 4 * slots.Batch

// reclaimAndUnlock makes a round for target, and runs the Resets that it has found. It reports whether
// another one would move more at once.
func (s *shard) reclaimAndUnlock(target *shard) (unfinished bool) {
	var r round
	r.reclaim(s, target)
	s.unlock()
	if r.resets.n > 0 {
		r.resets.call()
	}
	return r.unfinished
}

// refill gives an empty freelist what is ready in s, if there is some. It reports whether it did. A queue's freelist
// stays empty until all slots have been used.
func (s *shard) refill(target *shard) bool {
	return !s.ready.empty() && s.unworn.Load() == 0 && s.fill(target)
}

// fill is refill where something is ready, whether all slots have been used or not.
func (s *shard) fill(target *shard) bool {
	if target = s.recipient(target); target == nil {
		target = s
	}
	if s.fifo {
		return s.ready.refill(&target.free)
	}
	return s.ready.refillPart(&target.free, &s.arena.Table)
}

// recipient returns the shard whose freelist gets what is reclaimed in o for target: what was removed in a queue goes
// to its end. It returns nil if slots go to their homes, since target is nil.
func (o *shard) recipient(target *shard) *shard {
	if o.fifo {
		return o
	}
	return target
}

// put gives slots to insertions, behind what a queue has ready, or on top of a stack. The caller holds the lock of s.
func (s *shard) put(c *slots.Chain) {
	switch {
	case c.N == 0:
	case s.fifo:
		s.ready.keepLast(c)
		s.refill(nil)
	case c.N < spliceLeast:
		s.free.Push(c)
	default:
		s.ready.keepTop(c)
	}
}

// round is one round of reclaiming. It has some 220 bytes, and so its caller makes it.
type round struct {
	delivery
	target   *shard
	recycler recycler
	resets   resets // slots for which Reset must be called, without the lock

	limit    int  // how many slots it may visit
	youngest bool // it lets the youngest batch pass first, for an insertion into a stack, if others let go of older values

	moved      bool // slots came free, or left for Resets
	unfinished bool // more has passed than it may visit, or waits for the Resets
	visits     int
}

// reclaim moves slots from limbo to the freelist of target; or to what is ready, and to the freelists of their homes if
// these are others, if target is nil; under FIFO, to the shard's own. The caller holds the lock of s, and runs r.resets
// without it. Removed slots pay for scans, and so does the call.
//
// For an insertion, a queue's freelist gets what is ready before, and so does a stack's where few slots wait. The wrong
// order gives it the few slots that were sealed just now. Then it is empty again soon, and what is ready stays. Where many
// wait, a stack's gets the youngest of them that have passed, and what is ready if none has; but not with a Reset. A Reset
// may remove and insert, and each of its insertions would run further ones, as long as something waits.
func (r *round) reclaim(s, target *shard) {
	price := s.backlog.pay(s, target)
	r.begin(s, target)
	if target != nil && !s.ready.empty() && (!r.youngest || s.removed()+s.backlog.size() < slots.Batch) {
		if r.refill(); r.moved {
			return
		}
	}
	r.reclaimAt(price)
	if target != nil && !s.ready.empty() {
		r.refill()
	}
}

// reclaimAt reclaims what has passed, if a scan costs that, or is not paid for yet, if price is 0.
//
// For an insertion, what the last scan spoke of comes before another scan, unless the youngest go first: of these it
// does not speak. While anything waits, what was removed since the last seal stays in limbo: it has later stamps. What
// came late may not, and is found by a refusal.
func (r *round) reclaimAt(price int) {
	b := &r.source.backlog
	if b.size() > 0 && r.target != nil && (!r.youngest || price == 0) {
		if r.release(b.Known()); r.moved {
			return
		}
	}
	switch {
	case price == 0:
	case b.size() == 0:
		r.passAsItIs()
	default:
		oldest, scanned := b.oldest(r.youngest)
		if scanned {
			r.limit = max(r.limit, price)
		}
		r.release(oldest)
	}
}

// refill gives an empty freelist what is ready.
func (r *round) refill() {
	if r.source.refill(r.target) {
		r.moved = true
	}
}

// passAsItIs passes what was removed, and makes what is left wait. Mostly nothing waits, and all has passed.
//
// Without this way a pair of Insert and Remove takes 5 more instructions, of some 170.
func (r *round) passAsItIs() {
	s, b := r.source, &r.source.backlog
	a := s.arena
	if a.FIFO || a.Reset != nil || s.late.Size() > 0 {
		if b.seal(s) {
			oldest, _ := b.oldest(r.youngest)
			r.release(oldest)
		}
		return
	}
	w := b.take(s)
	if w.Body.N == 0 {
		return
	}
	b.Mix()
	oldest, _ := b.Oldest(w.Stamp) // after it was taken: the scan speaks of what was unlinked before
	if w.Stamp < oldest {
		r.recycler = a.recycler() // observes (P7)
		r.pass(&w.Body.Chain)
		r.deliver()
	}
	if w.Body.N > 0 {
		b.add(w.Stamp, &w.Body)
		r.release(oldest)
	}
}

// refuse is reclaim for an insertion that would be refused, which holds all locks: it looks at every slot
// that waits and may have passed. It looks only at slots that were sealed before the scan that found
// pins.
func (r *round) refuse(s, target *shard, pins epoch.Pins) {
	s.unworn.Store(0) // the arena has no slot that was never used, or may not make it
	r.begin(s, target)
	r.moved = !s.ready.empty() && s.fill(target) // takeNeverUsed may have made unworn 1 again
	s.backlog.Learn(pins)
	s.backlog.divide(pins.Oldest)
	r.release(pins.Oldest)
	r.refill()
}

func (r *round) begin(s, target *shard) {
	r.source, r.target, r.limit = s, target, reclaimMost
	a := s.arena
	r.youngest = target != nil && !s.fifo && a.Reset == nil && !(a.Replays && a.Pointers)
}

// release moves the batches that have passed, if the oldest guard has that epoch. A round for no insertion, which
// reclaims all that has passed, also cuts it off batches that have not.
func (r *round) release(oldest uint64) {
	a, b := r.source.arena, &r.source.backlog
	if r.target == nil {
		b.divide(oldest)
	}
	r.recycler = a.recycler() // observes (P7)
	for got := false; ; {
		k, passed := b.step(oldest, r.youngest)
		if passed == nil {
			break
		}
		// A stack's insertion that has got slots comes back before it needs others.
		if r.visits >= r.limit || r.youngest && got && r.visits >= slots.Batch {
			r.unfinished = true
			break
		}
		if a.Reset != nil {
			r.resets.take(r)
			break
		}
		n := passed.N
		got = r.pass(&passed.Chain) || r.home.N > 0 || got
		b.stepped(k, n-passed.N)
	}
	r.unfinished = r.unfinished || r.resets.n > 0
	r.deliver()
}

// pass recycles the slots of a batch whose grace period is over, as many as the round may visit. It reports whether they
// went whole.
//
// If they need no visit, they go to an empty freelist whole, or wait for that. A visit
// costs some 5 ns a slot, since each is found only through the one before.
//
// The home of the first slot decides. If that is this shard, all slots stay. If not, each slot
// is visited, and only those with that home go there. A goroutine that has moved removes slots
// of two homes. To send all to one would mix slots of different cache lines for as long as
// values live.
func (r *round) pass(c *slots.Chain) (whole bool) {
	s, a := r.source, r.source.arena
	r.moved = true
	r.send(r.target, slots.Low(c.First))
	asIs := r.recycler.keepsAll() && r.recycler.renewsNone()
	if whole = asIs && !r.sorts; whole {
		c.Finish(&a.Table) // a batch that was passed in part begins with an index alone
		if s.fifo {
			r.home.Concat(c)
		} else {
			whole = r.target != nil && c.N <= spliceMost && r.homeShard.free.Splice(c) || s.ready.keepWhole(c)
		}
	}
	if whole {
		r.visits += int(min(c.N, slots.Batch)) // as many batches may have passed as slots, and each costs cache misses
		*c = slots.Chain{}
		return true
	}
	r.passSlots(c, asIs)
	return false
}

// passSlots is pass for slots that are visited, until the round has made so many visits.
//
// Slots that some other one makes it ask, and that need nothing else, go in runs. The others are moved one by
// one.
func (r *round) passSlots(c *slots.Chain, asIs bool) {
	a := r.source.arena
	inRuns := !asIs && !r.sorts && r.recycler.renewsNone()
	for c.N > 0 && r.visits < r.limit {
		if inRuns {
			run := r.recycler.takeKept(c, r.limit-r.visits)
			r.visits += int(run.N)
			if r.home.Concat(&run); c.N == 0 || r.visits == r.limit {
				break
			}
		}
		slot, i, word := c.TakeFirst(&a.Table)
		r.visits++
		ok := asIs
		if !asIs {
			word, ok = r.recycler.slot(slot, i, word)
		}
		if ok {
			r.add(slot, i, word)
		}
	}
}

// delivery gathers slots that were recycled for the freelists that get them.
type delivery struct {
	source    *shard
	homeShard *shard // gets the slots of which it is the home, or all
	sorts     bool   // slots with another home stay in source
	home      slots.Chain
	otherHome slots.Chain
}

// send decides which shard gets the slots, of which i is the first: target, or their home. The
// first call decides for all.
func (d *delivery) send(target *shard, i uint32) {
	if d.homeShard != nil {
		return
	}
	if d.homeShard = d.source.recipient(target); d.homeShard == nil {
		d.homeShard = d.source.home(i)
		d.sorts = d.homeShard != d.source
	}
}

// add notes a slot that is ready for its next life.
func (d *delivery) add(slot *slots.Hook, i uint32, word uint64) {
	if d.sorts && d.source.home(i) != d.homeShard {
		d.otherHome.Append(slot, i, word)
	} else {
		d.home.Append(slot, i, word)
	}
}

// deliver publishes what was gathered. The caller holds the lock of source.
func (d *delivery) deliver() {
	s := d.source
	if slots.Poisons {
		s.arena.quarantine.exchange(&d.home, &s.arena.Table)
		s.arena.quarantine.exchange(&d.otherHome, &s.arena.Table)
	}
	if d.home.N+d.otherHome.N == 0 {
		return
	}
	s.put(&d.otherHome)
	if d.homeShard == s {
		s.put(&d.home)
	} else {
		d.homeShard.free.Push(&d.home) // its lock is another's
	}
	d.home, d.otherHome = slots.Chain{}, slots.Chain{}
}
