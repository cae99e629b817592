package shard

import (
	"context"
	"slices"

	"coatcheck/shard/slots"
)

// Trim gives back the memory of pages in which every slot is vacant. Vacant slots lie in
// lists, mixed with slots of other pages, and nothing can be taken out of the middle of a
// list.
//
// So Trim takes the lists whole, as their owner (I1), since insertions would pay for marks on pages that they
// avoid. It counts the slots of pages in which
// nothing was live a moment ago. It gives up each page whose slots it has all. The other slots go back
// to the shards (trim_give_back.go).
//
// What goes back burns a life, as I5 demands: the same slot on top of a stack, with the same
// generation and other slots below, would break L1. So a Trim costs each vacant slot that it
// moves one of its 2^31 lives.
//
// While Trim has the lists, it holds all locks. An insertion that finds no slot waits for the locks, and
// so for Trim. The pool grows meanwhile only by Grow, and where an earlier refusal has decided it: these
// take the lock of the table alone.

// oldPage is the generation from which a page is not given up any more. A page's floor applies
// to all its slots, so younger ones age at once; each still has 2^27 lives.
const oldPage = 1<<32 - 1<<28

// oldStage returns the stage at which a slot comes to oldPage that began last. It is below 0 if all begin later.
func oldStage(t *slots.Table) int64 { return oldPage - int64(t.Origins().Latest()-1) }

// trimmer is one Trim under way.
type trimmer struct {
	arena *Arena
	pages *slots.PageTable // those that there were when it chose
	burner
	taken
	found []found // by the number of the page's meta, the first if it has several
	live  uint32  // how many slots were live a moment ago, or too old for a floor
}

// found is what a trimmer knows of one page.
type found struct {
	wanted bool
	gone   bool
	got    uint32 // how many of its slots the trimmer has
	oldest uint32 // their greatest stage, with the life that each has burnt
	lives  int64  // that they have had, with these
}

// Trim gives up every page whose slots it can get, and returns how many bytes that frees, with those of the
// lists of what waited. It
// visits every slot that has memory, and costs a few nanoseconds more for each vacant one. If
// another Trim is under way, it waits for that.
func (a *Arena) Trim() int64 {
	if a.Fixed {
		return 0
	}
	// A slot whose grace period is over would keep its page.
	lists := a.shards().listBytes()
	for _, s := range a.shards() {
		g := goal{shard: s}
		g.reached(context.Background())
		g.end()
	}
	pages := a.trim()
	return max(0, pages+lists-a.shards().listBytes())
}

// trim is Trim without reclaiming.
func (a *Arena) trim() int64 {
	t := newTrimmer(a)
	if !t.choose() {
		return 0
	}
	return t.trim()
}

func newTrimmer(a *Arena) trimmer {
	t := trimmer{arena: a, pages: a.Table.Pages(), taken: new(queues)}
	if !a.FIFO {
		t.taken = &piles{pages: t.pages}
	}
	return t
}

// trim takes what the shards have, gives up pages, and returns how many bytes that frees.
func (t *trimmer) trim() int64 {
	a := t.arena
	a.verdicts.mu.Lock()
	defer a.verdicts.mu.Unlock()
	list := a.shards() // no more are made meanwhile (I13)
	list.lock()
	defer list.unlock()
	t.taken.init(len(list))
	t.burner.shard = list[0]
	for k, s := range list {
		t.take(s, k)
	}
	if slots.Poisons {
		a.quarantine.takeAll(func(first uint32) { t.addList(0, first) })
	}
	t.takeRest(len(list))
	t.settle()
	gone, count := t.whole()
	t.giveBack(t, list, count)
	if count == 0 {
		return 0
	}
	bytes := a.Table.Decommit(gone)
	a.magazines.show(&a.Table)
	return bytes
}

// choose finds the pages in which nothing is live, and reports whether they are worth it, or whether
// the others are worth an order. A page with slots that may not be handed out yet stays.
func (t *trimmer) choose() bool {
	wanted, rest, busy := uint32(0), uint32(0), uint32(0)
	memory := t.arena.Table.WithMemory()
	t.found = make([]found, t.pages.MetaLen())
	for m := range t.pages.Pages {
		if m.Floor != 0 || uint64(m.FirstSlot)+uint64(m.N) > memory {
			continue
		}
		if n := t.busy(m); n == 0 {
			t.found[t.pages.MetaOf(m.FirstSlot)].wanted = true
			wanted += m.N
		} else {
			rest, busy = rest+m.N, busy+n
		}
	}
	t.live = busy
	return !t.tooFew(wanted) || t.orders(rest, busy)
}

// sparse is how many slots pages must have for each that is live, for Trim to put the others in order
// even if it can give up no page. Such an order frees little where it is less, and costs as much.
const sparse = 4

// busy returns how many slots of m's page are live, or too old for a floor.
func (t *trimmer) busy(m *slots.PageMeta) (n uint32) {
	part, old := t.pages.Strip(m.FirstSlot, m.FirstSlot+m.N), oldStage(&t.arena.Table)
	for j := range part.N {
		if w := part.Slot(j).Word.Load(); slots.IsLive(w) || int64(t.arena.Table.StageOf(part.First+j, w)) > old {
			n++
		}
	}
	return n
}

// page returns what is known of slot i's page if that is wanted, else nil. A page that was
// added since is not.
func (t *trimmer) page(i uint32) *found {
	if i >= t.pages.Limit {
		return nil
	}
	m, _ := t.pages.Meta(i)
	if f := &t.found[t.pages.MetaOf(m.FirstSlot)]; f.wanted {
		return f
	}
	return nil
}

