package shard

import (
	"slices"

	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// The bag of a magazine has the slots that it removed and that wait for their grace period, in
// parts with an epoch stamp each:
//
//	          start       seal 0's end   seal 1's end  used  len(bag)
//	 ──────────┼───────────────┼──────────────┼─────────┼──────┼
//	 ready now │    sealed     │    sealed    │  open   │
//
// It is to a magazine what limbo and the backlog are to a shard, and keeps the same rule (I6): a
// stamp is taken after the last unlinking of its part, and grows, so parts pass in order. A bag
// without parts would wait for a guard as a whole. A burst that fits into the bag costs half.

// refillReady makes the parts that have passed ready. If the magazine has enough slots, or the arena
// has a Reset, it sends the bag to limbo: a Reset may panic, or use the magazine, and what fetches from limbo
// allows for that.
func (m *Magazine) refillReady() {
	a := m.arena
	m.seal()
	if waits := m.used - m.start; a.Reset != nil || len(m.ready)+waits > m.reach-m.batch {
		if last := m.seals.Youngest(); !m.overflowed && a.Reset == nil && last != nil {
			// Slots that wait for a guard are no reason for a greater reach.
			oldest, _ := m.frontier.Oldest(last.Stamp)
			m.overflowed = last.Stamp < oldest
		}
		m.retireBag()
		return
	}
	if m.release(); !m.HasNext() && m.used-m.start > (m.reach-m.batch)*3/4 {
		m.retireBag() // it waits for a guard, and leaves Claim room for few slots, each time it looks
	}
	m.makeRoom()
}

// seal seals the open part of the bag. Its slots were unlinked before, so the current epoch is
// a right stamp for all.
func (m *Magazine) seal() {
	if m.open == m.used {
		return
	}
	stamp := m.stamp
	if !m.stampPerSlot {
		stamp = m.clock.Stamp()
	}
	m.sealTo(m.used, stamp)
}

// sealTo seals the open part up to end.
func (m *Magazine) sealTo(end int, stamp uint64) {
	m.frontier.Pay((end - m.open) * cellsPaidInBag)
	m.frontier.Mix()
	m.open = end
	m.seals.Add(stamp, end)
}

// release makes the sealed parts ready whose grace period is over. One scan of the pin cells
// serves all, if the slots have paid for it.
func (m *Magazine) release() {
	if m.seals.Len() == 0 {
		return
	}
	turn := m.begin()
	oldest, _ := m.frontier.Oldest(m.seals.Oldest().Stamp)
	end := m.start
	for first := m.seals.Oldest(); first != nil && first.Stamp < oldest; first = m.seals.Oldest() {
		end = first.Body
		m.seals.RemoveFirst()
	}
	cost.Batches(1)
	m.mustBeAlone(turn)
	if end > m.start {
		m.reuse(end)
	}
}

// reuse makes the slots of the bag before end ready.
func (m *Magazine) reuse(end int) {
	whole := m.start == 0 && end == m.used && len(m.ready) == 0
	passed := m.bag[m.start:end]
	m.start = end           // first, because a parked slot is no longer the magazine's
	c := m.arena.recycler() // observes (P7): holds stood before their slots came into the bag
	passed = c.bag(passed)
	if whole {
		m.ready, m.bag = passed, m.ready[:cap(m.ready)]
	} else {
		m.ready = append(m.ready, passed...)
	}
	if m.start >= m.used {
		m.clearBag()
	}
}

// clearBag makes the bag empty, after its slots have moved.
func (m *Magazine) clearBag() {
	m.used, m.start, m.open, m.top = 0, 0, 0, slots.None
	m.seals.Clear()
}

// makeRoom makes room for a batch in the bag. It does not allocate once the arrays have their
// size.
func (m *Magazine) makeRoom() {
	if n := m.start; n > 0 && (n >= m.used-n || cap(m.bag)-m.used < m.batch) {
		m.used = copy(m.bag, m.bag[n:m.used])
		m.start, m.open = 0, m.open-n
		for k := range m.seals.Len() {
			m.seals.Entry(k).Body -= n
		}
	}
	m.bag = slices.Grow(m.bag[:m.used], m.batch)
	m.bag = m.bag[:max(m.used, min(m.open+m.batch, m.start+m.reach-len(m.ready)))]
}

// giveBack gives the slots that are ready back to the shard's freelist. No other goroutine has
// seen them. They may have been in a freelist with their
// generations, and must not enter one with these again (I5), so each burns a life. It waits for
// the shard's lock.
func (m *Magazine) giveBack(who Retirer) {
	var c slots.Chain
	for i := len(m.ready) - 1; i >= 0; i-- { // the one used last on top
		k := &m.ready[i]
		if word, ok := m.arena.burn(k.Slot(), slots.Generation(k.H), slots.None); ok {
			c.Append(k.Slot(), slots.Low(k.H), word)
		}
	}
	m.ready = m.ready[:0]
	defer m.arena.waiters.wakeAfter(who) // also if c is empty: the last slots may be exhausted
	if c.N > 0 {
		m.shard.lock()
		defer m.shard.unlock()
		m.shard.free.Push(&c)
	}
}

// emptyBag takes everything out of the bag. Each slot keeps its stamp, so that a guard of one
// part does not delay the others.
func (m *Magazine) emptyBag() (c slots.Chain) {
	m.seal()
	if part := m.bag[m.start:m.used]; len(part) > 0 {
		first, last := &part[len(part)-1], &part[0]
		c = slots.Chain{
			First: first.H - slots.GenerationStep, N: uint32(len(part)),
			Tail: last.H - slots.GenerationStep, Last: last.Slot(), Next: slots.Low(last.Slot().Word.Load()),
		}
	}
	position := m.start
	for k := 0; m.stampPerSlot && k < m.seals.Len(); k++ {
		for seal := m.seals.Entry(k); position < seal.Body; position++ {
			m.arena.Table.SetStamp(slots.Low(m.bag[position].H), seal.Stamp)
		}
	}
	m.clearBag()
	m.bag = slices.Grow(m.bag[:0], m.batch)[:m.batch]
	return c
}

// retireBag sends the bag to the shard's limbo.
func (m *Magazine) retireBag() {
	if !m.retireByArrays() {
		c := m.emptyBag()
		m.shard.retireLate(&c, Caller)
	}
}

// retireByArrays makes the bag a batch of the shard's backlog, which has arrays. It reports false, and
// has done nothing, if the arena keeps none, or has too many, if the bag is short, or if another
// goroutine has the lock.
func (m *Magazine) retireByArrays() bool {
	s, n := m.shard, m.used-m.start
	if !m.arena.keepsArrays() || n < spliceLeast || !s.tryLock() {
		return false
	}
	if int(s.backlog.size()+s.ready.size())+n > arraysMost {
		s.unlock()
		return false
	}
	m.seal()
	leastStamp, stamp := m.seals.Oldest().Stamp, m.seals.Youngest().Stamp
	arrays := s.ready.arraysOf(m.bag[m.start:m.used])
	c := m.emptyBag()
	c.Arrays = arrays
	s.backlog.retire(stamp, leastStamp, c)
	s.unlock()
	m.arena.waiters.wake()
	return true
}

// fetchElsewhere is fetch from another shard.
func (m *Magazine) fetchElsewhere(limit int) {
	for k := 1; k < min(len(m.arena.shards()), fetchMost) && !m.HasNext(); k++ {
		if s := m.shard.next(k); slots.Low(s.kept.Load()) > 0 {
			m.fetch(s, limit)
		}
	}
}

// fetch makes slots ready that are ready in s and have arrays: up to limit, or none if another
// goroutine has the lock. The magazine has no slot that is ready.
//
// The handles come last. Each load of a word is mostly a cache miss, and none waits for another. The
// wrong version has the handles in the arrays, and saves these loads. Then the misses come one by one
// with the insertions, as they do in a list.
func (m *Magazine) fetch(s *shard, limit int) {
	if !m.arena.keepsArrays() || !s.tryLock() {
		return
	}
	m.ready = m.ready[:s.ready.takeByArrays(m.ready[:limit], &m.arena.Table)]
	s.unlock()
	for i := range m.ready {
		k := &m.ready[i]
		k.H |= uint64(slots.Generation(k.Slot().Word.Load())+1) << 32
		if s != m.shard {
			m.shard.setHome(slots.Low(k.H), slots.Low(k.H)+1)
		}
	}
}

// What a magazine gives away mostly waited in the bag and then for a guard, so it is cold when it
// comes back. A chain is walked by dependent loads: the next slot is found only when the word of the
// one before has come from memory. Behind a guard that was preempted a walk took two thirds of a
// program's time. So a batch that a magazine retires keeps, beside its chain, arrays of the same
// slots. By these a magazine takes a part of it with loads that do not depend on each other, and their
// cache misses overlap.
//
//	chain   first ─▶ 7 ─▶ 3 ─▶ 9 │ ─▶ 4 ─▶ 1 ─▶ None
//	arrays         [ 9   3   7 ] │ [ 1   4 ]
//
// The chain is the truth: Trim, Stats, snapshots and refusals go by it. The arrays repeat it
// (I14). A method of chain that changes the slots changes the arrays alike, or drops them. So no
// other code needs to know of them, and what has lost them goes the way of all others.

// keepsArrays reports whether what magazines retire has arrays. It has none where each slot is filed by
// its own stamp, or is taken out of its batch for a Reset, because no batch keeps its slots together
// there. It has none in an arena that replays: a copy has the lists alone, and must issue the same
// handles. The magazines of a queue keep no slots.
func (a *Arena) keepsArrays() bool { return !a.stampPerSlot && a.Reset == nil && !a.Replays }
