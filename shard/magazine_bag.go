package shard

import (
	"slices"

	"coatcheck/internal/cost"
)

// The bag of a magazine has the slots that it removed and that wait for their grace period, in
// parts with an epoch stamp each:
//
//	          from        seal 0's end   seal 1's end  used  len(bag)
//	 ──────────┼───────────────┼──────────────┼─────────┼──────┼
//	 ready now │    sealed     │    sealed    │  open   │
//
// It is to a magazine what limbo and the backlog are to a shard, and keeps the same rule (I6): a
// stamp is taken after the last unlinking of its part, and grows, so parts pass in order. A bag
// without parts would wait for a guard as a whole. A burst that fits into the bag costs half.

// refillReady makes the parts that have passed ready. If the magazine has enough slots, or the arena
// has a Reset, it sends the bag to limbo: a Reset may panic, or use the magazine, and limbo
// allows for that. A Reset may have closed the magazine when recycle returns.
func (m *Magazine) refillReady() {
	a := m.arena
	m.seal()
	if waits := m.used - m.start; a.Reset != nil || len(m.ready)+waits > m.reach-m.batch {
		if last := m.seals.youngest(); !m.overflowed && a.Reset == nil && last != nil {
			// Slots that wait for a guard are no reason for a greater reach.
			oldest, _ := m.frontier.Oldest(last.stamp)
			m.overflowed = last.stamp < oldest
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
	m.seals.add(stamp, end)
}

// release makes the sealed parts ready whose grace period is over. One scan of the pin cells
// serves all, if the slots have paid for it.
func (m *Magazine) release() {
	if m.seals.len() == 0 {
		return
	}
	turn := m.begin()
	oldest, _ := m.frontier.Oldest(m.seals.oldest().stamp)
	end := m.start
	for first := m.seals.oldest(); first != nil && first.stamp < oldest; first = m.seals.oldest() {
		end = first.body
		m.seals.removeFirst()
	}
	cost.Batches(1)
	m.mustBeAlone(turn)
	if end > m.start {
		m.reuse(end)
	}
}

// reuse makes the slots of the bag before end ready.
func (m *Magazine) reuse(end int) {
	a := m.arena
	passed := m.bag[m.start:end]
	cost.Slots(len(passed))
	whole := m.start == 0 && end == m.used && len(m.ready) == 0
	m.start = end     // first, because a parked slot is no longer the magazine's
	if a.hasHolds() { // observes (P7): holds stood before their slots came into the bag
		free := passed[:0]
		for _, k := range passed {
			if !a.park(a.Table.Pages(), Low(k.h)) {
				free = append(free, k)
			}
		}
		passed = free
	}
	if a.skips.Load() != nil {
		passed = a.skipAll(passed)
	}
	if a.Pointers {
		a.Clean(passed)
	}
	if poisons {
		for i := range passed {
			a.fill(passed[i].slot())
		}
	}
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
	m.used, m.start, m.open, m.top = 0, 0, 0, None
	m.seals.clear()
}

// makeRoom makes room for a batch in the bag. It does not allocate once the arrays have their
// size.
func (m *Magazine) makeRoom() {
	if n := m.start; n > 0 && (n >= m.used-n || cap(m.bag)-m.used < m.batch) {
		m.used = copy(m.bag, m.bag[n:m.used])
		m.start, m.open = 0, m.open-n
		for k := range m.seals.len() {
			m.seals.entry(k).body -= n
		}
	}
	m.bag = slices.Grow(m.bag[:m.used], m.batch)
	m.bag = m.bag[:max(m.used, min(m.open+m.batch, m.start+m.reach-len(m.ready)))]
}

// giveBack gives the slots that are ready back to the shard's freelist. No other goroutine has
// seen them. They may have been in a freelist with their
// generations, and must not enter one with these again (I5), so each burns a life. It waits for
// the shard's lock.
func (m *Magazine) giveBack(mode ReclaimMode) {
	var c chain
	for i := len(m.ready) - 1; i >= 0; i-- { // the one used last on top
		k := &m.ready[i]
		if g := Generation(k.h); g == LastGeneration {
			m.arena.exhaust(k.slot())
		} else {
			word := Pack(g+1, None)
			k.slot().set(word)
			c.append(k.slot(), Low(k.h), word)
		}
	}
	m.ready = m.ready[:0]
	defer m.arena.waiters.wakeAfter(mode) // also if c is empty: the last slots may be exhausted
	if c.n > 0 {
		m.shard.lock()
		defer m.shard.unlock()
		m.shard.free.push(&c)
	}
}

// emptyBag takes everything out of the bag. Each slot keeps its stamp, so that a guard of one
// part does not delay the others.
func (m *Magazine) emptyBag() (c chain) {
	m.seal()
	if part := m.bag[m.start:m.used]; len(part) > 0 {
		first, last := &part[len(part)-1], &part[0]
		c = chain{
			first: first.h - generationStep, n: uint32(len(part)),
			tail: last.h - generationStep, last: last.slot(), next: Low(last.slot().Word.Load()),
		}
	}
	position := m.start
	for k := 0; m.stampPerSlot && k < m.seals.len(); k++ {
		for seal := m.seals.entry(k); position < seal.body; position++ {
			m.arena.Table.setStamp(Low(m.bag[position].h), seal.stamp)
		}
	}
	m.clearBag()
	m.bag = slices.Grow(m.bag[:0], m.batch)[:m.batch]
	return c
}

// retireBag sends the bag to the shard's limbo. It may run a Reset, which finds the bag empty.
func (m *Magazine) retireBag() {
	if !m.retireByArrays() {
		c := m.emptyBag()
		m.shard.retireChain(&c, Now)
	}
}

// retireByArrays makes the bag a batch of the shard's backlog, which has arrays. It reports false, and
// has done nothing, if the arena keeps none, or has too many, if the bag is short, or if another
// goroutine has the lock. It also does so while a goal is set (goal): the batch gets the number of the
// last seal, so that calls which come later wait for it, and those that have come would wait for each
// further one.
func (m *Magazine) retireByArrays() bool {
	s, n := m.shard, m.used-m.start
	if !m.arena.keepsArrays() || n < spliceLeast || !s.tryLock() {
		return false
	}
	if len(s.fences) > 0 || int(s.waits+s.passed())+n > arraysMost {
		s.unlock()
		return false
	}
	m.seal()
	stamp := m.seals.youngest().stamp
	b := batch{leastStamp: m.seals.oldest().stamp, number: s.seals}
	list := s.spare.list(m.bag[m.start:m.used])
	b.chain = m.emptyBag()
	b.arrays = list
	s.retireBatch(stamp, &b)
	return true
}

// fetchElsewhere is fetch from another shard.
func (m *Magazine) fetchElsewhere(limit int) {
	for k := 1; k < min(len(m.arena.shards()), fetchMost) && !m.HasNext(); k++ {
		if s := m.shard.next(k); Low(s.kept.Load()) > 0 {
			m.fetch(s, limit)
		}
	}
}

// fetch makes slots ready that are ready in s and have arrays: up to most, or none if another
// goroutine has the lock. The magazine has no slot that is ready.
//
// The handles come last. Each load of a word is mostly a cache miss, and none waits for another. The
// wrong version has the handles in the arrays, and saves these loads. Then the misses come one by one
// with the insertions, as they do in a list.
func (m *Magazine) fetch(s *shard, limit int) {
	if !m.arena.keepsArrays() || !s.tryLock() {
		return
	}
	m.ready = m.ready[:s.takeByArrays(m.ready[:limit])]
	s.unlock()
	for i := range m.ready {
		k := &m.ready[i]
		k.h |= uint64(Generation(k.slot().Word.Load())+1) << 32
		if s != m.shard {
			m.shard.setHome(Low(k.h), Low(k.h)+1)
		}
	}
}
