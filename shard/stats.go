package shard

import "unsafe"

// Counts describes an arena at a moment. Each figure is exact if no other goroutine changes
// anything. If some do, slots that move meanwhile are counted in one place at most.
type Counts struct {
	Live      int // slots with a live value
	Free      int // vacant slots that any insertion may take
	Limbo     int // removed slots that wait
	Refs      int // holds
	Exhausted int
	Worn      float64 // share of its lives that the most worn slot with memory has had
	Allocated int     // slots that have memory
	Bytes     int64   // without the Arena itself and its Domain
	MaxLimbo  int64   // the Limbo at which new memory is refused

	Full, Stalled, Spent int64 // calls that were refused, by the error
}

// Count visits every slot that has memory, and follows the freelists.
func (a *Arena) Count() Counts {
	live, latest := a.Table.Survey()
	c := Counts{
		Live:      live,
		Free:      int(a.Table.Unused()),
		Limbo:     int(a.parked.Load()),
		Refs:      int(a.refs.Load()),
		Exhausted: int(a.Table.Exhausted()),
		Worn:      a.Table.usedUp(latest),
		Bytes:     a.affinity.bytes() + a.Table.Bytes() + a.skips.Load().bytes(),
		MaxLimbo:  a.limboLimit(int64(live)),
		Full:      a.refusals.full.Load(),
		Stalled:   a.refusals.stalled.Load(),
		Spent:     a.refusals.exhausted.Load(),
	}
	for _, s := range a.shards() {
		free, limbo, bytes := s.count()
		c.Free += free
		c.Limbo += limbo
		c.Bytes += bytes
	}
	c.Allocated = a.Table.Resident() // last: what was counted has memory
	c.fit()
	return c
}

// fit takes off what was counted twice, since it moved from one place to another that was counted
// later: first off the figures that change most, so that all are together at most Allocated.
//
// The wrong version adds up what each shard has at its own moment. Where slots go from shard to shard
// it found 542,265 slots in limbo, of 262,144.
func (c *Counts) fit() {
	left := c.Allocated
	for _, n := range []*int{&c.Exhausted, &c.Live, &c.Limbo, &c.Free} {
		*n = max(0, min(*n, left))
		left -= *n
	}
}

// Survey returns how many slots are live, and the greatest generation of any slot. It costs 0.8
// ns a slot.
func (t *Table) Survey() (live int, latest uint32) {
	now := t.Pages()
	for first := uint32(0); first < now.Limit; {
		block := now.strip(first, now.Limit)
		for j := range block.n {
			word := block.slot(j).Word.Load()
			if Low(word) == first+j {
				live++
			}
			latest = max(latest, Generation(word))
		}
		first += block.n
	}
	return live, latest
}

// usedUp returns which share of its lives a slot of the given generation has had: the current
// one included, and all of them once it is exhausted.
func (t *Table) usedUp(generation uint32) float64 {
	if generation < t.firstGeneration {
		return 0 // never used
	}
	return float64((generation-t.firstGeneration)/2+1) / float64((LastGeneration-t.firstGeneration)/2+1)
}

// count returns how many slots the shard has for insertions, and how many wait or are in Resets.
// It follows the freelist. bytes is the memory of its backlog.
func (s *shard) count() (free, limbo int, bytes int64) {
	s.lock()
	defer s.unlock()
	limbo = int(s.limbo.size() + s.waits + s.inResets)
	free = s.fresh.left()
	free += int(s.passed())
	limit := int(s.arena.Table.Pages().Limit)
	i := Low(s.free.head.Load())
	for i != None && free <= limit {
		word := s.arena.Table.slot(i).Word.Load()
		if IsLive(word) {
			break // another goroutine has popped it
		}
		free++
		i = Low(word)
	}
	return free, limbo, s.bytes()
}

// Bytes returns the memory of the pages, their metas and the table.
func (t *Table) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes()
}

// bytes is Bytes under mu.
func (t *Table) bytes() int64 {
	p := t.Pages()
	resident := int64(p.Limit) - t.decommittedSlots.Load()
	if t.stub != nil {
		resident += int64(p.Mask) + 1
	}
	n := resident*int64(t.layout.Size) +
		int64(1+p.room)*int64(pointerSize) + int64(cap(p.metas))*int64(unsafe.Sizeof(p.metas[0]))
	for m := range p.pages {
		n += m.bytes()
	}
	return n
}

// bytes returns the memory that a pageMeta takes.
func (m *pageMeta) bytes() int64 {
	n := int64(unsafe.Sizeof(*m)) + 4*int64(len(m.homes)+len(m.stamps)+len(m.moved))
	if h := m.holders.Load(); h != nil {
		n += 4 * int64(len(h.count))
	}
	return n
}
