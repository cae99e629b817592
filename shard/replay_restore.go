package shard

import (
	"maps"
	"math"
	"slices"

	"coatcheck/shard/slots"
)

// RestoreOrder puts the slots into the lists in which they were, and counts them. It returns
// false, and has done nothing, if order is empty or not one of this arena. It also does so if
// slots have changed since, as after concurrent changes or with other options.
func (r *Restorer) RestoreOrder(b []byte) (c Census, ok bool) {
	a, o := r.arena, order{}
	s := scribe{b: b, reads: true}
	if s.order(&o); s.bad || len(s.b) > 0 || a.Config.Shards != 1 {
		return c, false
	}
	l := lister{arena: a, seen: seenSlots{table: a.Table.Pages()}}
	unused := uint64(0) // the end of what Grow made in the original
	if n := len(o.unused); n > 0 {
		unused = o.unused[n-1] + 1
	}
	if !l.accepts(&o) || !r.affords(unused) {
		return c, false
	}
	c = l.countRest(&o, &r.skips)
	l.stamps(&o)
	l.restore(&o)
	a.Table.Provide(min(unused, a.Table.Bound())) // the Capacity may be less than it was
	a.Preallocate()
	return c, true
}

// lister makes lists from an order.
type lister struct {
	arena *Arena
	seen  seenSlots         // those that are in a list or a range, and those of pages without memory
	stamp map[uint64]uint64 // of an age
}

// seenSlots is a set of slots that have memory, and of pages without. So it takes memory for what has some.
type seenSlots struct {
	table *slots.PageTable
	pages map[uint32][]bool // by the first slot of a page; a page without memory has one element

	first uint32 // of the page that was looked at last
	last  []bool
}

// page returns what was seen of m's page.
func (s *seenSlots) page(m *slots.PageMeta) []bool {
	if s.last != nil && s.first == m.FirstSlot {
		return s.last
	}
	if s.pages == nil {
		s.pages = map[uint32][]bool{}
	}
	s.first, s.last = m.FirstSlot, s.pages[m.FirstSlot]
	if s.last == nil {
		n := m.N
		if m.Floor != 0 {
			n = 1
		}
		s.last = make([]bool, n)
		s.pages[m.FirstSlot] = s.last
	}
	return s.last
}

// see adds slot j of m's page, and reports whether it is new.
func (s *seenSlots) see(m *slots.PageMeta, j uint32) bool {
	page := s.page(m)
	was := page[j]
	page[j] = true
	return !was
}

// accepts reports whether o is an order of this arena.
func (l *lister) accepts(o *order) bool {
	a := l.arena
	p := a.Table.Pages()
	ok := o.sizes == a.Pages.Code() && o.kind == a.kindOf() && o.next == a.Table.Allocated() && o.stamped <= 1 && o.stub <= 1 &&
		o.unworn <= 1 && o.searches < othersFirst && o.account.flags < allFlags &&
		max(o.account.credit, o.account.guards) <= math.MaxInt32 &&
		o.pushed < slots.SealEvery &&
		l.seeAll(&o.free, slots.Spent-1) && l.seeAll(&o.limbo, slots.Spent) && l.seeAll(&o.late, slots.Spent) &&
		l.hasRange(o.fresh) && l.hasRange(o.again) && len(o.gone)%2 == 0 && (o.stub == 1 || len(o.gone) == 0) &&
		(o.stub == 0 || p.Limit > 0) // a stub is that of a page
	// Under FIFO what passes later is put behind what is ready, so its end is known. So is that of a batch which
	// was turned, as none is without FIFO.
	known := uint64(0)
	if a.FIFO {
		known = 1
	}
	for k := 0; ok && k < len(o.ready); k++ {
		ok = len(o.ready[k].slots) > 0 && o.ready[k].known >= known && l.seeAll(&o.ready[k], slots.Spent-1)
	}
	for k := 0; ok && k < len(o.waiting); k++ {
		q := &o.waiting[k]
		ok = len(q.slots) > 0 && q.turned <= min(known, q.known) && l.seeAll(&q.places, slots.Spent) && q.age <= q.leastAge && (k == 0 || q.age <= o.waiting[k-1].age)
	}
	first := max(uint64(p.Limit), a.Table.FirstPage())
	for k := 0; ok && k < len(o.unused); k++ {
		ok = o.unused[k] == first+uint64(k)*uint64(p.Mask+1) && o.unused[k] < a.Slots
	}
	missing := a.Table.Missing()
	for k := 0; ok && k < len(o.gone); k += 2 {
		ok = l.seeGone(o.gone[k], o.gone[k+1], &missing)
	}
	return ok && missing == 0
}

