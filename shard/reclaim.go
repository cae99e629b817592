package shard

// Reclaiming is the way from limbo back to the freelist:
//
//	limbo ──seal──▶ batch, tag r ──grace period──▶ clean ──▶ freelist
//
// A shard has up to sealedMost batches, in the order in which they were sealed.
// A goroutine that has removed enough slots, or needs some, tries for the shard's
// lock; if it is held, somebody is reclaiming already and it continues without. So no
// operation waits, save an insertion that would be refused otherwise: a goroutine
// that is preempted with the lock must not make the pool full.
//
// That insertion may itself run in a Reset. So no user code runs under the lock:
// the slots that a Reset is called for are taken out of the batch a few at a time,
// and count as the caller's meanwhile.
//
// One call moves a bounded number of slots: after a long stall the arrears are
// worked off by many calls, not by one that was unlucky.

// reclaimMost is how many slots one call moves. More would make the longest
// Remove longer; it must be above Batch for arrears to shrink at all.
const reclaimMost = 4 * Batch

// Effort is how far Reclaim goes.
type Effort uint8

const (
	Known Effort = iota // goes by the frontier as known
	Scan                // finds out which guards are pinned
	Wait                // and waits for the lock, and seals however few wait
)

// Reclaim moves slots from limbo to the freelist of to (under FIFO, its own): it
// seals what has gathered, and moves the batches whose grace period is over. It
// returns how many slots it freed, and whether another call would do more at once.
func (s *Shard[T]) Reclaim(to *Shard[T], effort Effort) (freed int, more bool) {
	runs := 1
	if s.space.Reset != nil {
		runs = reclaimMost / resetRun
	}
	for round := range runs {
		if effort == Wait {
			s.mu.Lock()
		} else if !s.mu.TryLock() {
			return freed, false
		}
		var n int
		n, more = s.reclaim(to, effort, round == 0)
		if freed += n; !more {
			break
		}
	}
	return freed, more
}

// reclaim is Reclaim under mu, which it unlocks. With a Reset it moves one run, and
// another call then finds out whether that was the last one.
func (s *Shard[T]) reclaim(to *Shard[T], effort Effort, first bool) (freed int, more bool) {
	s.settle()
	if q := &s.sealed; first && !q.full() && (q.n == 0 || effort == Wait || Generation(s.limbo.Load()) >= Batch) {
		s.seal()
	}
	var mine toReset
	freed = s.drain(to, effort != Known, &mine)
	s.settle()
	more = !s.resetting() && (s.passed(false) != nil || freed > 0 && Low(s.limbo.Load()) != None)
	s.mu.Unlock()
	if mine.n > 0 {
		return s.resetAll(&mine, to), true
	}
	return freed, more
}

// drain moves the slots of batches that have passed, up to reclaimMost, and returns
// how many came free. With a Reset it takes a run of them instead. The caller holds
// mu.
func (s *Shard[T]) drain(to *Shard[T], scan bool, mine *toReset) (freed int) {
	steps := uint32(reclaimMost)
	for b := s.passed(scan); b != nil && steps > 0; b = s.passed(scan) {
		if s.fifo && !s.turn(b, &steps) {
			break
		}
		if s.space.Reset != nil {
			if !s.resetting() {
				*mine = s.take(b)
			}
			break
		}
		n := b.n
		if !s.fifo && s.splice(b, to) {
			b.n = 0
			freed += int(n)
		} else {
			freed += s.move(b, to, steps)
		}
		steps -= min(steps, n-b.n)
		s.left.Add(b.n - n)
	}
	return freed
}

// batch is a part of limbo that was sealed. Its slots wait for one grace period.
type batch struct {
	top    uint32 // the slot removed last
	turned uint32 // FIFO: the part turned round so far, its oldest on top
	n      uint32 // slots in these lists
	over   bool   // the grace period is known to be over
	tag    uint64
	number uint64 // Shard.seals when it was sealed
}

// batches is a queue of sealed batches; tags and numbers grow towards its end.
type batches struct {
	ring     [sealedMost]batch
	first, n uint32
}

func (q *batches) at(k uint32) *batch { return &q.ring[(q.first+k)%sealedMost] }
func (q *batches) full() bool         { return q.n == sealedMost }

// settle removes the batches at the front of which nothing is left, and counts
// them as done. The caller holds mu.
func (s *Shard[T]) settle() {
	q := &s.sealed
	for q.n > 0 && q.at(0).n == 0 {
		s.done.Store(q.at(0).number)
		q.first, q.n = (q.first+1)%sealedMost, q.n-1
	}
	if q.n == 0 {
		s.done.Store(s.seals.Load())
	}
	s.flip()
}

