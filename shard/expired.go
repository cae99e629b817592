package shard

import "coatcheck/shard/slots"

// A removed value stays in its slot until the slot is reclaimed, mostly by a later call. In an
// idle pool there is none, and the value may keep much memory reachable. So after each cycle of
// the garbage collector, ClearExpired zeroes what has passed.
//
// ClearExpired moves no slot. The naive way reclaims, and then the order in which slots are reused
// depends on when the collector ran: two runs of a program would issue other handles. To zero a
// value twice does no harm. Nor does ClearExpired take a shard's lock, for which a removal only
// tries: it takes clearing, for which the holder of the lock waits. So whatever takes a slot out of
// limbo or out of the backlog holds both.

// clearMost is how many slots ClearExpired visits while a reclaimer of the shard must wait: some 10
// µs.
const clearMost = 16 * slots.Batch

// ClearExpired zeroes the values of removed slots whose grace period is over and that are not
// held. There must be no Reset. It visits each slot that waits when it comes to the slot's
// shard about once, however many are removed meanwhile. Each call visits once more the slots of a batch in which it
// found one held.
func (a *Arena) ClearExpired() {
	for _, s := range a.shards() {
		waiting, _ := s.pending()
		s.clearCalls.Add(1)
		for unfinished := true; unfinished && waiting >= 0; waiting -= clearMost {
			unfinished = s.clearExpired()
		}
	}
}

// clearExpired is one step of ClearExpired. It reports whether there is more to do.
func (s *shard) clearExpired() (unfinished bool) {
	s.clearing.Lock()
	defer s.clearing.Unlock()
	a := s.arena
	limbo := s.limbo.Head.Load() // observes (P6)
	// A stamp that is at least that of each slot, and no slot's, so that it changes no order. Where
	// removals take stamps, even a bit in the clock would have a Worker seal its bag earlier.
	stamp := a.Domain.Epoch()
	if !a.stampPerSlot {
		stamp = a.Domain.Stamp()
	}
	oldest := a.Domain.Scan().Oldest
	c := a.recycler() // observes (P7)
	if a.stampPerSlot {
		c.zero(slots.Low(limbo), slots.Generation(limbo), stamp, oldest)
	} else {
		s.known.clear(&c, s.backlog.sealNumber(), limbo, stamp, oldest)
	}
	return s.backlog.clear(&c, s.clearCalls.Load(), oldest)
}

// known is the lowest part of a shard's limbo, in an arena where slots have no stamps of their own:
// what was there when ClearExpired took a stamp. It is kept until the stamp has passed, or a seal
// takes the part, with a stamp of its own.
//
// The wrong version has the stamp of each call alone. No guard that is pinned then is younger. So
// while some guard is pinned at each call, however short each is, no value is let go.
type known struct {
	seals uint64 // how many there were
	n     uint32 // how many slots it has
	stamp uint64
}

// clear zeroes what has passed in limbo, whose head it gets, and in what is known of it. seals is how many
// seals there were.
func (k *known) clear(c *recycler, seals, head, stamp, oldest uint64) {
	n := slots.Generation(head)
	if k.seals != seals {
		k.n = 0
	}
	next, _ := c.zero(slots.Low(head), n-k.n, stamp, oldest)
	c.zero(next, k.n, k.stamp, oldest)
	if k.n == 0 || k.stamp < oldest {
		*k = known{seals, n, stamp}
	}
}

// clear zeroes the values of what has passed, if the oldest guard has that epoch, for the call of
// ClearExpired with that number. It holds clearing alone. It reports whether it left some for another
// step.
//
// What is not in a batch of its own is little, and is visited in each step.
func (b *backlog) clear(c *recycler, call uint32, oldest uint64) (unfinished bool) {
	c.zero(b.sealed.Body.Top(), b.sealed.Body.N, b.sealed.Stamp, oldest)
	c.zero(b.turned.Top(), b.turned.N, b.sealed.Stamp, oldest)
	return b.waiting.clear(c, call, oldest)
}

// clear is backlog.clear for batches.
func (l *batches) clear(c *recycler, call uint32, oldest uint64) (unfinished bool) {
	room := uint32(clearMost)
	for k := 0; k < l.Len() && l.Entry(k).Stamp < oldest; k++ {
		body := &l.Entry(k).Body
		p := &body.cleared
		if p.call == 0 || p.left > body.N || p.foundHeld && p.left == 0 && p.call != call {
			*p = progress{call: call, next: body.Top(), left: body.N}
		}
		n := min(p.left, room)
		next, held := c.zero(p.next, n, 0, oldest)
		p.next, p.foundHeld = next, p.foundHeld || held
		p.left -= n
		if room -= n; room == 0 {
			return true
		}
	}
	return false
}

// sealNumber returns the number of the last seal.
func (b *backlog) sealNumber() uint64 { return b.seals }
