package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// chunk is how many slots that were never used a shard is given at once.
const chunk = shard.Batch

// claim finds a vacant slot for an insertion, and returns it with the handle
// that it will have. The caller owns the slot.
//
// A pool looks where it costs least: the shard's own freelist, its range of
// slots that were never used, what waits in its limbo, the other shards, and
// only then new memory. With a Capacity reached, it turns every stone before it
// says ErrFull.
func (p *Pool[T]) claim(s *shard.Shard[T]) (*shard.Slot[T], uint64, error) {
	if !p.space.FIFO {
		if slot, h := s.Pop(); slot != nil {
			return slot, h, nil
		}
	}
	return p.claimSlow(s)
}

// claimSlow looks everywhere, until it has a slot or knows a reason why there is
// none. A failed search is no such reason: slots move from where it has not looked
// to where it has, and goroutines that were preempted may have many in their hands.
//
// It waits for these: for a Trim, for whoever reclaims, for look-ups that have a pin
// of their own. None of them runs user code meanwhile. Otherwise it goes round again
// only because another insertion was faster.
func (p *Pool[T]) claimSlow(s *shard.Shard[T]) (*shard.Slot[T], uint64, error) {
	for round := 0; ; round++ {
		trims := p.space.Trims.Load()
		if slot, h := p.search(s); slot != nil {
			return slot, h, nil
		}
		if !p.space.Settled(trims) {
			continue
		}
		slot, h, blocked := p.wring(s)
		if slot != nil {
			return slot, h, nil
		}
		if err := p.refusal(blocked); err != nil {
			return nil, 0, err
		}
		atom.Pause(round)
	}
}

// search looks for a slot everywhere but on top of the shard's own freelist.
func (p *Pool[T]) search(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	if p.space.FIFO {
		return p.searchFIFO(s)
	}
	if slot, h := s.Fresh(); slot != nil {
		return slot, h
	}
	if s.Pending() >= shard.Batch {
		if n, _ := s.Reclaim(s, shard.Scan); n > 0 {
			if slot, h := s.Pop(); slot != nil {
				return slot, h
			}
		}
	}
	for k := 1; k < len(p.shards); k++ {
		if slot, h := p.next(s, k).Pop(); slot != nil {
			s.Need()
			return slot, h
		}
	}
	if slot, h := p.sweep(s); slot != nil {
		return slot, h
	}
	if slot, h := p.claimNew(s); slot != nil {
		return slot, h
	}
	// Others may have been given what was left, in this shard too.
	for k := range p.shards {
		if slot, h := p.next(s, k).Fresh(); slot != nil {
			return slot, h
		}
		if slot, h := p.next(s, k).Pop(); slot != nil {
			return slot, h
		}
	}
	return nil, 0
}

// searchFIFO finds a slot under FIFO. It first takes the right to one, which says
// that there is a slot to be found and MinFree others, and then looks for it:
// never used ones first, which is what wears least.
func (p *Pool[T]) searchFIFO(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	if slot, h := p.claimCredit(s); slot != nil {
		return slot, h
	}
	if slot, h := p.sweep(s); slot != nil {
		return slot, h
	}
	if slot, h := p.claimNew(s); slot != nil {
		return slot, h
	}
	if slot, h := p.claimCredit(s); slot != nil {
		return slot, h // others were given what was left
	}
	return nil, 0
}

// claimCredit finds a slot that some shard gives the right to.
func (p *Pool[T]) claimCredit(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	for k := range p.shards {
		if o := p.next(s, k); o.TakeCredit() {
			if slot, h := p.redeem(o); slot != nil {
				return slot, h
			}
		}
	}
	return nil, 0
}

// redeem finds the slot that a credit stands for, in the shard that gave it or
// in another. Others may be faster wherever it looks, each time because they
// found one; should that happen all the way round it gives the credit back.
func (p *Pool[T]) redeem(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	for k := range p.shards {
		o := p.next(s, k)
		if slot, h := o.Fresh(); slot != nil {
			return slot, h
		}
		if slot, h := o.Pop(); slot != nil {
			return slot, h
		}
	}
	s.GiveCredit(1)
	return nil, 0
}

// next returns the k-th shard after s, in a round that each begins at its own.
func (p *Pool[T]) next(s *shard.Shard[T], k int) *shard.Shard[T] {
	i := s.Number() + k
	if i >= len(p.shards) {
		i -= len(p.shards)
	}
	return &p.shards[i]
}

// claimNew takes a slot that was never given to a shard, growing the pool if it
// must and may.
func (p *Pool[T]) claimNew(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	for {
		if slot, h := s.Refill(chunk); slot != nil {
			return slot, h
		}
		if p.crowded() {
			if slot, h, _ := p.wring(s); slot != nil {
				return slot, h
			}
		}
		if !p.mayGrow() || !p.space.Table.Grow() {
			return nil, 0
		}
	}
}

