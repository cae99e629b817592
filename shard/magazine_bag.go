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
	if a.quarantine.isOpen() {
		m.retireBag() // it would reuse these slots at once
		return
	}
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

// restamp takes the stamp of the slot that came into the bag last. If that is greater than
// those before, these are sealed: they need not wait as long. Without stampPerSlot there is nothing to do, until
// the epoch is another one.
//
//go:noinline
func (m *Magazine) restamp() {
	if !m.stampPerSlot {
		m.stamp = m.clock.Epoch()
		return
	}
	stamp := m.clock.Stamp()
	if last := m.used - 1; m.open < last {
		m.sealTo(last, m.stamp)
	}
	m.stamp = stamp
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
	b := burner{shard: m.shard}
	for i := len(m.ready) - 1; i >= 0; i-- { // the one used last on top
		k := &m.ready[i]
		if word, ok := b.burn(k.Slot(), slots.Low(k.H), slots.Generation(k.H), slots.None); ok {
			c.Append(k.Slot(), slots.Low(k.H), word)
		}
	}
	b.settle()
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
	c := m.emptyBag()
	m.shard.retireLate(&c, Caller)
}
