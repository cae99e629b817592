package shard

import (
	"slices"

	"coatcheck/internal/atom"
)

// The bag of a magazine: what was removed and waits for its grace period, in parts that
// have a tag each.
//
//	          from        seals[0].end   seals[1].end        room
//	 ──────────┼───────────────┼──────────────┼─────────┼──────┼
//	 ready now │    sealed     │    sealed    │  open   │
//
// It is to a magazine what limbo and the batches are to a shard, and keeps the same rule
// (I6): a tag is taken after the last unlinking that it is for. Tags grow from part to
// part, so that the parts pass in order.

// turn makes what has passed in the bag ready, or sends the bag to limbo if there is no
// need of it. So it does where there is a Reset: that may panic, or use the magazine,
// and limbo is prepared for it. A Reset may have closed the magazine when turn returns.
func (m *Magazine[T]) turn() {
	a := m.arena
	m.low = min(m.low, len(m.ready))
	m.seal()
	if waits := len(m.bag) - m.from; a.Reset != nil || len(m.ready)+int(m.end-m.next)+waits > m.reach-m.batch {
		if !m.gave && a.Reset == nil && len(m.seals) > 0 {
			// What guards keep from going round is no reason to keep more.
			m.gave = a.Domain.Over(m.seals[len(m.seals)-1].tag)
		}
		m.retireBag()
		return
	}
	m.pass()
	m.makeRoom()
	m.shrink()
}

// seal seals the open part of the bag. Its slots were unlinked before, so that the epoch
// of now is a right tag for all.
//
// With a seal for each guard that stands between removals, each delays its own. If
// there are more, the later ones share a seal.
func (m *Magazine[T]) seal() {
	if m.open == len(m.bag) {
		return
	}
	tag := m.tag
	if !m.exact {
		tag = m.arena.Domain.Epoch()
	}
	m.open = len(m.bag)
	if k := len(m.seals); k < sealedMost {
		m.seals = append(m.seals, seal{m.open, tag})
	} else {
		m.seals[k-1] = seal{m.open, tag}
	}
}

// pass makes those sealed parts ready whose grace period is over. One scan of the pin
// cells serves all: where no guard is in the way of the last, none is in the way of
// the others.
func (m *Magazine[T]) pass() {
	d := m.arena.Domain
	k := len(m.seals)
	if k == 0 {
		return
	}
	if !d.Over(m.seals[k-1].tag) {
		for k = 0; k < len(m.seals) && m.seals[k].tag < d.Safe(); k++ {
		}
	}
	if k == 0 {
		return
	}
	end := m.seals[k-1].end
	m.seals = append(m.seals[:0], m.seals[k:]...)
	m.reuse(end)
}

// reuse makes the slots of the bag ready that lie before end.
func (m *Magazine[T]) reuse(end int) {
	a := m.arena
	passed := m.bag[m.from:end]
	whole := m.from == 0 && end == len(m.bag) && len(m.ready) == 0
	m.from = end  // a slot that is parked is out of the magazine's hands at once
	if a.held() { // observes (P8): holds stood before their slots came into the bag
		free := passed[:0]
		for _, k := range passed {
			if !a.park(Low(k.h)) {
				free = append(free, k)
			}
		}
		passed = free
	}
	if a.Pointers {
		var zero T
		for _, k := range passed {
			k.slot.Value = zero
			if atom.Charges {
				atom.PlainWrite(&k.slot.Value)
			}
		}
	}
	for i := range passed {
		passed[i].h = Reborn(passed[i].h)
		if atom.Charges {
			atom.PlainWrite(&passed[i])
		}
	}
	if whole {
		m.ready, m.bag = passed, m.ready
	} else {
		m.ready = append(m.ready, passed...)
	}
	if m.from >= len(m.bag) {
		m.clearBag()
	}
}

