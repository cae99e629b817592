package shard

// Trim gives back the memory of pages in which every slot is vacant. What makes
// it hard is that vacant slots lie in lists, mixed with those of other pages, and
// that nothing can be taken out of the middle of a list.
//
// So Trim takes the lists whole, as their owner (I1), and counts the slots of
// pages in which nothing was live a moment ago. A page whose slots are all in
// its hands is given up. Whatever else is in its hands goes back to the shard
// that it came from, in the order that it had: slots of other pages, and of pages
// of which somebody else has a slot (a Worker, a reservation, limbo, an insertion
// that was faster). The wrong version puts back page by page, and FIFO reuses a
// slot before others that were removed earlier.
//
// What goes back burns a life: a stack that has the same slot on top, with the same
// generation and other slots below, is what I5 is there to prevent. So a Trim
// costs every vacant slot that it moves one of its 2^31 lives.
//
// While Trim has the lists, an insertion may find nothing. It goes on to other
// shards and to new memory as always, and where there is none it asks, before it
// says that the pool is full, whether a Trim was under way, waits for its end, and
// looks again (settled). Nobody else waits, and Trim waits for nobody but
// another Trim.

// worn is the generation from which a page is not given up any more. Its floor
// applies to all its slots, so that those which have lived less age at once; with
// this, each still has 2^27 lives. Under FIFO, where all slots age alike, Trim does
// nothing any more once one is worn.
const worn = 1<<32 - 1<<28

// trimmer is one Trim under way.
type trimmer[T any] struct {
	arena *Arena[T]
	pages *Pages
	found []found    // by page
	taken []taken[T] // by shard
	rest  taken[T]   // what the table had not handed out
	stays int        // how many slots are here
	kept  int        // how many of them are of wanted pages
}

// found is what Trim knows of one page.
type found struct {
	wanted bool
	gone   bool
	got    uint32 // how many of its slots are here
	oldest uint32 // their greatest generation, the life that each has burnt included
}

