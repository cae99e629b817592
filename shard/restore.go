package shard

import (
	"maps"
	"math"
	"slices"

	"coatcheck/shard/slots"
)

// A snapshot reads what a pool's slots are while others use them, and a restored pool's lists
// are built from that.
//
// A slot's generation says all that a snapshot must know. If it is odd, the slot is live with
// it. If it is even, no handle beyond the next odd generation was ever issued, because a
// slot's owner has the handle of the very next life (I2). So a restored vacant slot burns that
// one life, whether it was in a freelist, in limbo, or with a Worker, a Reservation or a Ref.
//
// The methods here are for the goroutine that builds a pool which no other has seen.
// Their stores are atomic only because the words are.

// BesideSlot is how many bytes a restored slot may take beside its memory: a stamp, and what it
// skips. Each 64 slots take 12 bytes more.
const BesideSlot = 8

// RestoreSlot gives a generation to slot i, which was handed out. A live slot already has its
// value.
func (a *Arena) RestoreSlot(i, generation uint32) {
	slot := a.Table.Slot(i)
	if generation%2 == 1 {
		slot.Publish(slots.Pack(generation, i))
		return
	}
	a.Clear(slot)
	slot.Set(slots.Pack(generation, slots.None))
}

// Outlive makes sure that no handle is issued again of slot i, which the arena leaves out, and which the
// original had with a generation. If slots are exhausted, slots with new indexes take their place, and
// perhaps this one. So slots that were never used begin after it, by so many lives and one more. If it
// has none left, there will be no slot with its index or a greater one.
//
// The wrong version forgets what the arena has no slot for, since no handle is live there now.
func (a *Arena) Outlive(i, generation, lives uint32) {
	g := later(generation+generation%2, 1+lives)
	if g == slots.Spent {
		a.Slots = min(a.Slots, uint64(i))
		a.Table.Restrict(a.Slots)
		return
	}
	a.FreshGeneration = max(a.FreshGeneration, g+1)
	a.Table.BeginAt(a.FreshGeneration)
}

// Census counts the slots that were handed out.
type Census struct{ Live, vacant, exhausted uint64 }

// RetireUnborn ends the next lives of each vacant slot: so many, and those that the slot must
// skip besides. It ends one at least, because another goroutine may have been promised the next
// life. Live slots skip so many when they are removed. A slot without another life is
// exhausted. It returns the counts of the slots.
func (a *Arena) RetireUnborn(skips RestoredSkips, lives uint32) (c Census) {
	for i := range uint32(a.Table.Allocated()) {
		slot := a.Table.Slot(i)
		g := slots.Generation(slot.Word.Load())
		if g%2 == 1 {
			c.Live++
			continue
		}
		n := max(1, moreSkips(skips.take(i), lives))
		if g = later(g, n); g == slots.Spent {
			c.exhausted++
		} else {
			c.vacant++
		}
		slot.Set(slots.Pack(g, slots.None))
	}
	a.KeepSkips(skips, lives)
	a.Table.RestoreSpent(c.exhausted, 0)
	return c
}

// FillFreelists puts the vacant slots on the shards' freelists, in equal parts, but for those of pages in
// which nothing lives. It gives these pages up, as Trim does, and insertions bring them back. So a pool
// whose memory was given up is not restored with the memory of its peak. c is the result of RetireUnborn.
func (a *Arena) FillFreelists(c Census) {
	if gone, count := vacantPages(&a.Table); !a.Fixed && count > a.Table.Pages().Mask+1 { // otherwise the stub takes as much
		a.Table.Decommit(gone)
		c.vacant -= uint64(count)
	}
	receivers := a.shards()
	n := uint64(len(receivers))
	i := uint32(0)
	for k, s := range receivers {
		var list slots.Chain
		for range c.vacant*uint64(k+1)/n - c.vacant*uint64(k)/n {
			i = a.Table.NextVacant(i)
			slot := a.Table.Slot(i)
			list.Append(slot, i, slot.Word.Load())
			i++
		}
		s.lock()
		if a.FIFO && list.N > 0 {
			s.ready.keepLast(&list) // those that were never used come first
		} else {
			s.free.Push(&list)
		}
		s.unlock()
	}
	a.Preallocate()
}

// vacantPages returns the pages that Trim would give up, the last one first, and how many slots they have.
// Their floors are I11's: each slot has burnt a life since it was in a list.
func vacantPages(t *slots.Table) (gone []slots.Decommitted, count uint32) {
	for m := range t.Pages().Pages {
		if uint64(m.FirstSlot)+uint64(m.N) > t.Allocated() {
			break
		}
		if floor := floorOf(t.Pages(), m); floor > 0 {
			gone = append(gone, slots.Decommitted{FirstSlot: m.FirstSlot, Floor: floor})
			count += m.N
		}
	}
	slices.Reverse(gone)
	return gone, count
}

