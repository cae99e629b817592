package shard

import (
	"slices"
	"unsafe"

	"coatcheck/epoch"
)

// A removed slot waits in the backlog of its shard until its grace period is over:
//
//	limbo ──seal──▶ sealed ──enqueue──▶ waiting: 7 │ 9 │ 12 ──release──▶ ready, freelist
//
// waiting is ordered by stamp. A batch has the slots of one stamp, so batches pass in order, and
// the first one tells whether any has passed. The naive list has what each seal took, with the
// youngest stamp of that. A batch that is joined to others then waits for a guard that was
// pinned after most of its slots were removed; and the slots that have passed are somewhere in
// the list, so that each refusal visits all that waits.
//
// Where a removal takes a stamp of its own (Arena.stampPerSlot), enqueue visits each sealed slot once
// and puts it into the batch of its stamp. If not, the seal's stamp is that of all, and no slot
// need be visited. The same is true of slots that have passed when they are enqueued, which is
// all that happens where no guard stays pinned.
//
// Stamps differ only if a guard was pinned in between, and it may be gone. Two batches are
// joined if no guard stands between their stamps, since they pass at the same moment then. So
// there are hardly more batches than guards. Where slots have no stamps of their own, sealed parts of
// some length stay as they are, and there is one for some sixteen slots at most.

// batch has slots that pass together. Its stamp is at least that of each slot.
type batch struct {
	chain
	least   uint64   // no slot's stamp is below it
	number  uint64   // the least number of a seal that had one of its slots
	cleared progress // of ClearExpired
}

// backlog has the slots of a shard that wait for their grace period, and those whose grace
// period is over and that wait for an empty freelist. The holder of the shard's lock owns it.
type backlog struct {
	sealed  stamped[batch] // what the last seal took, as far as it is not enqueued; the slot removed last comes first
	turned  chain          // the part of it that was reversed, and comes after the rest
	waiting timeline[batch]
	waits   uint32   // slots in sealed, turned and waiting
	joinAt  int      // how many batches there must be to be joined
	epochs  []uint64 // for joinIfMany

	seals   uint64     // how many there were
	fences  []uint64   // the numbers of goals that are set, in order: a batch up to one gets no slots of later seals
	one     [1]uint64  // where fences begins, so that a Synchronize that need not wait allocates nothing
	blocker epoch.Pins // what the last scan found

	ready []chain // slots that have passed and wait for an empty freelist

	inResets uint32   // slots in Resets
	runs     []uint64 // for each run of Resets that is under way, its batch's number
}

// seal takes all of limbo, once all of the seal before is enqueued. Its stamp is at least that
// of each slot.
//
// The chain is taken before the stamp. A stamp from before could be older than the unlinking
// of slots that came meanwhile, and end their grace period under a guard.
func (s *shard) seal() {
	if s.sealed.body.n+s.turned.n > 0 {
		return
	}
	head := s.limbo.takeAll()
	if Low(head) == None {
		return
	}
	s.seals++
	w := &s.sealed
	w.body.chain = chain{first: uint64(Low(head)), n: Generation(head)}
	w.body.number, w.body.cleared = s.seals, progress{}
	if s.arena.stampPerSlot {
		w.stamp = s.arena.Domain.Latest()
	} else {
		w.stamp = s.arena.Domain.Stamp()
		w.body.least = w.stamp
	}
	s.waits += s.sealed.body.n
}

// sealNow seals limbo if it can. It returns the number of the last seal that has a slot of those that
// were removed before. That is the next one, if the one before is not enqueued yet.
func (s *shard) sealNow() uint64 {
	if s.unsorted() > 0 && s.limbo.size() > 0 {
		return s.seals + 1
	}
	s.seal()
	return s.seals
}

// enqueue puts what was sealed into the list. oldest is the epoch of the oldest guard. It visits
// at most that many slots, and returns how many it did; the rest stays sealed.
func (s *shard) enqueue(oldest uint64, most int) (visits int) {
	a, from := s.arena, &s.sealed.body.chain
	passed := s.sealed.stamp < oldest
	if s.fifo || s.turned.n > 0 || a.stampPerSlot && !passed {
		// Of a stack, so that batches are appended: each in front of the last would move it.
		if visits = from.reverse(&s.turned, a, most); from.n > 0 {
			return visits
		}
		from = &s.turned
	}
	if !a.stampPerSlot || passed {
		if from.n > 0 {
			s.sealed.body.chain = *from
			s.append(s.sealed.stamp, &s.sealed.body)
			s.sealed.body.chain, s.turned = chain{}, chain{}
		}
		return visits
	}
	for ; from.n > 0 && visits < most; visits++ {
		slot, i, word := from.takeFirst(a)
		s.file(slot, i, word, a.Table.stampOf(i, s.sealed.stamp))
	}
	return visits
}

