package shard

import "iter"

// Trim gives back the memory of pages in which every slot is vacant. What makes
// it hard is that vacant slots lie in lists, mixed with those of other pages, and
// that nothing can be taken out of the middle of a list.
//
// So Trim takes the lists whole, as their owner (I1), picks out the slots of pages
// in which nothing was live a moment ago, and puts the others back. A page whose
// slots it then has all is given up; the slots of one of which somebody else has
// a slot (a Worker, a reservation, limbo, an insertion that was faster) go back
// too.
//
// What goes back burns a life: a stack that has the same slot on top, with the same
// generation and other slots below, is what I5 is there to prevent. So a Trim
// costs every vacant slot that it moves one of its 2^31 lives.
//
// While Trim has the lists, an insertion may find nothing. It goes on to other
// shards and to new memory as always, and where there is none it asks, before it
// says that the pool is full, whether a Trim was under way, waits for its end, and
// looks again (Settled). Nobody else waits, and Trim waits for nobody but
// another Trim.

// worn is the generation from which a page is not given up any more. Its floor
// applies to all its slots, so that those which have lived less age at once; with
// this, each still has 2^27 lives. Under FIFO, where all slots age alike, Trim does
// nothing any more once one is worn.
const worn = 1<<32 - 1<<28

// trimmer is one Trim under way.
type trimmer[T any] struct {
	space *Space[T]
	pages *Pages
	found []found // by page
}

// found is what Trim knows of one page.
type found struct {
	wanted bool
	got    uint32 // how many of its slots are here
	free   uint32 // how many of those FIFO has given credit for
	top    uint32 // the slots: a list through their words
	oldest uint32 // their greatest generation
}

// Trim gives up every page whose slots it can get hold of, and returns how many
// bytes that gives back. It costs a look at every slot that has memory, and a few
// nanoseconds more for each vacant one. If another Trim is under way it waits for
// that, or does nothing.
func Trim[T any](shards []Shard[T], wait bool) int64 {
	sp := shards[0].space
	if wait {
		sp.trim.Lock()
	} else if !sp.trim.TryLock() {
		return 0
	}
	defer sp.trim.Unlock()
	t := trimmer[T]{space: sp, pages: sp.Table.Pages()}
	if t.choose(len(shards)) == 0 {
		return 0
	}
	sp.Trims.Add(1)
	defer sp.Trims.Add(1)
	if sp.FIFO {
		return t.takeQueues(shards)
	}
	for i := range shards {
		t.takeRange(&shards[i], nil)
		t.takeStack(&shards[i])
	}
	t.takeRest()
	return t.finish(shards, nil)
}

// Settled answers whether no Trim has been under way since Trims was n. If one
// has, it waits for the end of the one that is.
func (sp *Space[T]) Settled(n uint64) bool {
	if n&1 == 0 && sp.Trims.Load() == n {
		return true
	}
	sp.trim.Lock()
	//lint:ignore SA2001 waiting is all that is wanted
	sp.trim.Unlock()
	return false
}

// choose finds the pages in which nothing is live and which are worth it, and
// returns how many there are.
func (t *trimmer[T]) choose(shards int) (wanted int) {
	t.found = make([]found, len(t.pages.Base))
	keep := uint64(0)
	if t.space.FIFO {
		// The reserve and the dummies must lie somewhere, better together.
		keep = uint64(t.space.Reserve.Load()) + uint64(shards)
	}
	for k := range t.found {
		if _, gone := t.pages.Floor(uint32(k) << (t.pages.Shift & 31)); gone {
			continue
		}
		idle, tired := t.look(k)
		if tired && t.space.FIFO {
			return 0
		}
		if n := t.space.Table.slotsIn(t.pages, k); keep > 0 {
			keep -= min(keep, n)
			continue
		}
		if idle && !tired {
			t.found[k] = found{wanted: true, top: None, oldest: t.space.First - 1}
			wanted++
		}
	}
	if t.tooFew(wanted) {
		return 0
	}
	return wanted
}

// look finds out whether no slot of page k is live, and whether one is worn.
func (t *trimmer[T]) look(k int) (idle, tired bool) {
	slots := Block[T](t.pages, uint32(k)<<(t.pages.Shift&31), t.pages.Mask+1)
	idle = true
	for i := range slots {
		w := slots[i].Word.Load()
		idle = idle && !IsLive(w)
		tired = tired || Generation(w) > worn
	}
	return idle, tired
}

// page returns what is known of slot i's page if that is wanted. A page that was
// added since is not.
func (t *trimmer[T]) page(i uint32) *found {
	if k := i >> (t.pages.Shift & 31); int(k) < len(t.found) && t.found[k].wanted {
		return &t.found[k]
	}
	return nil
}

// keep takes slot i, which Trim owns, if its page is wanted.
func (t *trimmer[T]) keep(slot *Slot[T], i uint32) *found {
	f := t.page(i)
	if f != nil {
		g := t.space.vacant(slot)
		slot.Word.Store(Pack(g, f.top))
		f.top, f.oldest = i, max(f.oldest, g)
		f.got++
	}
	return f
}

