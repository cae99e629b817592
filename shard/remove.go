package shard

import (
	"coatcheck/internal/hint"
	"coatcheck/shard/slots"
)

// Remove ends the life of the slot that h names, and retires it to the shard to which a frame's
// hint leads. It returns true for exactly one caller per handle. It costs two locked
// instructions.
//
//go:nosplit
func (a *Arena) Remove(frame uintptr, h uint64) bool {
	if s, t := a.Local(hint.Of(frame)), a.Table.Current.Load(); slots.Low(h) < t.Limit {
		k := t.At(slots.Low(h))
		if seen, ok := s.limbo.Unlink(k, h); ok {
			if h >= a.fastBelow && a.mustNote(h) {
				s.retire(k, h, seen)
			} else if !s.limbo.PushOne(seen, slots.Low(h)) {
				s.push(k, h, seen)
			}
			return true
		}
	}
	return false
}

// remove is Remove, for a shard that the caller knows.
func (s *shard) remove(h uint64) bool {
	k, seen := s.Unlink(h)
	if k != nil {
		s.retire(k, h, seen)
	}
	return k != nil
}

// Unlink is Remove in two steps, for a caller that moves the value out: Retire of the shard that it
// returns follows. Until then the slot cannot be reclaimed, so no pin is needed. k is nil if h is
// not live.
//
//go:nosplit
func (a *Arena) Unlink(frame uintptr, h uint64) (s *shard, k *slots.Hook, seen uint64) {
	if s, t := a.Local(hint.Of(frame)), a.Table.Current.Load(); slots.Low(h) < t.Limit {
		k := t.At(slots.Low(h))
		if seen, ok := s.limbo.Unlink(k, h); ok {
			return s, k, seen
		}
	}
	return nil, nil, 0
}

// Unlink is Arena.Unlink, for a shard that the caller knows.
func (s *shard) Unlink(h uint64) (k *slots.Hook, seen uint64) {
	t := s.arena.Table.Current.Load()
	if slots.Low(h) >= t.Limit {
		return nil, 0
	}
	k = t.At(slots.Low(h))
	seen, ok := s.limbo.Unlink(k, h)
	if !ok {
		return nil, 0
	}
	return k, seen
}

// Retire retires a slot whose value was moved out.
//
//go:nosplit
func (s *shard) Retire(k *slots.Hook, h, seen uint64) {
	if h >= s.arena.plainBelow || !s.limbo.PushOne(seen, slots.Low(h)) {
		s.retireMoved(k, h, seen)
	}
}

func (s *shard) retireMoved(k *slots.Hook, h, seen uint64) {
	s.arena.Table.MarkMoved(slots.Low(h))
	s.retire(k, h, seen)
}

// retire pushes the caller's slot onto limbo; its word links to the top that was seen, before the slot gets its
// stamp (backlog.take).
//
//go:nosplit
func (s *shard) retire(slot *slots.Hook, h, seen uint64) {
	a := s.arena
	if h >= a.fastBelow {
		// With one stamp for all that a seal takes, a guard delays what was removed before it was pinned, if
		// that is sealed later. That is harmless if memory can grow. If not, a slot must not wait for such a
		// guard (L10).
		if a.stampPerSlot {
			a.Table.SetStamp(slots.Low(h), a.Domain.Stamp())
		}
		if h < a.apartBelow && a.isApart(h) {
			ending{s, slot, h, seen}.retire()
			return
		}
		if h >= slots.LastLife {
			a.Table.CountSpent()
		}
	}
	if !s.limbo.PushOne(seen, slots.Low(h)) {
		s.push(slot, h, seen)
		return
	}
	if h >= a.fastBelow {
		a.waiters.wake()
	}
}

// push pushes a slot that has its stamp and is counted. Success of a push gives the slot away, to the
// goroutine that seals it. Failure means that another removal has pushed, or that a seal has taken
// all that waited.
func (s *shard) push(slot *slots.Hook, h, seen uint64) {
	a := s.arena
	for !s.limbo.Push(seen, slots.Low(h), 1) {
		seen = s.limbo.Head.Load()
		slot.Set(slots.Vacated(h, slots.Low(seen)))
		if a.stampPerSlot {
			a.Table.SetStamp(slots.Low(h), a.Domain.Stamp()) // anew, since seen is
		}
	}
	if h >= a.fastBelow {
		a.waiters.wake()
	}
	s.sealPast(slots.Generation(seen), 1)
}

