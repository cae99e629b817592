package shard

import "slices"

// The bag of a magazine has the slots that it removed and that wait for their grace period, in
// parts with an epoch stamp each:
//
//	          from        seals[0].end   seals[1].end  used  len(bag)
//	 ──────────┼───────────────┼──────────────┼─────────┼──────┼
//	 ready now │    sealed     │    sealed    │  open   │
//
// It is to a magazine what limbo and waiting are to a shard, and keeps the same rule (I6): a
// stamp is taken after the last unlinking of its part, and grows, so parts pass in order.

// turn makes the parts that have passed ready. If the magazine has enough slots, or the arena
// has a Reset, it sends the bag to limbo: a Reset may panic, or use the magazine, and limbo
// allows for that. A Reset may have closed the magazine when turn returns.
func (m *Magazine[T]) turn() {
	a := m.arena
	m.seal()
	if waits := m.used - m.from; a.Reset != nil || len(m.ready)+waits > m.reach-m.batch {
		if !m.gave && a.Reset == nil && len(m.seals) > 0 {
			// Slots that wait for a guard are no reason for a greater reach.
			m.gave = a.Domain.Passed(m.seals[len(m.seals)-1].stamp)
		}
		m.retireBag()
		return
	}
	if m.pass(); !m.HasNext() && m.used-m.from > (m.reach-m.batch)*3/4 {
		m.retireBag() // it waits for a guard, and leaves Claim room for few slots, each time it looks
	}
	m.makeRoom()
}

// seal seals the open part of the bag. Its slots were unlinked before, so the current epoch is
// a right stamp for all.
func (m *Magazine[T]) seal() {
	if m.open == m.used {
		return
	}
	stamp := m.stamp
	if !m.exact {
		stamp = m.clock.Retire()
	}
	m.open = m.used
	m.seals = append(m.seals, seal{m.open, stamp})
}

// pass makes the sealed parts ready whose grace period is over. One scan of the pin cells
// serves all.
func (m *Magazine[T]) pass() {
	if len(m.seals) == 0 {
		return
	}
	oldest := m.arena.Domain.Scan().Oldest
	k := 0
	for k < len(m.seals) && m.seals[k].stamp < oldest {
		k++
	}
	if k == 0 {
		return
	}
	end := m.seals[k-1].end
	m.seals = append(m.seals[:0], m.seals[k:]...)
	m.reuse(end)
}

// reuse makes the slots of the bag before end ready.
func (m *Magazine[T]) reuse(end int) {
	a := m.arena
	passed := m.bag[m.from:end]
	whole := m.from == 0 && end == m.used && len(m.ready) == 0
	m.from = end  // first, because a parked slot is no longer the magazine's
	if a.held() { // observes (P7): holds stood before their slots came into the bag
		free := passed[:0]
		for _, k := range passed {
			if !a.park(Low(k.h), false) {
				free = append(free, k)
			}
		}
		passed = free
	}
	if a.Pointers {
		for _, k := range passed {
			clear1(&k.slot.Value)
		}
	}
	if poisons {
		for _, k := range passed {
			a.fill(k.slot)
		}
	}
	if whole {
		m.ready, m.bag = passed, m.ready[:cap(m.ready)]
	} else {
		m.ready = append(m.ready, passed...)
	}
	if m.from >= m.used {
		m.clearBag()
	}
}

// clearBag makes the bag empty, after its slots have moved.
func (m *Magazine[T]) clearBag() {
	m.used, m.from, m.open, m.top, m.seals = 0, 0, 0, None, m.seals[:0]
}

// makeRoom makes room for a batch in the bag. It does not allocate once the arrays have their
// size.
func (m *Magazine[T]) makeRoom() {
	if n := m.from; n > 0 && (n >= m.used-n || cap(m.bag)-m.used < m.batch) {
		m.used = copy(m.bag, m.bag[n:m.used])
		m.from, m.open = 0, m.open-n
		for k := range m.seals {
			m.seals[k].end -= n
		}
	}
	m.bag = slices.Grow(m.bag[:m.used], m.batch)
	m.bag = m.bag[:max(m.used, min(m.open+m.batch, m.from+m.reach-len(m.ready)))]
}

// giveBack gives the slots that are ready back to the shard's freelist. Its caller clears the
// array. No other goroutine has seen them. They may have been in a freelist with their
// generations, and must not enter one with these again (I5), so each burns a life. It waits for
// the shard's lock.
func (m *Magazine[T]) giveBack() {
	var c chain[T]
	for _, k := range slices.Backward(m.ready) { // the one used last on top
		if g := Generation(k.h); g == LastGeneration {
			m.arena.exhaust(k.slot)
		} else {
			word := Pack(g+1, None)
			k.slot.set(word)
			c.append(k.slot, Low(k.h), word)
		}
	}
	m.ready = m.ready[:0]
	defer m.arena.wake() // also if c is empty: the last slots may be exhausted
	if c.n > 0 {
		m.shard.mu.Lock()
		defer m.shard.mu.Unlock()
		m.shard.push(&c)
	}
}

// emptyBag takes everything out of the bag. Each slot keeps its stamp, so that a guard of one
// part does not delay the others.
func (m *Magazine[T]) emptyBag() (c chain[T]) {
	m.seal()
	if part := m.bag[m.from:m.used]; len(part) > 0 {
		first, last := part[len(part)-1], part[0]
		c = chain[T]{
			first: first.h - generationStep, n: uint32(len(part)),
			tail: last.h - generationStep, last: last.slot, next: Low(last.slot.Word.Load()),
		}
	}
	if m.exact {
		for _, s := range m.seals {
			for ; m.from < s.end; m.from++ {
				m.arena.setStamp(Low(m.bag[m.from].h), s.stamp)
			}
		}
	}
	m.clearBag()
	m.bag = slices.Grow(m.bag[:0], m.batch)[:m.batch]
	return c
}

// retireBag sends the bag to the shard's limbo. It may run a Reset, which finds the bag empty.
func (m *Magazine[T]) retireBag() {
	c := m.emptyBag()
	m.shard.retireChain(&c, Reclaim)
}