// takeStack takes the whole stack of s, and gives back what is not wanted, in the
// order that it had.
func (t *trimmer[T]) takeStack(s *Shard[T]) {
	top := s.free.Load() // observes (P3)
	for top != emptyList && !s.free.CompareAndSwap(top, emptyList) {
		top = s.free.Load() // somebody got a slot or gave one
	}
	// Success has proved that the list was as it had been pushed: it is whole, and
	// here.
	var back run[T]
	for i, slot := range t.list(Low(top)) {
		if t.keep(slot, i) == nil {
			t.burn(&back, slot, i)
		}
	}
	s.pushRun(&back)
}

// list yields the slots of a list that Trim owns. What it yields may be put
// elsewhere in the loop.
func (t *trimmer[T]) list(first uint32) iter.Seq2[uint32, *Slot[T]] {
	return func(yield func(uint32, *Slot[T]) bool) {
		for i := first; i != None; {
			slot := t.space.Slot(i)
			next := Low(slot.Word.Load())
			if !yield(i, slot) {
				return
			}
			i = next
		}
	}
}

// burn adds slot i to what goes back, one life older; or retires it, if that was
// the last one.
func (t *trimmer[T]) burn(back *run[T], slot *Slot[T], i uint32) {
	if g := t.space.vacant(slot); g+1 != LastGeneration {
		word := Pack(g+2, None)
		slot.Word.Store(word)
		back.add(slot, i, word)
		return
	}
	t.space.exhaust(slot)
}

// takeRange takes the shard's range if its pages are wanted. What is not wanted
// of it after all goes to back if there is one, and to the stack otherwise.
func (t *trimmer[T]) takeRange(s *Shard[T], back *run[T]) {
	f := s.fresh.Load()
	if rangeLen(f) == 0 || t.page(Generation(f)) == nil || t.page(Low(f)-1) == nil {
		return
	}
	first, n := s.FreshRun(int(rangeLen(f)))
	for i := first; n > 0; i, n = i+1, n-1 {
		slot := t.space.Slot(i)
		if f := t.keep(slot, i); f != nil {
			f.free++
		} else if back != nil {
			t.burn(back, slot, i)
		} else {
			s.ReturnFresh(i)
		}
	}
}

// takeRest takes the slots that the table has not handed out, if with them the
// pages in which they lie are here whole.
func (t *trimmer[T]) takeRest() {
	tab := &t.space.Table
	if r := tab.again.Load(); rangeLen(r) > 0 && t.completes(uint64(Generation(r)), uint64(Low(r))) &&
		// Success makes all of the range the caller's. Failure means that somebody
		// was given slots.
		tab.again.CompareAndSwap(r, Pack(Low(r), Low(r))) {
		t.keepAll(Generation(r), Low(r))
	}
	lo, hi := tab.next.Load(), uint64(t.pages.Limit)
	if lo < hi && t.completes(lo, hi) && tab.next.CompareAndSwap(lo, hi) {
		t.keepAll(uint32(lo), uint32(hi))
	}
}

// completes answers whether the pages of slots lo to hi−1 are wanted and would be
// whole with them.
func (t *trimmer[T]) completes(lo, hi uint64) bool {
	for lo < hi {
		f := t.page(uint32(lo))
		k := int(lo >> (t.pages.Shift & 31))
		slots := t.space.Table.slotsIn(t.pages, k)
		end := uint64(k)<<(t.pages.Shift&31) + slots
		if f == nil || uint64(f.got)+end-lo != slots {
			return false
		}
		lo = end
	}
	return true
}

func (t *trimmer[T]) keepAll(lo, hi uint32) {
	for i := lo; i < hi; i++ {
		t.keep(t.space.Slot(i), i)
	}
}

// finish gives up the pages that are here whole, and gives back what is here of
// others: to the stacks, or at the end of the queue of fifo.
func (t *trimmer[T]) finish(shards []Shard[T], fifo *Shard[T]) int64 {
	var gone []absent
	for k := len(t.found) - 1; k >= 0; k-- { // so that the first come back first
		f := &t.found[k]
		if f.wanted && uint64(f.got) == t.space.Table.slotsIn(t.pages, k) && (fifo == nil || takeCredits(shards, int64(f.free))) {
			gone = append(gone, absent{at: k, floor: f.oldest + 2})
		}
	}
	if len(gone) == 1 && t.tooFew(1) {
		if fifo != nil {
			fifo.GiveCredit(int64(t.found[gone[0].at].free))
		}
		gone = nil
	}
	for _, a := range gone {
		t.found[a.at].got = 0
	}
	for k := range t.found {
		if f := &t.found[k]; f.got > 0 {
			t.giveBack(f, &shards[k%len(shards)], fifo)
		}
	}
	if len(gone) == 0 {
		return 0
	}
	return t.space.Table.giveUp(gone)
}

// tooFew answers whether n pages are not worth it: there is no void yet, and it would
// cost what a page gives.
func (t *trimmer[T]) tooFew(n int) bool { return n < 2 && len(t.pages.floors) == 0 }

// giveBack gives back the slots that are here of one page.
func (t *trimmer[T]) giveBack(f *found, s, fifo *Shard[T]) {
	var back run[T]
	for i, slot := range t.list(f.top) {
		t.burn(&back, slot, i)
	}
	if fifo == nil {
		s.pushRun(&back)
	} else if back.n > 0 {
		fifo.appendRun(&back)
		fifo.GiveCredit(int64(f.got - f.free))
	}
}