// Trim gives up every page whose slots it can get hold of, and returns how many
// bytes that gives back. It costs a look at every slot that has memory, and a few
// nanoseconds more for each vacant one. If another Trim is under way it waits for
// that.
func (a *Arena[T]) Trim() int64 {
	if a.Fixed {
		return 0
	}
	// What waits and need not wait any more would keep its pages.
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

// autoTrim is Config.AutoTrim. It is told of n slots that a remover has freed.
//
// Nobody counts live values, so it does, and pays for that with every fourth part
// of the slots that comes free: four words to be looked at for each slot. When a
// pool shrinks, each Trim leaves less to be looked at by the next.
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

// settled reports whether no Trim has been under way since trims was n. If one
// has, it waits for the end of the one that is.
func (a *Arena[T]) settled(n uint64) bool {
	if n&1 == 0 && a.trims.Load() == n {
		return true
	}
	a.trim.Lock()
	//lint:ignore SA2001 waiting is all that is wanted
	a.trim.Unlock()
	return false
}

// choose finds the pages in which nothing is live and which are worth it, and
// returns how many there are.
func (t *trimmer[T]) choose() (wanted int) {
	t.found = make([]found, len(t.pages.Base))
	keep := uint64(0) // what must stay had better lie together
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

// takeList takes all of a shard's list.
func (t *trimmer[T]) takeList(l *taken[T]) {
	s := l.from
	top := s.free.Load() // observes (P3)
	for top != emptyList && !s.free.CompareAndSwap(top, emptyList) {
		top = s.free.Load() // somebody got a slot or gave one
	}
	// Success has proved that the list was as it had been pushed: it is whole, and
	// here.
	t.addList(l, Low(top))
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

// add appends slot i, which Trim owns and whose word is word, to l, one life
// older; or retires it, if that was its last. A page that is wanted has none such.
func (t *trimmer[T]) add(l *taken[T], slot *Slot[T], i uint32, word uint64) {
	g := max(Generation(word), t.arena.First-1) // a word may never have been written
	if g+1 == LastGeneration {
		t.arena.exhaust(slot)
		return
	}
	word = Pack(g+2, Low(word)) // mostly the link that stays
	slot.set(word)
	t.stays++
	f := t.page(i)
	if f == nil {
		l.run.append(slot, i, word)
		return
	}
	l.mark()
	l.wanted.append(slot, i, word)
	t.kept++
	f.got++
	f.oldest = max(f.oldest, g+2)
}

// takeRange takes the shard's range if its pages are wanted.
func (t *trimmer[T]) takeRange(l *taken[T]) {
	f := l.from.fresh.Load()
	if rangeLen(f) == 0 || t.page(Generation(f)) == nil || t.page(Low(f)-1) == nil {
		return
	}
	first, n := l.from.freshRun(int(rangeLen(f)))
	t.addRange(l, first, n)
}

func (t *trimmer[T]) addRange(l *taken[T], first uint32, n int) {
	for i := first; n > 0; i, n = i+1, n-1 {
		slot := t.arena.slot(i)
		t.add(l, slot, i, slot.Word.Load())
	}
}

// takeRest takes the slots that the table has not handed out, if with them the
// pages in which they lie are here whole.
func (t *trimmer[T]) takeRest() {
	tab := &t.arena.Table
	if r := tab.again.Load(); rangeLen(r) > 0 && t.completes(uint64(Generation(r)), uint64(Low(r))) &&
		// Success makes all of the range the caller's. Failure means that somebody
		// was given slots.
		tab.again.CompareAndSwap(r, Pack(Low(r), Low(r))) {
		t.addRest(Generation(r), Low(r))
	}
	lo, hi := tab.next.Load(), uint64(t.pages.Limit)
	if lo < hi && t.completes(lo, hi) && tab.next.CompareAndSwap(lo, hi) {
		t.addRest(uint32(lo), uint32(hi))
	}
}

// completes reports whether the pages of slots lo to hi−1 are wanted and would be
// whole with them.
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

func (t *trimmer[T]) addRest(lo, hi uint32) { t.addRange(&t.rest, lo, int(hi-lo)) }

// finish gives up the pages that are here whole, and gives back what is here of
// others.
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

// whole finds the pages to be given up: those whose slots are all here, as far as
// they can be spared.
func (t *trimmer[T]) whole() (gone []absent) {
	spare := t.stays - t.needed()
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

// needed returns how many slots must stay.
func (t *trimmer[T]) needed() (n int) {
	for i := range t.taken {
		n += int(t.taken[i].from.list.needs())
	}
	return n
}

// giveBack gives back what is here. Slots that were never used are handed out first by a
// queue, and last by a stack, where the others are warmer. A queue must get back its dummy
// and its part of the reserve (I9), if not of its own slots then of another's: otherwise
// more values could be live than Capacity.
func (t *trimmer[T]) giveBack() {
	first, unused := &t.taken[0].run, &t.rest.run
	if t.arena.FIFO {
		first, unused = unused, first
	}
	first.concat(unused)
	t.taken[0].run = *first
	from := 0
	for i := range t.taken {
		to := &t.taken[i]
		for needs := to.from.list.needs(); to.run.n < needs; {
			rich := &t.taken[from]
			spare := rich.run.n - min(rich.run.n, rich.from.list.needs())
			if spare == 0 {
				from++
				continue
			}
			some := rich.run.cut(t.arena, min(spare, needs-to.run.n))
			to.run.concat(&some)
		}
	}
	for i := range t.taken {
		t.taken[i].from.list.put(t.taken[i].run)
	}
}

// tooFew reports whether n pages are not worth it: there is no void yet, and it would
// cost what a page gives.
func (t *trimmer[T]) tooFew(n int) bool { return n < 2 && len(t.pages.floors) == 0 }