// crowded reports whether so many slots wait that growth, which may wait for others
// anyway, should first wait for those who reclaim.
func (p *Pool[T]) crowded() bool {
	limbo := p.pending()
	return limbo >= crowd && limbo >= p.space.Table.Resident()/2
}

// crowd is how many slots must wait for a pool to be crowded. With fewer, growth is
// cheaper than waiting.
const crowd = 64 * shard.Batch

// sweep reclaims in every shard in which a batch waits, until a slot comes free for
// s. A second round finds out which guards are pinned.
func (p *Pool[T]) sweep(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	for effort := shard.Known; effort <= shard.Scan; effort++ {
		for k := range p.shards {
			o := p.next(s, k)
			for more := o.Pending() >= shard.Batch; more; {
				_, more = o.Reclaim(s, effort)
				if slot, h := p.swept(s, o); slot != nil {
					return slot, h
				}
			}
		}
	}
	return nil, 0
}

// wring reclaims whatever can be reclaimed, until a slot comes free for s, and
// waits for those who are at it. It reports whether slots are left that wait for a
// guard.
func (p *Pool[T]) wring(s *shard.Shard[T]) (slot *shard.Slot[T], h uint64, blocked bool) {
	for k := range p.shards {
		o := p.next(s, k)
		for more := o.Waiting() > 0; more; {
			_, more = o.Reclaim(s, shard.Wait)
			if slot, h = p.swept(s, o); slot != nil {
				return slot, h, false
			}
		}
		blocked = blocked || o.Blocked()
	}
	return nil, 0, blocked
}

// swept takes one of the slots that Reclaim freed: under LIFO it moved them to
// s, under FIFO they stay with o.
func (p *Pool[T]) swept(s, o *shard.Shard[T]) (*shard.Slot[T], uint64) {
	if !p.space.FIFO {
		return s.Pop()
	}
	if o.TakeCredit() {
		return p.redeem(o)
	}
	return nil, 0
}

// mayGrow reports whether limbo allows new memory. A pool that grows while a
// forgotten guard holds everything back would grow for ever. What Trim gave up
// does not count as new.
func (p *Pool[T]) mayGrow() bool {
	if p.space.Table.Missing() > 0 {
		return true
	}
	limbo := int64(p.pending())
	if p.maxLimbo > 0 {
		return limbo < p.maxLimbo
	}
	if limbo < defaultLimbo {
		return true
	}
	// Nobody counts live values. Of the slots that were handed out, those that
	// neither wait nor may be in a Worker's reach are the live ones here, where
	// the freelists have just been found empty.
	out := int64(p.space.Table.Resident()) - int64(p.space.Table.Unused())
	live := out - limbo - p.workers.Load()*workerReach
	return limbo < 2*live
}

// pending returns how many slots wait for their grace period, or for Refs.
func (p *Pool[T]) pending() int {
	n := int(p.space.Parked.Load())
	for i := range p.shards {
		n += p.shards[i].Pending()
	}
	return n
}

// refusal returns the reason why an insertion that found nothing has no slot, or
// nil if none is known and it must look again. blocked is what wring reported.
func (p *Pool[T]) refusal(blocked bool) error {
	spent, exhausted := p.space.Spent.Load(), p.space.Exhausted.Load()
	if uint64(spent)+p.dummies() >= p.space.Table.Max() {
		return ErrExhausted
	}
	// Slots that wait and have no life left are none that a value could have, save
	// those that FIFO's reserve will stand in for. All others are, under FIFO
	// too: the reserve itself is in the queues, not in limbo.
	worn := int(max(0, spent-exhausted-p.space.Reserve.Load()))
	if p.bare(worn) {
		return ErrFull
	}
	if p.pending() > worn && (p.space.Parked.Load() > 0 || blocked && p.domain.Held()) {
		return ErrStalled
	}
	return nil
}

// bare reports whether there was a moment at which no shard had a slot and none
// waited, save worn ones. It looks at every shard twice. What is empty both times
// was so in between unless a batch was sealed: nothing else fills a freelist but
// Trim and Workers that give back, and what a Worker has counts as taken.
func (p *Pool[T]) bare(worn int) bool {
	var seals [2]uint64
	for i := range seals {
		waiting := int(p.space.Parked.Load())
		for k := range p.shards {
			s := &p.shards[k]
			seals[i] += s.Seals()
			if waiting += s.Waiting(); !s.Bare() {
				return false
			}
		}
		if waiting > worn {
			return false
		}
	}
	return seals[0] == seals[1] && !p.mayRefill()
}

// mayRefill reports whether a slot can come from the table.
func (p *Pool[T]) mayRefill() bool {
	return p.space.Table.Unused() > 0 || p.space.Table.Left() > 0 && p.mayGrow()
}

// dummies returns how many slots queues keep. Every shard of FIFO has one, but for
// those of a pool that was restored with fewer vacant slots than shards.
func (p *Pool[T]) dummies() (n uint64) {
	for i := range p.shards {
		if p.shards[i].HasDummy() {
			n++
		}
	}
	return n
}
