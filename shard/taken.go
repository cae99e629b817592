package shard

// taken is what Trim has taken from one shard. Slots of wanted pages are set apart at once:
// mostly all of them go, and to walk the others again would cost a cache miss for each slot.
type taken[T any] struct {
	run    chain[T] // slots of other pages, in the order in which the shard would hand them out
	wanted chain[T] // slots of wanted pages, in that order too
}

// stay puts the slots of wanted pages that stay behind the others.
func (t *trimmer[T]) stay(l *taken[T]) {
	for l.wanted.n > 0 {
		if slot, i, word := l.wanted.takeFirst(t.arena); !t.page(i).gone {
			l.run.append(slot, i, word)
		}
	}
}

// take takes all that s has for insertions, in the order in which it would hand it out. Of a
// range it takes either all or nothing.
func (t *trimmer[T]) take(s *shard[T], l *taken[T]) {
	if s.fifo {
		t.takeRange(s, l)
	}
	t.addList(l, Low(s.takeList()))
	for k := range s.ready {
		t.addList(l, Low(s.ready[len(s.ready)-1-k].first))
	}
	clear(s.ready)
	s.ready = s.ready[:0]
	if !s.fifo {
		t.takeRange(s, l)
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
func (t *trimmer[T]) addList(l *taken[T], i uint32) {
	for i != None {
		slot := t.arena.slot(i)
		word := slot.Word.Load()
		t.add(l, slot, i, word)
		i = Low(word)
	}
}

// add appends slot i, which the trimmer owns, to l, one life older. If that was its last life,
// add exhausts it; a wanted page has no such slot.
func (t *trimmer[T]) add(l *taken[T], slot *Slot[T], i uint32, word uint64) {
	g := t.arena.vacant(word)
	if g+1 == LastGeneration {
		t.arena.exhaust(slot)
		return
	}
	word = Pack(g+2, Low(word)) // mostly the link that stays
	slot.set(word)
	f := t.page(i)
	if f == nil {
		l.run.append(slot, i, word)
		return
	}
	l.wanted.append(slot, i, word)
	t.kept++
	f.got++
	f.oldest = max(f.oldest, g+2)
}

// takeRange takes the range of s if its pages are wanted.
func (t *trimmer[T]) takeRange(s *shard[T], l *taken[T]) {
	f := s.fresh.Load()
	if rangeLen(f) == 0 || t.page(Generation(f)) == nil || t.page(Low(f)-1) == nil {
		return
	}
	first, n := s.freshRun(int(rangeLen(f)))
	t.addRange(l, first, n)
}

func (t *trimmer[T]) addRange(l *taken[T], first uint32, n int) {
	for i := first; n > 0; i, n = i+1, n-1 {
		slot := t.arena.slot(i)
		t.add(l, slot, i, slot.Word.Load())
	}
}

// takeRest takes the slots that the table has not handed out, if they make their pages whole.
func (t *trimmer[T]) takeRest() {
	tab := &t.arena.Table
	if r := tab.again.Load(); rangeLen(r) > 0 && t.completes(uint64(Generation(r)), uint64(Low(r))) &&
		// Success makes the whole range the caller's. Failure means that another goroutine was
		// given slots.
		tab.again.CompareAndSwap(r, Pack(Low(r), Low(r))) {
		t.addRange(&t.rest, Generation(r), int(rangeLen(r)))
	}
	lo, hi := tab.next.Load(), uint64(t.pages.Limit)
	if lo < hi && t.completes(lo, hi) && tab.next.CompareAndSwap(lo, hi) {
		t.addRange(&t.rest, uint32(lo), int(hi-lo))
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
	first, unused := &t.taken[0].run, &t.rest.run
	if t.arena.FIFO {
		first, unused = unused, first
	}
	first.concat(unused)
	t.taken[0].run = *first
	for i := range t.taken {
		if c := &t.taken[i].run; c.n > 0 {
			c.link(None)
			t.arena.shards[i].splice(c) // all lists were taken, and none was filled since (I9)
		}
	}
}
