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

// effort is how far reclaim goes.
type effort uint8

const (
	effortKnown effort = iota // goes by the frontier as known
	effortScan                // finds out which guards are pinned
	effortAll                 // and moves also what nobody needs yet
	effortWait                // and waits for the lock, and seals however few wait
)

// reclaim moves slots from limbo to the freelist of to (under FIFO, its own): it
// seals what has gathered, and moves the batches whose grace period is over. It
// returns how many slots it freed, and whether another call would do more at once.
func (s *shard[T]) reclaim(to *shard[T], e effort) (freed int, more bool) {
	runs := 1
	if s.arena.Reset != nil {
		runs = reclaimMost / resetRun
	}
	for round := range runs {
		if e == effortWait {
			s.mu.Lock()
		} else if !s.mu.TryLock() {
			return freed, false
		}
		var n int
		n, more = s.reclaimLocked(to, e, round == 0)
		if freed += n; !more {
			break
		}
	}
	return freed, more
}

// reclaimLocked is reclaim under mu, which it unlocks. With a Reset it moves a few slots,
// and another call then finds out whether they were the last.
func (s *shard[T]) reclaimLocked(to *shard[T], e effort, first bool) (freed int, more bool) {
	s.settle()
	if q := &s.sealed; first && !q.full() && (q.n == 0 || e == effortWait || Generation(s.limbo.Load()) >= s.enough()) {
		s.seal(e)
	}
	var mine toReset[T]
	freed = s.drain(to, e, &mine)
	if e >= effortAll && s.fifo {
		s.keepLess()
	}
	s.settle()
	more = !s.ahead && !s.resetting() && (s.passed(false) != nil || freed > 0 && Low(s.limbo.Load()) != None) ||
		e >= effortAll && s.keepsTooMuch()
	s.mu.Unlock()
	if mine.slots.n > 0 {
		return s.resetAll(&mine, to), true
	}
	return freed, more
}

// enough returns how many slots must wait for a seal. While batches that have passed
// wait for an empty stack, the next one may be larger for each of them: bursts then are
// handed over in few large batches.
func (s *shard[T]) enough() uint32 {
	if s.ahead && !s.arena.exact {
		return Batch * (s.sealed.n + 1)
	}
	return Batch
}

// drain moves the slots of batches that have passed, up to reclaimMost, and returns
// how many came free. With a Reset it takes a run of them instead. The caller holds
// mu.
//
// A batch whose slots need not be visited stays where it is while the stack has slots,
// and is handed over whole when it has none (splice). AutoTrim wants them all on the
// stack, where it finds them.
func (s *shard[T]) drain(to *shard[T], e effort, mine *toReset[T]) (freed int) {
	s.ahead = false
	steps := uint32(reclaimMost)
	scan := e != effortKnown
	for b := s.passed(scan); b != nil && steps > 0; b = s.passed(scan) {
		if s.arena.Reset != nil {
			if !s.resetting() && s.turnAll(b, &steps) {
				*mine = s.takeForReset(b)
			}
			break
		}
		n := b.n
		switch visit := s.mustVisit(); {
		case !visit && s.splice(b, to):
			b.n = 0
			freed += int(n)
		case !visit && e < effortAll && !s.arena.AutoTrim && !s.sealed.full():
			s.ahead = true
			return freed
		default:
			freed += s.move(b, to, &steps)
		}
		s.left.Add(b.n - n)
	}
	return freed
}

// batch is a part of limbo that was sealed. Its slots wait for one grace period.
type batch[T any] struct {
	top    uint32   // the slot removed last
	turned chain[T] // FIFO: what was turned round so far, the oldest first
	n      uint32   // slots in these lists
	over   bool     // the grace period is known to be over
	tag    uint64
	number uint64 // shard.seals when it was sealed
}

// batches is a queue of sealed batches; tags and numbers grow towards its end.
type batches[T any] struct {
	ring     [sealedMost]batch[T]
	first, n uint32
}

func (q *batches[T]) at(k uint32) *batch[T] { return &q.ring[(q.first+k)%sealedMost] }
func (q *batches[T]) full() bool            { return q.n == sealedMost }