// sealPast seals what waits if a push of n slots has made the number of pushes one of those at which a removal
// does so, and no insertion has sealed since the one before. It goes on without if another goroutine has the
// lock. So a guard that is pinned later delays only few of what was removed before, although nobody inserts.
func (s *shard) sealPast(pushed, n uint32) {
	if (pushed^(pushed+n)) >= slots.SealEvery && s.limbo.Size() >= slots.SealEvery && s.tryLock() { // a power of two
		s.backlog.sealLimbo(s)
		s.unlock()
	}
}

// Retirer says who retires slots. The garbage collector's goroutines are in no bubble of testing/synctest.
type Retirer uint8

const (
	Caller Retirer = iota
	Collector
)

// retireChain pushes all of c onto limbo. Each slot gets a stamp now.
func (s *shard) retireChain(c *slots.Chain, who Retirer) {
	if c.N == 0 {
		return
	}
	a := s.arena
	for stamp := uint64(0); ; {
		seen := s.limbo.Head.Load()
		if a.stampPerSlot {
			if now := a.Domain.Stamp(); now != stamp { // from after the load of seen (backlog.take)
				stamp = now
				a.Table.SetStamps(c, stamp)
			}
		}
		c.Link(slots.Low(seen)) // at each try
		if s.limbo.Push(seen, slots.Low(c.First), c.N) {
			a.waiters.wakeAfter(who)
			s.sealPast(slots.Generation(seen), c.N)
			return
		}
	}
}

// retireLate is retireChain for slots that were removed before, and keep the stamps that they have.
func (s *shard) retireLate(c *slots.Chain, who Retirer) {
	if !s.arena.stampPerSlot {
		s.retireChain(c, who)
		return
	}
	for c.N > 0 {
		seen := s.late.Head.Load()
		c.Link(slots.Low(seen))
		if s.late.Push(seen, slots.Low(c.First), c.N) {
			s.arena.waiters.wakeAfter(who)
			return
		}
	}
}

// Abandon gives back a slot that was claimed as h and did not go live. Its generation counts as
// lived. Otherwise the slot could enter a freelist twice with one generation (I5), and a handle
// that a constructor has seen could be issued again. The slot goes through limbo, although no
// other goroutine can have seen it, because one way back is simpler to prove.
func (a *Arena) Abandon(slot *slots.Hook, h uint64, who Retirer) {
	var c slots.Chain
	s := a.Local(hint.Goroutine())
	s.unborn.Add(1) // before the word shows it
	word := slots.Vacated(h, slots.None)
	slot.Set(word)
	a.countSpent(h)
	c.Append(slot, slots.Low(h), word)
	s.retireChain(&c, who)
}

// Removals gathers removals in chains of up to a batch, so that it pushes to limbo once a chain.
// The slots are the caller's until End. So no user code may run before End, and End must run on
// every path.
type Removals struct {
	N     int // how many removals there were
	shard *shard
	chain slots.Chain
}

// Removals begins to gather.
func (a *Arena) Removals() Removals { return Removals{shard: a.Local(hint.Goroutine())} }

// Remove is like Arena.Remove, but gathers the slot. It costs one locked instruction.
func (r *Removals) Remove(h uint64) bool {
	a := r.shard.arena
	slot := a.Find(h)
	if slot == nil {
		return false
	}
	// The slot is not in the chain, and cannot come there meanwhile: only this goroutine adds
	// to it. So it does not link to itself (I4).
	top := r.chain.Top()
	if !slot.Word.CompareAndSwap(h, slots.Vacated(h, top)) {
		return false
	}
	if h >= a.fastBelow {
		if a.maySkip(h) {
			h = skip(r.shard, slot, h, top)
		}
		a.countSpent(h)
	}
	r.chain.NoteFirst(slot, slots.Low(h), slots.Vacated(h, top))
	r.N++
	if r.chain.N >= a.mostOwned {
		r.End()
	}
	return true
}

// End retires what was gathered.
func (r *Removals) End() {
	c := r.chain
	r.chain = slots.Chain{}
	r.shard.retireChain(&c, Caller)
}

// mustNote reports whether the removal of h has anything to do besides the push.
func (a *Arena) mustNote(h uint64) bool {
	return a.stampPerSlot || h >= slots.LastLife || a.isApart(h)
}

// countSpent counts the end of a last life.
func (a *Arena) countSpent(h uint64) {
	if h >= slots.LastLife {
		a.Table.CountSpent()
	}
}