// whole returns the pages to be given up, which are those whose slots the trimmer has all, and
// how many slots they have. A page of which one unit is in use stays: the values of that unit would be lost.
func (t *trimmer) whole() (gone []slots.Decommitted, count uint32) {
	for m := range t.pages.Pages {
		if f := t.page(m.FirstSlot); f != nil && f.got == m.N {
			gone = append(gone, slots.Decommitted{FirstSlot: m.FirstSlot, Floor: f.oldest, Lives: f.lives})
			count += m.N
		}
	}
	if t.tooFew(count) {
		return nil, 0
	}
	for _, d := range gone {
		t.page(d.FirstSlot).gone = true
	}
	slices.Reverse(gone) // so that the first come back first
	return gone, count
}

// tooFew reports whether pages of n slots are not worth it: there are none, or no more than the
// stub has, which there is not yet.
func (t *trimmer) tooFew(n uint32) bool {
	return n == 0 || n <= t.pages.Mask+1 && !t.arena.Table.HasStub()
}

// take takes all that s, the k-th shard, has for insertions, in FIFO's order, but for the range's slots in
// pages that stay.
func (t *trimmer) take(s *shard, k int) {
	t.takeRange(s, k)
	t.addList(k, slots.Low(s.free.TakeAll()))
	s.ready.takeAll(func(first uint32) { t.addList(k, first) })
}

// addList adds the slots of a list of the k-th shard that begins with slot i.
func (t *trimmer) addList(k int, i uint32) {
	for i != slots.None {
		slot := t.arena.Table.Slot(i)
		word := slot.Word.Load()
		t.add(k, slot, i, word)
		i = slots.Low(word)
	}
}

// add adds slot i, which came from the k-th shard and which the trimmer owns, to what was taken, one life
// older. If that was its last life, add exhausts it; a wanted page has no such slot.
func (t *trimmer) add(k int, slot *slots.Hook, i uint32, word uint64) {
	word, ok := t.burn(slot, i, t.arena.Table.GenerationOf(i, word)+1, t.link(i, word))
	if !ok {
		return
	}
	t.put(k, slot, i, word)
	if f := t.page(i); f != nil {
		f.got++
		stage := t.arena.Table.StageOf(i, word)
		f.oldest = max(f.oldest, stage)
		f.lives += t.arena.Table.Lives(stage)
	}
}

// takeRange takes the range of s, the k-th shard, from the first page on that is wanted, if the last one
// is too.
func (t *trimmer) takeRange(s *shard, k int) {
	for {
		lo, hi := s.fresh.Bounds()
		start := uint64(lo)
		if lo < hi && t.page(lo) == nil {
			start = t.pageEnd(lo)
		}
		if start >= uint64(hi) || t.page(hi-1) == nil {
			return
		}
		// Success makes the slots from there on the caller's. Failure means that an insertion was given
		// slots.
		if s.fresh.Cut(lo, hi, uint32(start)) {
			t.addRange(t.fresh(k), uint32(start), int(uint64(hi)-start))
			return
		}
	}
}

func (t *trimmer) addRange(k int, first uint32, n int) {
	for i := first; n > 0; i, n = i+1, n-1 {
		slot := t.arena.Table.Slot(i)
		t.add(k, slot, i, slot.Word.Load())
	}
}

// takeRest takes the slots that the table has not handed out, if they make pages whole. It counts as
// the k-th shard.
func (t *trimmer) takeRest(k int) {
	tab := &t.arena.Table
	first, last := tab.RecommitRange.Bounds()
	lo, hi := uint64(first), uint64(last)
	if lo < hi && t.completed(lo, hi) == lo {
		lo = t.pageEnd(first) // values live in the page that the range begins in
	}
	// Success makes the slots from lo on the caller's. Failure means that another goroutine was
	// given slots.
	if lo < hi && t.completed(lo, hi) == hi && tab.RecommitRange.Cut(first, last, uint32(lo)) {
		t.addRange(k, uint32(lo), int(hi-lo))
	}
	// So it is here, but next can only grow: what is left of a page with values goes to a freelist. The
	// wrong version leaves such a page, and with it all that Grow has made behind it. The last page
	// stays if the Capacity cuts it.
	lo, hi = tab.Allocated(), min(uint64(t.pages.Limit), tab.WithMemory())
	start := lo
	if lo < hi && t.completed(lo, hi) == lo {
		start = t.pageEnd(uint32(lo))
	}
	if end := t.completed(start, hi); start < end && tab.HandOut(lo, end) {
		t.addRange(k, uint32(lo), int(end-lo))
	}
}

// pageEnd returns the first slot behind slot i's page. If that was added since, it is beyond all.
func (t *trimmer) pageEnd(i uint32) uint64 {
	if i >= t.pages.Limit {
		return slots.None
	}
	m, j := t.pages.Meta(i)
	return uint64(i) + uint64(m.N-j)
}

// completed returns the end of the pages from slot lo on that are wanted and would be whole with slots
// lo to hi−1: lo if the first one is not.
func (t *trimmer) completed(lo, hi uint64) uint64 {
	for lo < hi {
		f := t.page(uint32(lo))
		if f == nil {
			break
		}
		m, j := t.pages.Meta(uint32(lo))
		if f.got != j {
			break
		}
		lo += uint64(m.N - j)
	}
	return min(lo, hi)
}