// passed returns the first batch with slots whose grace period is over, or nil.
// With scan it finds out for itself. The caller holds mu.
func (s *Shard[T]) passed(scan bool) *batch {
	q, d := &s.sealed, s.space.Domain
	for k := range q.n {
		b := q.at(k)
		if b.n == 0 {
			continue
		}
		b.over = b.over || b.tag < d.Safe() || scan && d.Over(b.tag)
		if b.over {
			return b
		}
		return nil // later batches have greater tags
	}
	return nil
}

// seal makes all of limbo a batch. There must be room for one; the caller holds mu.
//
// The chain comes first: a tag that was loaded before could be older than the
// unlinking of what came into limbo meanwhile, and end that slot's grace period
// under a guard that saw it. Where removals have tags, the greatest of them will
// do: each was raised before its slot was pushed.
//
// A seal counts before it looks, also when it then finds nothing: who sees limbo
// filled after the count may wait for the next seal, and must not wait for ever
// if this one takes all there is (see Goal).
func (s *Shard[T]) seal() {
	number := s.seals.Add(1)
	if Low(s.limbo.Load()) == None {
		s.settle()
		return
	}
	s.left.Add(1)                   // for an insertion that looks now: it must see that something waits
	head := s.limbo.Swap(emptyList) // observes (P7)
	b := s.sealed.at(s.sealed.n)
	b.top, b.turned, b.n, b.over = Low(head), None, Generation(head), false
	b.number = number
	if s.space.Exact {
		b.tag = s.latest.Load()
	} else {
		b.tag = s.space.Domain.Retire()
	}
	s.left.Add(b.n - 1)
	s.sealed.n++
}

// part seals what waits, if there is room for a batch, or comes to be: its slots
// were unlinked before a guard was pinned that the next one must wait for.
func (s *Shard[T]) part() {
	if !s.mu.TryLock() {
		return
	}
	s.settle()
	if s.sealed.full() && s.space.Reset == nil {
		s.drain(s, true, nil)
		s.settle()
	}
	if !s.sealed.full() {
		s.seal()
	}
	s.mu.Unlock()
}

// move moves up to most slots of b to the end of the queue, or onto the stack of
// to, the one removed last on top.
func (s *Shard[T]) move(b *batch, to *Shard[T], most uint32) int {
	list := s.list(b)
	var r run[T]
	held := s.space.held()
	for range min(b.n, most) {
		if slot := s.reclaimOne(list, &b.n, &r, held); slot != nil && s.space.Zero {
			clear1(&slot.Value)
		}
	}
	if s.fifo {
		s.GiveCredit(int64(s.appendRun(&r)))
	} else {
		to.pushRun(&r)
	}
	return r.n
}

// list returns the list from which b's slots are reclaimed.
func (s *Shard[T]) list(b *batch) *uint32 {
	if s.fifo {
		return &b.turned
	}
	return &b.top
}

// splice makes the whole batch the stack of to, if that is empty, as it mostly is
// when a batch has gathered, and if no slot needs to be visited: T is plain, none
// has used up its generations, and none is held. The batch ends with None already,
// because it began as limbo's. Visiting would cost some 5 ns a slot, since each is
// found only through the one before.
func (s *Shard[T]) splice(b *batch, to *Shard[T]) bool {
	if !s.space.plain() || to.free.Load() != emptyList || s.space.wornSlots() || s.space.held() {
		return false
	}
	word := s.space.Slot(b.top).Word.Load()
	return to.free.CompareAndSwap(emptyList, Pack(Generation(word), b.top)) // publishes (P3)
}

// turn turns the batch round, since limbo has what was removed last on top and a
// queue wants it last. It reports whether that took no more than steps, and takes
// what it took from them.
func (s *Shard[T]) turn(b *batch, steps *uint32) bool {
	for ; *steps > 0 && b.top != None; *steps-- {
		i := b.top
		slot := s.space.Slot(i)
		word := slot.Word.Load()
		slot.Word.Store(Pack(Generation(word), b.turned))
		b.top, b.turned = Low(word), i
	}
	return b.top == None
}

// reclaimOne takes the top slot of list, which has n, and adds it to r. It parks one that is
// held, and takes one out of use that has no generation left. It returns the slot
// if its value is still to be cleaned.
func (s *Shard[T]) reclaimOne(list, n *uint32, r *run[T], held bool) *Slot[T] {
	i := *list
	slot := s.space.Slot(i)
	word := slot.Word.Load()
	*list = Low(word)
	*n--
	if held && s.space.Park(i) {
		return nil
	}
	if Generation(word) != Spent {
		r.add(slot, i, word)
		return slot
	}
	slot.Word.Store(Pack(Spent, None))
	s.space.Exhausted.Add(1)
	if s.fifo && s.space.wear() {
		s.GiveCredit(1)
	}
	if s.space.Reset == nil {
		clear1(&slot.Value)
		return nil
	}
	return slot
}