// clearBag makes the bag empty. Its slots are elsewhere.
func (m *Magazine[T]) clearBag() {
	m.bag, m.from, m.open, m.top, m.seals = m.bag[:0], 0, 0, None, m.seals[:0]
}

// makeRoom sees that a batch can be added to the bag, without an allocation where the
// arrays have their size.
func (m *Magazine[T]) makeRoom() {
	if n := m.from; n > 0 && (n >= len(m.bag)-n || cap(m.bag)-len(m.bag) < m.batch) {
		m.bag = m.bag[:copy(m.bag, m.bag[n:])]
		m.from, m.open = 0, m.open-n
		for k := range m.seals {
			m.seals[k].end -= n
		}
	}
	m.bag = slices.Grow(m.bag, m.batch)
	m.room = min(m.open+m.batch, m.from+m.reach-len(m.ready)-int(m.end-m.next))
}

// shrink gives most of those slots back that no insertion has needed for long.
func (m *Magazine[T]) shrink() {
	if m.since += m.batch; m.since < idleRemovals {
		return
	}
	if m.low > m.first()/4 {
		n := m.low * 3 / 4
		m.giveBack(n)
		m.setReach(max(m.reach-n, m.first()))
	}
	m.low, m.since = len(m.ready), 0
}

// giveBack gives back to the shard's freelist the n slots that were ready for longest.
// Nobody can have seen them. They may have been in a freelist with their generations,
// and must not enter one with them again (I5): so they give them up.
func (m *Magazine[T]) giveBack(n int) {
	var c chain[T]
	for i := n - 1; i >= 0; i-- { // the warmest on top
		k := m.ready[i]
		if g := Generation(k.h); g == LastGeneration {
			m.arena.exhaust(k.slot)
		} else {
			word := Pack(g+1, None)
			k.slot.set(word)
			c.append(k.slot, Low(k.h), word)
		}
	}
	m.ready = slices.Delete(m.ready, 0, n)
	m.pushBack(&c)
}

// pushBack makes vacant for all what the magazine does not keep. It counts as a seal when
// it is done, for an insertion that has looked here before (bare).
func (m *Magazine[T]) pushBack(c *chain[T]) {
	if c.n > 0 {
		m.shard.push(c)
		m.shard.seals.Add(1)
	}
}

// lot is a part of a bag on its way to limbo.
type lot[T any] struct {
	chain chain[T]
	tag   uint64
}

// emptyBag takes everything out of the bag: each sealed part with its tag, so that a
// guard which one of them must wait for does not delay the others. Where removals have
// no tags it is one part: the shard's batch will have a tag for all.
func (m *Magazine[T]) emptyBag() (lots [sealedMost]lot[T]) {
	m.seal()
	if !m.exact && len(m.seals) > 0 {
		m.seals = append(m.seals[:0], seal{end: len(m.bag)})
	}
	for k, s := range m.seals {
		part := m.bag[m.from:s.end]
		first, last := part[len(part)-1], part[0]
		lots[k] = lot[T]{chain[T]{
			first: first.h + generationStep, n: uint32(len(part)),
			tail: last.h + generationStep, last: last.slot, next: Low(last.slot.Word.Load()),
		}, s.tag}
		m.from = s.end
	}
	m.clearBag()
	m.room = m.batch
	return lots
}

// retireBag sends the bag to the shard's limbo. It may run a Reset, which finds the bag
// empty.
func (m *Magazine[T]) retireBag() { m.shard.retireLots(m.emptyBag()) }

// retireLots retires what was in a bag: all of it, before a Reset runs that may not
// return.
func (s *shard[T]) retireLots(lots [sealedMost]lot[T]) {
	due := uint32(0)
	for i := range lots {
		if before, after := s.pushLimbo(&lots[i].chain, lots[i].tag); before/Batch != after/Batch {
			due = after &^ (Batch - 1)
		}
	}
	if due > 0 {
		s.reclaimDue(due)
	}
}