// unsorted returns how many slots were sealed and are not enqueued.
func (b *backlog) unsorted() uint32 { return b.sealed.body.n + b.turned.n }

// unsortedOf reports whether slots of the seal with that number, or of one before, are not enqueued,
// or not even sealed.
func (b *backlog) unsortedOf(number uint64) bool {
	return b.seals < number || b.sealed.body.number <= number && b.unsorted() > 0
}

// file puts a slot into the batch of its stamp. Mostly that is the last: a goroutine stamps a
// slot that it removed, and pushes it on limbo at once.
func (s *shard) file(slot *Hook, i uint32, word, stamp uint64) {
	k, found := s.place(stamp)
	if !found {
		if s.waiting.len() >= waitingMost {
			s.joinIfMany()
			k, found = s.place(stamp)
		}
		if !found {
			s.waiting.insert(k, stamp, batch{least: stamp, number: s.sealed.body.number})
		}
	}
	b := &s.waiting.at(k).body
	if b.n > 0 && b.last == nil {
		b.prepend(slot, i, word) // it was enqueued whole, and waits for Resets
		b.cleared = progress{}
	} else {
		b.append(slot, i, word)
		b.cleared.appended(i, 1)
	}
}

// place returns which batch is that of a stamp, or would be if there were one. What Synchronize waits
// for gets no slots of later seals, if their stamps grow no more.
func (s *shard) place(stamp uint64) (k int, found bool) {
	l := &s.waiting
	if k = l.len() - 1; k < 0 || l.at(k).stamp != stamp {
		k = l.find(stamp)
	}
	for k < l.len() && l.at(k).stamp == stamp && s.fenced(l.at(k).body.number, s.sealed.body.number) {
		k++
	}
	return k, k < l.len() && l.at(k).body.least <= stamp
}

// fenced reports whether a batch of the first number must get no slots of the seal with the second:
// a call of Synchronize waits for the batch, and not for these.
//
// The wrong version knows only the last call. What is removed between two calls puts off the first.
func (b *backlog) fenced(waits, number uint64) bool {
	return len(b.fences) > 0 && b.fencedSlow(waits, number) // asked for each slot, mostly for nothing
}

func (b *backlog) fencedSlow(waits, number uint64) bool {
	k, _ := slices.BinarySearch(b.fences, waits)
	return k < len(b.fences) && b.fences[k] < number
}

// append makes b the last batch, or a part of it.
func (s *shard) append(stamp uint64, b *batch) {
	if b.n < spliceLeast && b.last == nil {
		b.findLast(s.arena) // so that small batches can always be joined
	}
	last := s.waiting.last()
	if last != nil && last.stamp == stamp && !s.fenced(last.body.number, b.number) && join(&last.body, b) {
		return
	}
	if s.waiting.len() >= waitingMost {
		s.joinIfMany()
	}
	s.waiting.add(stamp, *b)
}

// join puts the slots of b behind those of a. It reports false if the end of a is not known, since
// nobody has visited it. Joined or not, the slots stay in their order.
func join(a, b *batch) bool {
	if a.n > 0 && a.last == nil {
		return false
	}
	a.cleared.appended(b.top(), b.n)
	a.chain.concat(&b.chain)
	a.least = min(a.least, b.least)
	a.number = min(a.number, b.number)
	return true
}

// joinIfMany makes room for another batch, if there are waitingMost. It joins those that pass at
// the same moment: between their stamps no guard stands. It costs a scan and a look at each batch,
// and next time there must be twice as many.
//
// A pin that is under way may still bring an older epoch than all that the scan finds, between
// the stamps of a batch. It delays all of that, until an insertion would be refused: that cuts
// the batch in two. So in a pool with Preallocate, whose list should not grow, neighbours are joined
// that a guard keeps apart, if it is full. It grows even there if Resets or a Synchronize keep so many
// apart.
func (s *shard) joinIfMany() {
	l, fixed := &s.waiting, s.arena.Fixed
	if l.len() == waitingMost {
		s.joinAt = waitingMost // it was shorter, or may be joined again
	}
	if l.len() < s.joinAt && !(fixed && l.len() == cap(l.list)) {
		return
	}
	s.epochs = s.arena.Domain.Epochs(s.epochs[:0])
	slices.Sort(s.epochs)
	epochs := s.epochs
	s.joinNeighbours(func(a, b *stamped[batch]) bool {
		for len(epochs) > 0 && epochs[0] <= a.stamp {
			epochs = epochs[1:]
		}
		return len(epochs) == 0 || epochs[0] > b.stamp
	})
	if fixed && l.len() == cap(l.list) {
		even := false
		s.joinNeighbours(func(a, b *stamped[batch]) bool {
			even = !even
			return even
		})
	}
	s.joinAt = 2 * l.len()
}