// floorOf returns the greatest generation of m's slots, or 0 if one of them is live, or too old for a floor.
func floorOf(t *slots.PageTable, m *slots.PageMeta) (floor uint32) {
	part := t.Strip(m.FirstSlot, m.FirstSlot+m.N)
	for j := range part.N {
		w := part.Slot(j).Word.Load()
		if slots.IsLive(w) || slots.Generation(w) > oldPage {
			return 0
		}
		floor = max(floor, slots.Generation(w))
	}
	return floor
}

// RestoreOrder puts the slots into the lists in which they were, and counts them. It returns
// false, and has done nothing, if order is empty or not one of this arena. It also does so if
// slots have changed since, as after concurrent changes or with other options.
func (a *Arena) RestoreOrder(b []byte, skips RestoredSkips) (c Census, ok bool) {
	var o order
	r := scribe{b: b, reads: true}
	if r.order(&o); r.bad || len(r.b) > 0 || a.Config.Shards != 1 {
		return c, false
	}
	l := lister{arena: a, seen: make([]bool, a.Table.Allocated())}
	if !l.accepts(&o) {
		return c, false
	}
	c = l.countRest(&o, skips)
	l.stamps(&o)
	l.restore(&o)
	if n := len(o.unused); n > 0 {
		a.Table.Provide(min(o.unused[n-1]+1, a.Table.Bound())) // the Capacity may be less than it was
	}
	a.Preallocate()
	return c, true
}

// lister makes lists from an order.
type lister struct {
	arena *Arena
	seen  []bool            // slots that are in a list, a range, or a page without memory
	stamp map[uint64]uint64 // of an age
}

// accepts reports whether o is an order of this arena.
func (l *lister) accepts(o *order) bool {
	a := l.arena
	p := a.Table.Pages()
	ok := (o.sizes == a.Pages.Code() || o.earlier() && len(o.gone) == 0) && o.kind == a.kindOf() && o.next == uint64(len(l.seen)) && o.stamped <= 1 && o.stub <= 1 &&
		o.unworn <= 1 && o.searches < othersFirst && o.joinAt <= math.MaxInt32 &&
		max(o.account.credit, o.account.guards, o.account.saved, o.account.added) <= math.MaxInt32 &&
		l.seeAll(&o.free, slots.Spent-1) && l.seeAll(&o.turned, slots.Spent) && l.seeAll(&o.limbo, slots.Spent) && l.seeAll(&o.sealed.places, slots.Spent) &&
		l.hasRange(o.fresh) && l.hasRange(o.again) && len(o.gone)%2 == 0 && (o.stub == 1 || len(o.gone) == 0) &&
		(o.stub == 0 || p.Limit > 0) // a stub is that of a page
	// Under FIFO what passes later is put behind these, so their ends are known.
	known := uint64(0)
	if a.FIFO {
		known = 1
	}
	ok = ok && (len(o.turned.slots) == 0 || o.turned.known >= known)
	for k := 0; ok && k < len(o.ready); k++ {
		ok = len(o.ready[k].slots) > 0 && o.ready[k].known >= known && l.seeAll(&o.ready[k], slots.Spent-1)
	}
	for k := 0; ok && k < len(o.waiting); k++ {
		q := &o.waiting[k]
		ok = len(q.slots) > 0 && q.known >= known && l.seeAll(&q.places, slots.Spent) && q.age <= q.leastAge && (k == 0 || q.age <= o.waiting[k-1].age)
	}
	first := max(uint64(p.Limit), a.Table.FirstPage())
	for k := 0; ok && k < len(o.unused); k++ {
		ok = o.unused[k] == first+uint64(k)*uint64(p.Mask+1) && o.unused[k] < a.Slots
	}
	for k := 0; ok && k < len(o.gone); k += 2 {
		first, floor := o.gone[k], o.gone[k+1]
		// A floor is above a life that each slot has had or burnt. One of 0 would say that the page has
		// memory (PageMeta).
		if ok = !a.Fixed && first < uint64(p.Limit) && floor > uint64(a.FirstGeneration); ok {
			m, j := p.Meta(uint32(first))
			ok = j == 0
			for i := first; ok && i < first+uint64(m.N); i++ {
				ok = l.see(i, floor, oldPage+2)
			}
		}
	}
	return ok
}

// see marks slot i, which is in no list yet, and vacant with a generation up to maxGeneration.
func (l *lister) see(i, generation, maxGeneration uint64) bool {
	if i >= uint64(len(l.seen)) || l.seen[i] || generation > maxGeneration || generation%2 == 1 ||
		uint64(l.arena.Table.SlotGeneration(uint32(i))) != generation {
		return false
	}
	l.seen[i] = true
	return true
}

func (l *lister) seeAll(list *places, maxGeneration uint64) bool {
	for _, p := range list.slots {
		if !l.see(p.index, p.generation, maxGeneration) {
			return false
		}
	}
	return list.known <= 1
}

