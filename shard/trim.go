package shard

// Trim gives back the memory of pages in which every slot is vacant. Vacant slots lie in
// lists, mixed with slots of other pages, and nothing can be taken out of the middle of a
// list.
//
// So Trim takes the lists whole, as their owner (I1), and counts the slots of pages in which
// nothing was live a moment ago. It gives up each page whose slots it has all. The other slots
// go back to their shards in the order that they had (taken.go). The wrong version puts slots
// back page by page: FIFO then reuses a slot before others that were removed earlier.
//
// What goes back burns a life, as I5 demands: the same slot on top of a stack, with the same
// generation and other slots below, would break L1. So a Trim costs each vacant slot that it
// moves one of its 2^31 lives.
//
// While Trim has the lists, an insertion may find no slot. It goes on to other shards and to
// new memory. Before it refuses, it asks whether a Trim was under way, waits for its end and
// looks again (settled). No other operation waits for Trim, and Trim waits only for another
// Trim.

// worn is the generation from which a page is not given up any more. A page's floor applies to
// all its slots, so younger ones age at once; each still has 2^27 lives. Under FIFO all slots
// age alike, and Trim does nothing once one is worn.
const worn = 1<<32 - 1<<28

// trimmer is one Trim under way.
type trimmer[T any] struct {
	arena *Arena[T]
	pages *PageTable
	found []found    // by page
	taken []taken[T] // by shard
	rest  taken[T]   // what the table had not handed out
	stays int        // how many slots the trimmer has
	kept  int        // how many of them are of wanted pages
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
	// A slot whose grace period is over would keep its page, so reclaim first.
	for i := range a.shards {
		s := &a.shards[i]
		for calls := 4 + s.pending()/Batch; calls > 0; calls-- {
			if _, more := s.reclaim(s, effortAll); !more {
				break
			}
		}
	}
	a.trim.Lock()
	defer a.trim.Unlock()
	return a.trimLocked()
}

// autoTrim is Config.AutoTrim. n slots have just come free.
//
// No count of live values exists, so autoTrim counts them. It does so once for every quarter
// of the slots that comes free, which is four words for each of these. When a pool shrinks,
// each Trim leaves fewer words to the next.
func (a *Arena[T]) autoTrim(n int) {
	if !a.AutoTrim {
		return
	}
	freed := a.freed.Add(int64(n))
	resident := a.Table.Resident()
	if freed < int64(resident/4) || resident <= 2*int(a.Table.Pages().Mask+1) ||
		// Failure means that another remover has come this far.
		!a.freed.CompareAndSwap(freed, 0) || 2*a.Len() >= resident || !a.trim.TryLock() {
		return
	}
	defer a.trim.Unlock()
	a.trimLocked()
}

// trimLocked is Trim under trim.
func (a *Arena[T]) trimLocked() int64 {
	bytes := a.Table.withdraw()
	t := trimmer[T]{arena: a, pages: a.Table.Pages()}
	if t.choose() == 0 {
		return bytes
	}
	a.trims.Add(1)
	defer a.trims.Add(1)
	for i := range a.shards {
		if s := &a.shards[i]; s.list.enter() {
			defer s.list.release()
			t.taken = append(t.taken, taken[T]{from: s})
			s.list.take(&t, &t.taken[len(t.taken)-1])
		}
	}
	if len(t.taken) == 0 {
		return bytes
	}
	return bytes + t.finish()
}

// settled reports whether no Trim has been under way since trims was n. If one has, it waits
// for the Trim that is under way now.
func (a *Arena[T]) settled(n uint64) bool {
	if n&1 == 0 && a.trims.Load() == n {
		return true
	}
	a.trim.Lock()
	//lint:ignore SA2001 waiting is all that is wanted
	a.trim.Unlock()
	return false
}

// choose finds the pages in which nothing is live and which are worth it, and returns how many
// there are.
func (t *trimmer[T]) choose() (wanted int) {
	t.found = make([]found, len(t.pages.Base))
	keep := uint64(0) // the lists' own slots had better lie together
	for i := range t.arena.shards {
		keep += uint64(t.arena.shards[i].list.needs())
	}
	for k := range t.found {
		if _, gone := t.pages.Floor(uint32(k) << (t.pages.Shift & 31)); gone {
			continue
		}
		idle, tired := t.look(k)
		if tired && t.arena.FIFO {
			return 0
		}
		if n := t.arena.Table.slotsIn(t.pages, k); keep > 0 {
			keep -= min(keep, n)
			continue
		}
		if idle && !tired {
			t.found[k] = found{wanted: true}
			wanted++
		}
	}
	if t.tooFew(wanted) {
		return 0
	}
	return wanted
}

// look reports whether no slot of page k is live, and whether one is worn.
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

// page returns what is known of slot i's page if that is wanted, else nil. A page that was
// added since is not.
func (t *trimmer[T]) page(i uint32) *found {
	if k := i >> (t.pages.Shift & 31); int(k) < len(t.found) && t.found[k].wanted {
		return &t.found[k]
	}
	return nil
}

// finish gives up the pages that are whole, and gives back the slots of others.
func (t *trimmer[T]) finish() int64 {
	t.takeRest()
	gone := t.whole()
	if t.kept > 0 {
		t.merge(&t.rest)
		for i := range t.taken {
			t.merge(&t.taken[i])
		}
	}
	t.giveBack()
	if len(gone) == 0 {
		return 0
	}
	return t.arena.Table.giveUp(gone)
}

// whole returns the pages to be given up: those whose slots the trimmer has all, as far as
// they can be spared.
func (t *trimmer[T]) whole() (gone []absent) {
	spare := t.stays
	for i := range t.taken {
		spare -= int(t.taken[i].from.list.needs())
	}
	for k := len(t.found) - 1; k >= 0; k-- { // so that the first come back first
		f := &t.found[k]
		if got := int(f.got); f.wanted && uint64(got) == t.arena.Table.slotsIn(t.pages, k) && got <= spare {
			spare -= got
			gone = append(gone, absent{at: k, floor: f.oldest})
		}
	}
	if t.tooFew(len(gone)) {
		return nil
	}
	for _, a := range gone {
		f := &t.found[a.at]
		f.gone = true
		t.kept -= int(f.got)
	}
	return gone
}

// tooFew reports whether n pages are not worth it: there is no void yet, and it would cost
// what one page frees.
func (t *trimmer[T]) tooFew(n int) bool { return n < 2 && len(t.pages.floors) == 0 }