// joinNeighbours joins each batch to the one before it if together says so, and it is possible.
func (s *shard) joinNeighbours(together func(a, b *stamped[batch]) bool) {
	l := &s.waiting
	l.closeUp()
	n := 0
	for k := 1; k < len(l.list); k++ {
		a, b := &l.list[n], &l.list[k]
		if together(a, b) && !s.fenced(a.body.number, b.body.number) && join(&a.body, &b.body) {
			a.stamp = b.stamp
			continue
		}
		n++
		l.list[n] = *b
	}
	clear(l.list[n+1:])
	l.list = l.list[:n+1]
}

// cut cuts the first batch in two: what has passed if the oldest guard has that epoch, and the
// rest. It visits all slots of the batch. Batches need it that were joined, or enqueued whole.
func (s *shard) cut(oldest uint64) {
	a, first := s.arena, s.waiting.at(0)
	passed := batch{least: first.body.least, number: first.body.number}
	rest := batch{least: first.stamp, number: first.body.number}
	latest := uint64(0)
	for first.body.n > 0 {
		slot, i, word := first.body.takeFirst(a)
		if stamp := a.Table.stampOf(i, first.stamp); stamp < oldest {
			passed.append(slot, i, word)
			latest = max(latest, stamp)
		} else {
			rest.append(slot, i, word)
			rest.least = min(rest.least, stamp)
		}
	}
	switch {
	case rest.n == 0: // the stamp of what was enqueued whole may be above those of all slots
		first.stamp, first.body = latest, passed
	case passed.n == 0:
		first.body = rest
	default:
		first.body = rest
		s.waiting.insert(0, latest, passed)
	}
}

// putBack gives back slots that were taken out of a batch and that wait again, before the others
// that a fence does not keep apart.
func (s *shard) putBack(stamp uint64, b batch) {
	s.waits += b.n
	l := &s.waiting
	k := l.find(stamp)
	for k < l.len() && l.at(k).stamp == stamp && s.fenced(l.at(k).body.number, b.number) {
		k++
	}
	if k < l.len() {
		if next := l.at(k); next.body.least <= stamp && !s.fenced(b.number, next.body.number) {
			join(&b, &next.body) // ClearExpired begins anew, but there is a Reset
			next.body = b
			return
		}
	}
	l.insert(k, stamp, b)
}

// blocked reports whether a guard that the last scan found is still pinned, and delays all that
// waits.
func (b *backlog) blocked() bool {
	return b.waiting.len() > 0 && b.waiting.at(0).stamp >= b.blocker.Oldest && b.blocker.Stands()
}

// refill gives an empty freelist what is ready: of a queue all, of a stack what was removed
// last. It reports whether it did. A queue's freelist stays empty until all slots have been used.
func (s *shard) refill(to *shard) bool {
	k := len(s.ready) - 1
	if k < 0 || s.unworn.Load() != 0 || !s.recipient(to).free.splice(&s.ready[k]) {
		return false
	}
	s.ready[k] = chain{}
	s.ready = s.ready[:k]
	return true
}

// passed returns how many slots are ready.
func (b *backlog) passed() (n uint32) {
	for i := range b.ready {
		n += b.ready[i].n
	}
	return n
}

// delayed returns how many slots wait for a guard, if the oldest one has that epoch, and not for
// a Reset alone.
func (b *backlog) delayed(oldest uint64) (n uint32) {
	n = b.waits
	for k := 0; k < b.waiting.len() && b.waiting.at(k).stamp < oldest; k++ {
		n -= b.waiting.at(k).body.n
	}
	return n
}

// leastDelayed returns the least stamp of a slot that waits for a guard, if the oldest one has that
// epoch, and not for a Reset alone; or epoch.NoPin if there is none. Without stamps of their own,
// slots have the stamp of their batch.
func (s *shard) leastDelayed(oldest uint64) uint64 {
	for k := range s.waiting.len() {
		switch w := s.waiting.at(k); {
		case w.stamp < oldest:
		case s.arena.stampPerSlot:
			return w.body.least
		default:
			return w.stamp
		}
	}
	return epoch.NoPin
}

// reached reports whether every slot of the seal with that number and of those before has been
// reclaimed, except what holds keep.
func (b *backlog) reached(number uint64) bool {
	if b.unsortedOf(number) {
		return false
	}
	for k := range b.waiting.len() {
		if b.waiting.at(k).body.number <= number {
			return false
		}
	}
	return !slices.ContainsFunc(b.runs, func(of uint64) bool { return of <= number })
}

// bytes returns the memory of the lists.
func (b *backlog) bytes() int64 {
	return int64(cap(b.waiting.list))*int64(unsafe.Sizeof(stamped[batch]{})) +
		int64(cap(b.ready))*int64(unsafe.Sizeof(chain{})) + int64(cap(b.runs)+cap(b.epochs)+cap(b.fences)-len(b.one))*8
}