// seeGone marks the slots of a page that has no memory in the original. If it has none in the copy either,
// seeGone takes them off what is missing there.
func (l *lister) seeGone(first, floor uint64, missing *uint64) bool {
	a := l.arena
	// A floor is above a life that each slot has had or burnt. One of 0 would say that the page has
	// memory (PageMeta).
	if a.Fixed || first >= uint64(l.seen.table.Limit) || floor < 2 || floor > uint64(max(0, a.OldFloor())) {
		return false
	}
	m, j := l.seen.table.Meta(uint32(first))
	end := first + uint64(m.N)
	if j != 0 || end > a.Table.Allocated() {
		return false
	}
	if m.Floor != 0 {
		*missing -= uint64(m.N)
		return uint64(m.Floor) == floor && l.seen.see(m, 0)
	}
	for i := first; i < end; i++ {
		if !l.see(i, uint64(a.Table.Origins().Generation(uint32(i), uint32(floor))), slots.Spent-1) {
			return false
		}
	}
	return true
}

// see marks slot i, which has memory, is in no list yet, and is vacant with a generation up to maxGeneration.
func (l *lister) see(i, generation, maxGeneration uint64) bool {
	if i >= l.arena.Table.Allocated() || generation > maxGeneration || generation%2 == 1 ||
		l.generation(i) != generation {
		return false
	}
	m, j := l.seen.table.Meta(uint32(i))
	return m.Floor == 0 && l.seen.see(m, j)
}

// generation returns that of the word of slot i.
func (l *lister) generation(i uint64) uint64 {
	return uint64(slots.Generation(l.arena.Table.Slot(uint32(i)).Word.Load()))
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
	if len(ends) != 2 || ends[0] >= ends[1] || ends[1] > l.arena.Table.Allocated() {
		return false
	}
	for i := ends[0]; i < ends[1]; i++ {
		if !l.see(i, l.generation(i), slots.Spent-1) {
			return false
		}
	}
	return true
}

// countRest counts the slots that have memory. Those that are in no list burn a life, and come behind all others.
func (l *lister) countRest(o *order, skips *RestoredSkips) (c Census) {
	a := l.arena
	waiting := uint64(0) // exhausted slots that are in limbo
	a.eachRestored(func(m *slots.PageMeta, part slots.Strip) {
		for j := range part.N {
			slot := part.Slot(j)
			switch g := restored(a.Table.Origins(), m.FirstSlot+j, slot.Word.Load()); {
			case g%2 == 1:
				c.Live++
			case l.seen.page(m)[j] && g == slots.Spent:
				waiting++
			case l.seen.page(m)[j]:
				c.vacant++
			default:
				if g = later(g, max(1, skips.lives(m, j))); g == slots.Spent {
					c.exhausted++
					slot.Set(slots.Pack(slots.Spent, slots.None))
					break
				}
				c.vacant++
				slot.Set(slots.Pack(g, slots.None))
				o.free.slots = append(o.free.slots, place{index: uint64(m.FirstSlot + j), generation: uint64(g)})
			}
		}
	})
	a.KeepSkips(skips, 0)
	a.Table.RestoreSpent(c.exhausted, waiting)
	return c
}

// stamps takes a stamp for each age in o, the greatest age first, and leaves the epoch stamped if
// it was. The last stamp of all is one of them, whether or not a slot has it: a slot that is
// removed next may get it too.
func (l *lister) stamps(o *order) {
	ages := map[uint64]bool{1 - o.stamped: true, o.account.oldest: true, o.account.began: true, o.floorAge: true}
	for k := range o.waiting {
		ages[o.waiting[k].age], ages[o.waiting[k].leastAge] = true, true
	}
	for _, list := range o.removed() {
		for _, p := range list.slots {
			ages[p.age] = true
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
			a.Table.SetStamp(uint32(p.index), l.stamp[p.age])
			a.Table.MarkMoved(uint32(p.index)) // its value is not in the snapshot
		}
	}
	if c := l.chain(&o.free); c.N > 0 {
		s.free.Head.Store(c.First)
	}
	limbo, late := l.chain(&o.limbo), l.chain(&o.late)
	s.limbo.Restore(limbo.Top(), limbo.N, uint32(o.pushed))
	s.late.Restore(late.Top(), late.N, late.N)
	s.ready.restore(l, o)
	s.backlog.restore(l, o)
	s.unworn.Store(uint32(o.unworn))
	s.searches.Store(uint32(o.searches))
	if len(o.fresh) > 0 {
		s.fresh.Set(uint32(o.fresh[0]), uint32(o.fresh[1]))
	}
	if len(o.again) > 0 {
		a.Table.RecommitRange.Set(uint32(o.again[0]), uint32(o.again[1]))
	}
	var gone []slots.Decommitted
	for k := 0; k < len(o.gone); k += 2 {
		d := slots.Decommitted{FirstSlot: uint32(o.gone[k]), Floor: uint32(o.gone[k+1])}
		if m, _ := a.Table.Pages().Meta(d.FirstSlot); m.Floor == 0 {
			a.Table.Vacate(m, d.Floor)
		}
		gone = append(gone, d)
	}
	a.Table.EndRestore(gone, o.stub == 1)
}

func (l *lister) batch(q *queued) batch {
	return batch{Chain: l.chain(&q.places), leastStamp: l.stamp[q.leastAge], number: q.number, turned: q.turned == 1}
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
