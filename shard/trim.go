package shard

import "context"

// Trim gives back the memory of pages in which every slot is vacant. Vacant slots lie in
// lists, mixed with slots of other pages, and nothing can be taken out of the middle of a
// list.
//
// So Trim takes the lists whole, as their owner (I1), and counts the slots of pages in which
// nothing was live a moment ago. It gives up each page whose slots it has all. The other slots
// go back to their shards in the order that they had. The wrong version puts slots back page by
// page: FIFO then reuses a slot before others that were removed earlier.
//
// What goes back burns a life, as I5 demands: the same slot on top of a stack, with the same
// generation and other slots below, would break L1. So a Trim costs each vacant slot that it
// moves one of its 2^31 lives.
//
// While Trim has the lists, it holds all locks. An insertion that finds no slot goes on to new
// memory. Before it is refused, it waits for the locks, and so for Trim.

// oldPage is the generation from which a page is not given up any more. A page's floor applies
// to all its slots, so younger ones age at once; each still has 2^27 lives.
const oldPage = 1<<32 - 1<<28

// trimmer is one Trim under way.
type trimmer[T any] struct {
	arena *Arena[T]
	pages *PageTable
	found []found    // by page
	taken []chain[T] // by shard; the last has what the table had not handed out
}

// found is what a trimmer knows of one page.
type found struct {
	wanted bool
	gone   bool
	got    uint32 // how many of its slots the trimmer has
	oldest uint32 // their greatest generation, with the life that each has burnt
}

// Trim gives up every page whose slots it can get, and returns how many bytes that frees. It
// visits every slot that has memory, and costs a few nanoseconds more for each vacant one. It
// waits for another Trim that is under way.
func (a *Arena[T]) Trim() int64 {
	if a.Fixed {
		return 0
	}
	// A slot whose grace period is over would keep its page.
	for i := range a.shards {
		s := &a.shards[i]
		s.reached(context.Background(), s.sealNow())
	}
	return a.trim()
}

// trim is Trim without reclaiming.
func (a *Arena[T]) trim() int64 {
	t := trimmer[T]{arena: a, pages: a.Table.Pages()}
	if !t.choose() {
		return 0
	}
	a.all.Lock()
	defer a.all.Unlock()
	a.lockShards()
	defer a.unlockShards()
	t.taken = make([]chain[T], len(a.shards)+1)
	for i := range a.shards {
		t.take(&a.shards[i], &t.taken[i])
	}
	t.takeRest()
	gone, slots := t.whole()
	if slots > 0 {
		t.drop(slots)
	}
	t.giveBack()
	if slots == 0 {
		return 0
	}
	return a.Table.giveUp(gone)
}

// choose finds the pages in which nothing is live, and reports whether they are worth it.
func (t *trimmer[T]) choose() bool {
	wanted := 0
	t.found = make([]found, len(t.pages.Base))
	for k := range t.found {
		if _, gone := t.pages.Floor(uint32(k) << (t.pages.Shift & 31)); !gone && t.idle(k) {
			t.found[k].wanted = true
			wanted++
		}
	}
	return !t.tooFew(wanted)
}

// idle reports whether no slot of page k is live, or too old for a floor.
func (t *trimmer[T]) idle(k int) bool {
	slots := Block[T](t.pages, uint32(k)<<(t.pages.Shift&31), t.pages.Mask+1)
	for i := range slots {
		if w := slots[i].Word.Load(); IsLive(w) || t.arena.vacant(w) > oldPage {
			return false
		}
	}
	return true
}

// page returns what is known of slot i's page if that is wanted, else nil. A page that was
// added since is not.
func (t *trimmer[T]) page(i uint32) *found {
	if k := i >> (t.pages.Shift & 31); int(k) < len(t.found) && t.found[k].wanted {
		return &t.found[k]
	}
	return nil
}

// whole returns the pages to be given up, which are those whose slots the trimmer has all, and
// how many slots they have.
func (t *trimmer[T]) whole() (gone []absent, slots uint32) {
	for k := len(t.found) - 1; k >= 0; k-- { // so that the first come back first
		f := &t.found[k]
		if f.wanted && uint64(f.got) == t.arena.Table.slotsIn(t.pages, k) {
			gone = append(gone, absent{at: k, floor: f.oldest})
		}
	}
	if t.tooFew(len(gone)) {
		return nil, 0
	}
	for _, a := range gone {
		f := &t.found[a.at]
		f.gone = true
		slots += f.got
	}
	return gone, slots
}

// tooFew reports whether n pages are not worth it: there are none, or there is one and no void
// yet, which would cost what one page frees.
func (t *trimmer[T]) tooFew(n int) bool { return n == 0 || n == 1 && len(t.pages.floors) == 0 }