func (l *lister) hasRange(ends []uint64) bool {
	if len(ends) == 0 {
		return true
	}
	if len(ends) != 2 || ends[0] >= ends[1] || ends[1] > uint64(len(l.seen)) {
		return false
	}
	for i := ends[0]; i < ends[1]; i++ {
		if !l.see(i, uint64(l.arena.Table.SlotGeneration(uint32(i))), slots.Spent-1) {
			return false
		}
	}
	return true
}

// countRest counts the slots. Those that are in no list burn a life, and come behind all others.
func (l *lister) countRest(o *order, skips RestoredSkips) (c Census) {
	a := l.arena
	waiting := uint64(0) // exhausted slots that are in limbo
	for i := range uint32(len(l.seen)) {
		slot := a.Table.Slot(i)
		switch g := slots.Generation(slot.Word.Load()); {
		case g%2 == 1:
			c.Live++
		case l.seen[i] && g == slots.Spent:
			waiting++
		case l.seen[i]:
			c.vacant++
		default:
			if g = later(g, max(1, skips.take(i))); g == slots.Spent {
				c.exhausted++
				slot.Set(slots.Pack(slots.Spent, slots.None))
				break
			}
			c.vacant++
			slot.Set(slots.Pack(g, slots.None))
			o.free.slots = append(o.free.slots, place{index: uint64(i), generation: uint64(g)})
		}
	}
	a.KeepSkips(skips, 0)
	a.Table.RestoreSpent(c.exhausted, waiting)
	return c
}

// stamps takes a stamp for each age in o, the greatest age first, and leaves the epoch stamped if
// it was. The last stamp of all is one of them, whether or not a slot has it: a slot that is
// removed next may get it too.
func (l *lister) stamps(o *order) {
	ages := map[uint64]bool{1 - o.stamped: true}
	if o.account.known() {
		ages[o.account.oldest], ages[o.account.began] = true, true
	}
	for _, q := range o.batches() {
		ages[q.age], ages[q.leastAge] = true, true
	}
	for _, list := range o.removed() {
		for _, p := range list.slots {
			if l.arena.stampPerSlot {
				ages[p.age] = true
			}
		}
	}
	d := l.arena.Domain
	l.stamp = make(map[uint64]uint64, len(ages))
	oldest := slices.Sorted(maps.Keys(ages))
	slices.Reverse(oldest)
	for k, age := range oldest {
		l.stamp[age] = d.Stamp()
		if k < len(oldest)-1 || o.stamped == 0 {
			g := d.Pin() // advances the epoch
			g.Unpin()
		}
	}
}

// restore fills the lists.
func (l *lister) restore(o *order) {
	a, s := l.arena, l.arena.shards()[0]
	s.lock()
	defer s.unlock()
	for _, list := range o.removed() {
		for _, p := range list.slots {
			if a.stampPerSlot {
				a.Table.SetStamp(uint32(p.index), l.stamp[p.age])
			}
			if a.Reset != nil {
				a.Table.MarkMoved(uint32(p.index)) // its value is not in the snapshot
			}
		}
	}
	if c := l.chain(&o.free); c.N > 0 {
		s.free.Head.Store(c.First)
	}
	if c := l.chain(&o.limbo); c.N > 0 {
		s.limbo.Head.Store(slots.Pack(c.N, c.Top()))
	}
	s.ready.restore(l, o)
	s.backlog.restore(l, o)
	s.unworn.Store(uint32(o.unworn))
	s.searches.Store(uint32(o.searches))
	s.savings.Restore(uint32(o.account.saved))
	if len(o.fresh) > 0 {
		s.fresh.Set(uint32(o.fresh[0]), uint32(o.fresh[1]))
	}
	if len(o.again) > 0 {
		a.Table.RecommitRange.Set(uint32(o.again[0]), uint32(o.again[1]))
	}
	var gone []slots.Decommitted
	for k := 0; k < len(o.gone); k += 2 {
		gone = append(gone, slots.Decommitted{FirstSlot: uint32(o.gone[k]), Floor: uint32(o.gone[k+1])})
	}
	if o.stub == 1 {
		a.Table.Decommit(gone)
	}
}

func (l *lister) batch(q *queued) batch {
	return batch{Chain: l.chain(&q.places), leastStamp: l.stamp[q.leastAge], number: q.number}
}

// chain links slots as they were. The last one links to None.
func (l *lister) chain(list *places) (c slots.Chain) {
	for _, p := range list.slots {
		i := uint32(p.index)
		slot := l.arena.Table.Slot(i)
		c.Append(slot, i, slot.Word.Load())
	}
	if c.N > 0 {
		c.Link(slots.None)
		if list.known == 0 {
			c.Last = nil
		}
	}
	return c
}
