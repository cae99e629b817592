package shard

import (
	"slices"
	"unsafe"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
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
// there are hardly more batches than guards. Without stamps per slot, a sealed part of 16
// slots or more stays a batch of its own, and a batch that a magazine gave away is joined to none
// without arrays. So there is at most one batch for each 8 slots.

// batch has slots that pass together. Its stamp is at least that of each slot.
type batch struct {
	slots.Chain
	leastStamp uint64   // no slot's stamp is below it
	number     uint64   // the least number of a seal that had one of its slots
	cleared    progress // of ClearExpired
}

// backlog has the slots of a shard that wait for their grace period, and those whose grace
// period is over and that wait for an empty freelist. The holder of the shard's lock owns it.
type backlog struct {
	sealed  slots.Stamped[batch] // what the last seal took, as far as it is not enqueued; the slot removed last comes first
	turned  slots.Chain          // the part of it that was reversed, and comes after the rest
	waiting slots.Timeline[batch]
	waits   uint32   // slots in sealed, turned and waiting
	joinAt  int      // how many batches there must be to be joined
	added   int      // how many have come since batches were joined; they pay for that
	apart   []uint64 // for joinIfMany: a bit for each batch

	seals     uint64    // how many there were
	fences    []uint64  // the numbers of goals that are set, in order: a batch up to one gets no slots of later seals
	fenceRoom [1]uint64 // where fences begins, so that a Synchronize that need not wait allocates nothing
	unpaid    int64     // slots that were sealed, and for which no removal has paid a round; less those that have, and are in limbo

	frontier epoch.Frontier // which stamps have passed
	newer    bool           // what is sealed was sealed after the last scan

	ready []slots.Chain // slots that have passed and wait for an empty freelist, or for a magazine
	spare slots.SpareArrays

	inResets uint32   // slots in Resets
	runs     []uint64 // for each run of Resets that is under way, its batch's number
}

// seal does nothing if the last seal is not fully enqueued. Otherwise it takes all of limbo. Its stamp
// is at least that of each slot.
//
// The chain is taken before the stamp. A stamp from before could be older than the unlinking
// of slots that came meanwhile, and end their grace period under a guard.
func (s *shard) seal() {
	if s.sealed.Body.N+s.turned.N > 0 {
		return
	}
	head := s.limbo.TakeAll()
	if slots.Low(head) == slots.None {
		return
	}
	s.seals++
	w := &s.sealed
	w.Body.Chain = slots.Chain{First: uint64(slots.Low(head)), N: slots.Generation(head)}
	w.Body.number, w.Body.cleared = s.seals, progress{}
	if s.arena.stampPerSlot {
		w.Stamp, w.Body.leastStamp = s.arena.Domain.Latest(), 0 // no slot's stamp is known yet
	} else {
		w.Stamp = s.arena.Domain.Stamp()
		w.Body.leastStamp = w.Stamp
	}
	s.waits += s.sealed.Body.N
	s.newer = true
	s.unpaid = max(0, s.unpaid+int64(s.sealed.Body.N))
}

// pay returns how many slots pay for a round of a push of n, which has the lock: as many again may
// not have paid, because their pushes did not get it.
//
// In an arena that replays none have: a copy of it does not know.
func (s *shard) pay(n uint32) uint32 {
	if s.arena.Replays {
		return n
	}
	n += uint32(min(max(s.unpaid, 0), int64(n)))
	s.unpaid -= int64(n)
	return n
}

// oldest returns an epoch: what waits in the backlog with a stamp below it has passed. It scans for
// that if the scan was paid for, and may tell more.
func (s *shard) oldest() (oldest uint64, fresh bool) {
	oldest, fresh = s.frontier.Oldest(s.leastWaiting())
	if fresh {
		s.newer = false
	} else if s.newer {
		s.mix()
		oldest = s.frontier.Known()
	}
	return oldest, fresh
}

// mix notes that what is sealed is judged with the rest, although the last scan does not speak of it.
func (s *shard) mix() {
	s.frontier.Mix()
	s.newer = false
}

// leastWaiting returns a stamp that is at most that of each slot of the backlog, but for some that
// came late.
func (s *shard) leastWaiting() uint64 {
	switch first := s.waiting.Oldest(); {
	case first != nil:
		return first.Stamp
	case s.arena.stampPerSlot:
		return 0 // of what is sealed, only the greatest is known
	}
	return s.sealed.Stamp
}

// sealNow seals limbo if it can. It returns the number of the last seal that has a slot of those that
// were removed before. That is the next one, if the one before is not enqueued yet.
func (s *shard) sealNow() uint64 {
	if s.unsorted() > 0 && s.limbo.Size() > 0 {
		return s.seals + 1
	}
	s.seal()
	return s.seals
}

// enqueue puts what was sealed into the list. oldest is the epoch of the oldest guard. It visits
// at most that many slots, and returns how many it did; the rest stays sealed.
func (s *shard) enqueue(oldest uint64, limit int) (visits int) {
	a, source := s.arena, &s.sealed.Body.Chain
	if s.newer {
		s.mix()
	}
	passed := s.sealed.Stamp < oldest
	if s.fifo || s.turned.N > 0 || a.stampPerSlot && !passed {
		// Of a stack, so that batches are appended: each in front of the last would move it.
		if visits = source.Reverse(&s.turned, &a.Table, limit); source.N > 0 {
			return visits
		}
		source = &s.turned
	}
	if !a.stampPerSlot || passed {
		if source.N > 0 {
			s.sealed.Body.Chain = *source
			s.append(s.sealed.Stamp, &s.sealed.Body)
			s.sealed.Body.Chain, s.turned = slots.Chain{}, slots.Chain{}
		}
		return visits
	}
	for ; source.N > 0 && visits < limit; visits++ {
		slot, i, word := source.TakeFirst(&a.Table)
		s.file(slot, i, word, a.Table.StampOf(i, s.sealed.Stamp))
	}
	return visits
}

// unsorted returns how many slots were sealed and are not enqueued.
func (b *backlog) unsorted() uint32 { return b.sealed.Body.N + b.turned.N }

// unsortedOf reports whether slots of the seal with that number, or of one before, are not enqueued,
// or not even sealed.
func (b *backlog) unsortedOf(number uint64) bool {
	return b.seals < number || b.sealed.Body.number <= number && b.unsorted() > 0
}

// file puts a slot into the batch of its stamp. Mostly that is the last: a goroutine stamps a
// slot that it removed, and pushes it on limbo at once.
func (s *shard) file(slot *slots.Hook, i uint32, word, stamp uint64) {
	k, found := s.place(stamp)
	if !found {
		if s.waiting.Len() >= waitingMost {
			s.joinIfMany()
			k, found = s.place(stamp)
		}
		if !found {
			s.waiting.Insert(k, stamp, batch{leastStamp: stamp, number: s.sealed.Body.number})
			s.countBatch()
		}
	}
	b := &s.waiting.Entry(k).Body
	if b.N > 0 && b.Last == nil {
		b.Prepend(slot, i, word) // it was enqueued whole, and waits for Resets
		b.cleared = progress{}
	} else {
		b.Append(slot, i, word)
		b.cleared.appended(i, 1)
	}
}

// place returns which batch is that of a stamp, or would be if there were one. A batch that
// Synchronize waits for gets no slots of later seals, even if their stamps are equal.
func (s *shard) place(stamp uint64) (k int, found bool) {
	l := &s.waiting
	if k = l.Len() - 1; k < 0 || l.Entry(k).Stamp != stamp {
		k = l.Find(stamp)
	}
	for k < l.Len() && l.Entry(k).Stamp == stamp && s.fenced(l.Entry(k).Body.number, s.sealed.Body.number) {
		k++
	}
	return k, k < l.Len() && l.Entry(k).Body.leastStamp <= stamp
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
	if b.N < spliceLeast && b.Last == nil {
		b.FindLast(&s.arena.Table) // so that small batches can always be joined
	}
	last := s.waiting.Youngest()
	if last != nil && last.Stamp == stamp && !s.fenced(last.Body.number, b.number) && join(&last.Body, b) {
		return
	}
	if s.waiting.Len() >= waitingMost {
		s.joinIfMany()
	}
	s.waiting.Add(stamp, *b)
	s.countBatch()
}

// join puts the slots of b behind those of a. It reports false if the end of a is not known, since
// nobody has visited it, or if only one of them has arrays, which would be lost. Joined or not, the
// slots stay in their order.
func join(a, b *batch) bool {
	if a.N > 0 && (a.Last == nil || (a.Arrays.Last == nil) != (b.Arrays.Last == nil)) {
		return false
	}
	a.cleared.appended(b.Top(), b.N)
	a.Chain.Concat(&b.Chain)
	a.leastStamp = min(a.leastStamp, b.leastStamp)
	a.number = min(a.number, b.number)
	return true
}

// putBack gives back slots that were taken out of a batch and that wait again, before the others
// that a fence does not keep apart.
func (s *shard) putBack(stamp uint64, b batch) {
	s.waits += b.N
	l := &s.waiting
	k := l.Find(stamp)
	for k < l.Len() && l.Entry(k).Stamp == stamp && s.fenced(l.Entry(k).Body.number, b.number) {
		k++
	}
	if k < l.Len() {
		if next := l.Entry(k); next.Body.leastStamp <= stamp && !s.fenced(b.number, next.Body.number) {
			join(&b, &next.Body) // ClearExpired begins anew, but there is a Reset
			next.Body = b
			return
		}
	}
	l.Insert(k, stamp, b)
}

// refill gives an empty freelist what is ready: of a queue all, of a stack what was removed
// last. It reports whether it did. A queue's freelist stays empty until all slots have been used.
func (s *shard) refill(target *shard) bool {
	k := len(s.ready) - 1
	if k < 0 || s.unworn.Load() != 0 {
		return false
	}
	c, free := &s.ready[k], &s.recipient(target).free
	if c.Arrays.Last != nil {
		return free.Empty() && s.refillByArray(c, free)
	}
	if !free.Splice(c) {
		return false
	}
	s.ready[k] = slots.Chain{}
	s.ready = s.ready[:k]
	return true
}

// refillByArray gives a freelist the slots of the first array of c, the last chain that is ready.
// The others stay ready, for magazines.
func (s *shard) refillByArray(c *slots.Chain, free *slots.Stack) bool {
	part := c.CutArray(s.arena.Table.Pages())
	s.spare.Put(part.Arrays.RemoveFirst())
	part.Finish(&s.arena.Table)
	if c.N == 0 {
		s.ready = s.ready[:len(s.ready)-1]
	}
	free.Push(&part)
	return true
}

// keep makes c, whose last slot is known and which has arrays, ready. It reports false if there are
// too many chains.
func (s *shard) keep(c *slots.Chain) bool {
	k := len(s.ready) - 1
	switch {
	case k >= 0 && s.ready[k].Arrays.Last != nil:
		c.Concat(&s.ready[k])
		s.ready[k] = *c
	case k+1 < readyMost:
		c.Link(slots.None)
		s.ready = append(s.ready, *c)
	default:
		return false
	}
	return true
}

// takeByArrays takes slots of the last chain that is ready and has arrays, as many as dst has room for,
// or all. It returns how many.
func (s *shard) takeByArrays(dst []slots.Cached) (n int) {
	for k := len(s.ready) - 1; k >= 0; k-- {
		c := &s.ready[k]
		if c.Arrays.Last == nil {
			continue
		}
		if n = c.TakeByArrays(s.arena.Table.Pages(), dst, &s.spare); c.N == 0 {
			s.ready = slices.Delete(s.ready, k, k+1)
		}
		break
	}
	return n
}

// retireBatch makes b, whose slots were removed, wait behind all that does, and reclaims. The caller
// holds the lock, and loses it.
//
// What is sealed was removed before, or may have been, so it comes before b.
func (s *shard) retireBatch(stamp uint64, b *batch) {
	if s.unsorted() > 0 {
		s.enqueue(0, reclaimMost) // as a whole: slots have no stamps of their own here
	}
	if last := s.waiting.Youngest(); last != nil {
		stamp = max(stamp, last.Stamp)
	}
	n := b.N
	s.append(stamp, b)
	s.waits += n
	s.mix() // b was removed after the last scan
	s.arena.waiters.wake()
	paid := s.pay(n)
	s.unpaid = max(0, s.unpaid+int64(n))
	s.reclaimAndUnlock(nil, paid)
}

// passed returns how many slots are ready.
func (b *backlog) passed() (n uint32) {
	for i := range b.ready {
		n += b.ready[i].N
	}
	return n
}

// delayed returns how many slots wait for a guard, if the oldest one has that epoch, and not for
// a Reset alone.
func (b *backlog) delayed(oldest uint64) (n uint32) {
	n = b.waits
	for k := 0; k < b.waiting.Len() && b.waiting.Entry(k).Stamp < oldest; k++ {
		cost.Batches(1)
		n -= b.waiting.Entry(k).Body.N
	}
	return n
}

// leastDelayed returns the least stamp of a slot that waits for a guard, if the oldest one has that
// epoch, and not for a Reset alone; or epoch.NoPin if there is none. Without stamps of their own,
// slots have the stamp of their batch.
func (s *shard) leastDelayed(oldest uint64) uint64 {
	for k := range s.waiting.Len() {
		cost.Batches(1)
		switch w := s.waiting.Entry(k); {
		case w.Stamp < oldest:
		case s.arena.stampPerSlot:
			return w.Body.leastStamp
		default:
			return w.Stamp
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
	for k := range b.waiting.Len() {
		cost.Batches(1)
		if b.waiting.Entry(k).Body.number <= number {
			return false
		}
	}
	return !slices.ContainsFunc(b.runs, func(run uint64) bool { return run <= number })
}

// bytes returns the memory of the lists.
func (b *backlog) bytes() (n int64) {
	for k := range b.waiting.Len() {
		n += b.waiting.Entry(k).Body.Arrays.Bytes()
	}
	return n + b.readyArrays() + int64(cap(b.waiting.List))*int64(unsafe.Sizeof(slots.Stamped[batch]{})) +
		int64(cap(b.ready))*int64(unsafe.Sizeof(slots.Chain{})) + int64(cap(b.runs)+cap(b.apart)+cap(b.fences)-len(b.fenceRoom))*8
}

// readyArrays returns the memory of the arrays of what is ready, and of those without slots.
func (b *backlog) readyArrays() int64 {
	n := int64(b.spare.N) * slots.ArrayBytes
	for k := range b.ready {
		n += b.ready[k].Arrays.Bytes()
	}
	return n
}

// dropArrays gives up what readyArrays counts, and returns that.
func (b *backlog) dropArrays() (bytes int64) {
	bytes = b.readyArrays()
	for k := range b.ready {
		b.ready[k].Arrays = slots.Arrays{}
	}
	b.spare = slots.SpareArrays{}
	return bytes
}
