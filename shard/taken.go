package shard

// drop drops the slots of pages that go, of which there are so many. The others keep their order.
// If there are none, no slot need be visited: each visit may be a cache miss.
func (t *trimmer[T]) drop(slots uint32) {
	all := uint32(0)
	for i := range t.taken {
		all += t.taken[i].n
	}
	for i := range t.taken {
		var stay chain[T]
		for c := &t.taken[i]; all > slots && c.n > 0; {
			slot, i, word := c.takeFirst(t.arena)
			if f := t.page(i); f == nil || !f.gone {
				stay.append(slot, i, word)
			}
		}
		t.taken[i] = stay
	}
}

// take takes all that s has for insertions, in FIFO's order, and all or nothing of a range.
func (t *trimmer[T]) take(s *shard[T], c *chain[T]) {
	if s.fifo {
		t.takeRange(s, c)
	}
	t.addList(c, Low(s.takeList()))
	for k := range s.ready {
		t.addList(c, Low(s.ready[len(s.ready)-1-k].first))
	}
	clear(s.ready)
	s.ready = s.ready[:0]
	if !s.fifo {
		t.takeRange(s, c)
	}
}

// takeList takes the whole freelist, and returns its head.
func (s *shard[T]) takeList() uint64 {
	for {
		top := s.free.Load() // observes (P3)
		// Success proves that the list is as it was pushed, and makes it the caller's.
		// Failure means that another goroutine has popped a slot.
		if top == emptyList || s.free.CompareAndSwap(top, emptyList) {
			return top
		}
	}
}

// addList adds the slots of a list that begins with slot i.
func (t *trimmer[T]) addList(c *chain[T], i uint32) {
	for i != None {
		slot := t.arena.slot(i)
		word := slot.Word.Load()
		t.add(c, slot, i, word)
		i = Low(word)
	}
}

// add appends slot i, which the trimmer owns, to c, one life older. If that was its last life,
// add exhausts it; a wanted page has no such slot.
func (t *trimmer[T]) add(c *chain[T], slot *Slot[T], i uint32, word uint64) {
	g := t.arena.vacant(word)
	if g+1 == LastGeneration {
		t.arena.exhaust(slot)
		return
	}
	word = Pack(g+2, Low(word)) // mostly the link that stays
	slot.set(word)
	c.append(slot, i, word)
	if f := t.page(i); f != nil {
		f.got++
		f.oldest = max(f.oldest, g+2)
	}
}

// takeRange takes the range of s if its pages are wanted.
func (t *trimmer[T]) takeRange(s *shard[T], c *chain[T]) {
	f := s.fresh.Load()
	if rangeLen(f) == 0 || t.page(Generation(f)) == nil || t.page(Low(f)-1) == nil {
		return
	}
	first, n := s.freshRun(int(rangeLen(f)))
	t.addRange(c, first, n)
}

func (t *trimmer[T]) addRange(c *chain[T], first uint32, n int) {
	for i := first; n > 0; i, n = i+1, n-1 {
		slot := t.arena.slot(i)
		t.add(c, slot, i, slot.Word.Load())
	}
}

// takeRest takes the slots that the table has not handed out, if they make their pages whole.
func (t *trimmer[T]) takeRest() {
	tab, rest := &t.arena.Table, &t.taken[len(t.arena.shards)]
	r := tab.again.Load()
	first, lo, hi := Generation(r), uint64(Generation(r)), uint64(Low(r))
	if !t.completes(lo, hi) {
		lo = (lo | uint64(t.pages.Mask)) + 1 // values live in the page that the range begins in
	}
	// Success makes the slots from lo on the caller's. Failure means that another goroutine was
	// given slots.
	if lo < hi && t.completes(lo, hi) && tab.again.CompareAndSwap(r, Pack(first, uint32(lo))) {
		t.addRange(rest, uint32(lo), int(hi-lo))
	}
	lo, hi = tab.next.Load(), uint64(t.pages.Limit)
	if lo < hi && t.completes(lo, hi) && tab.next.CompareAndSwap(lo, hi) {
		t.addRange(rest, uint32(lo), int(hi-lo))
	}
}

// completes reports whether the pages of slots lo to hi−1 are wanted and would be whole with
// them.
func (t *trimmer[T]) completes(lo, hi uint64) bool {
	for lo < hi {
		f := t.page(uint32(lo))
		k := int(lo >> (t.pages.Shift & 31))
		slots := t.arena.Table.slotsIn(t.pages, k)
		end := uint64(k)<<(t.pages.Shift&31) + slots
		if f == nil || uint64(f.got)+end-lo != slots {
			return false
		}
		lo = end
	}
	return true
}

// giveBack gives back what the trimmer has left. Slots that were never used are handed out
// first under FIFO, and otherwise last, where the others are in the cache.
func (t *trimmer[T]) giveBack() {
	n := len(t.arena.shards)
	first, unused := &t.taken[0], &t.taken[n]
	if t.arena.FIFO {
		first, unused = unused, first
	}
	first.concat(unused)
	t.taken[0] = *first
	for i := range n {
		if c := &t.taken[i]; c.n > 0 {
			c.link(None)
			t.arena.shards[i].splice(c) // all lists were taken, and none was filled since (I9)
		}
	}
}