// settle removes the batches at the front of which nothing is left, and counts
// them as done. The caller holds mu.
func (s *shard[T]) settle() {
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
func (s *shard[T]) passed(scan bool) *batch[T] {
	q, d := &s.sealed, s.arena.Domain
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
// if this one takes all there is (see goal).
func (s *shard[T]) seal(e effort) {
	number := s.seals.Add(1)
	if Low(s.limbo.Load()) == None {
		s.settle()
		return
	}
	s.left.Add(1)                   // for an insertion that looks now: it must see that something waits
	head := s.limbo.Swap(emptyList) // observes (P7)
	b := s.sealed.at(s.sealed.n)
	b.top, b.turned, b.n, b.over = Low(head), chain[T]{}, Generation(head), false
	b.number = number
	switch {
	case s.arena.exact:
		b.tag = s.latest.Load()
	case e == effortKnown || s.sealed.n > 0 && !s.ahead:
		b.tag = s.arena.Domain.Retire()
	default:
		// No batch waits for a guard, and the scan that follows advances the epoch if one
		// is in the way of this. If none is, the word that all pins read stays as it is.
		b.tag = s.arena.Domain.Epoch()
	}
	if b.n > 1 {
		s.left.Add(b.n - 1)
	}
	s.sealed.n++
}

// part seals what waits, if there is room for a batch, or comes to be: its slots
// were unlinked before a guard was pinned that the next one must wait for.
func (s *shard[T]) part() {
	if !s.mu.TryLock() {
		return
	}
	s.settle()
	if s.sealed.full() && s.arena.Reset == nil {
		s.drain(s, effortAll, nil)
		s.settle()
	}
	if !s.sealed.full() {
		s.seal(effortKnown)
	}
	s.mu.Unlock()
}

// move visits up to *steps slots of b, and takes from them what it visits. What can be used
// again goes onto the stack of to, the one removed last on top, or to the end of the
// queue, once all are turned round. It returns how many came free.
func (s *shard[T]) move(b *batch[T], to *shard[T], steps *uint32) int {
	a := s.arena
	held := a.held()
	var c chain[T]
	for ; *steps > 0 && b.top != None; *steps-- {
		i := b.top
		slot := a.slot(i)
		word := slot.Word.Load()
		b.top = Low(word)
		b.n-- // a slot that is parked is out of the batch at once
		switch {
		case held && a.park(i) || !s.reusable(slot, word):
			continue
		case a.Pointers:
			clear1(&slot.Value)
		}
		if s.fifo {
			b.turn(slot, i, word)
			b.n++
		} else {
			c.append(slot, i, word)
		}
	}
	if s.fifo {
		if b.top != None {
			return 0
		}
		c, b.turned, b.n = b.turned, chain[T]{}, 0
	}
	return s.release(&c, to)
}

// turn puts slot i before what was turned round: limbo has what was removed last on top,
// and a queue wants it last.
func (b *batch[T]) turn(slot *Slot[T], i uint32, word uint64) {
	word = Pack(Generation(word), b.turned.top())
	slot.set(word)
	b.turned.prepend(slot, i, word)
}

// turnAll turns a queue's batch round for Reset, which visits the slots. It reports whether
// that took no more than *steps.
func (s *shard[T]) turnAll(b *batch[T], steps *uint32) bool {
	for ; s.fifo && *steps > 0 && b.top != None; *steps-- {
		i := b.top
		slot := s.arena.slot(i)
		word := slot.Word.Load()
		b.turn(slot, i, word)
		b.top = Low(word)
	}
	return !s.fifo || b.top == None
}

// release sends c to the stack of to, or to the queue, and returns how many slots came
// free. For a queue the caller holds mu.
func (s *shard[T]) release(c *chain[T], to *shard[T]) int {
	n := int(c.n)
	if s.fifo {
		s.enqueue(c)
	} else {
		to.push(c)
	}
	return n
}

// mustVisit reports whether each slot of a batch must be visited: to be cleaned, because it
// may be held or have used up its generations, or to be turned round. Visiting costs some
// 5 ns a slot, since each is found only through the one before.
func (s *shard[T]) mustVisit() bool {
	a := s.arena
	return s.fifo || !a.plain() || a.worn() > 0 || a.held()
}

// splice makes the whole batch the stack of to if that is empty. The batch ends with None
// already, because it began as limbo's.
func (s *shard[T]) splice(b *batch[T], to *shard[T]) bool {
	if to.free.Load() != emptyList {
		return false
	}
	word := s.arena.slot(b.top).Word.Load()
	return to.free.CompareAndSwap(emptyList, Pack(Generation(word), b.top)) // publishes (P3)
}

// reusable reports whether a slot whose grace period is over has a generation left. It
// takes one that has none out of use; where there is a Reset, that is yet to be called.
func (s *shard[T]) reusable(slot *Slot[T], word uint64) bool {
	if Generation(word) != Spent {
		return true
	}
	a := s.arena
	slot.set(Pack(Spent, None))
	if s.fifo {
		a.wear() // first: an insertion that sees it exhausted must see that the reserve stands in for it
	}
	a.exhausted.Add(1)
	if a.Reset == nil {
		clear1(&slot.Value)
	}
	return false
}
