package shard

// Reclaiming is the way from limbo back to the freelist:
//
//	limbo ──seal──▶ sealed batch, tag r ──r < S──▶ clean ──▶ freelist
//
// A shard seals one batch at a time, whatever limbo holds by then, so that the
// batch grows by itself when grace periods take longer. Whoever needs slots or
// has removed enough of them tries for the shard's token; if it is taken,
// somebody is reclaiming already and the loser goes on without. So no operation
// waits, but a token holder that is descheduled delays its shard.
//
// One call moves a bounded number of slots: after a long stall the arrears are
// worked off by many calls, not by one that was unlucky.

// reclaimMost is how many slots one call moves. More would make the longest
// Remove longer; it must be above Batch for arrears to shrink at all.
const reclaimMost = 4 * Batch

// sealed is the batch that waits for its grace period, or is being moved. Only
// the holder of the token touches it, so its fields are plain.
type sealed struct {
	top    uint32 // the slot removed last
	turned uint32 // FIFO: the part turned round so far, its oldest on top
	n      uint32 // slots not reclaimed yet
	tag    uint64
}

// Reclaim tries to move slots from limbo to the freelist of to (under FIFO, its
// own): it seals if nothing is sealed, and moves what is sealed if its grace
// period is over. With scan it finds out for itself, otherwise it goes by the
// frontier as known. It returns how many slots it freed, and whether another
// call would do more at once.
func (s *Shard[T]) Reclaim(to *Shard[T], scan bool) (freed int, more bool) {
	if !s.token.CompareAndSwap(0, 1) {
		return 0, false
	}
	defer s.giveBackToken() // also when Reset panics or exits
	if s.sealed.n == 0 && !s.seal() {
		return 0, false
	}
	if s.sealed.tag >= s.space.Domain.Safe() && (!scan || !s.space.Domain.Passed(s.sealed.tag)) {
		return 0, false
	}
	if s.fifo {
		freed = s.drainToQueue()
	} else {
		freed = s.drainToStack(to)
	}
	return freed, s.sealed.n > 0 || Low(s.limbo.Load()) != None
}

// giveBackToken publishes how far the batch has come, and lets others try.
func (s *Shard[T]) giveBackToken() {
	if s.left.Load() != s.sealed.n {
		s.left.Store(s.sealed.n)
	}
	if s.sealed.n == 0 {
		s.done.Store(s.seals.Load())
	}
	s.token.Store(0)
}

// seal takes all of limbo and gives it a tag. The chain comes first: a tag that
// was loaded before could be older than the unlinking of what came into limbo
// meanwhile, and end that slot's grace period under a guard that saw it.
//
// A seal counts before it looks, also when it then finds nothing: who sees limbo
// filled after the count may wait for the next seal, and must not wait for ever
// if this one takes all there is (see Goal).
func (s *Shard[T]) seal() bool {
	s.seals.Add(1)
	if Low(s.limbo.Load()) == None {
		return false
	}
	head := s.limbo.Swap(emptyList) // observes (P7)
	s.sealed = sealed{top: Low(head), turned: None, n: Generation(head), tag: s.space.Domain.Retire()}
	return true
}

// drainToStack moves up to reclaimMost slots onto the stack of to, the one
// removed last on top, or all of them at once if nothing is to be done to them.
func (s *Shard[T]) drainToStack(to *Shard[T]) int {
	if s.splice(to) {
		n := int(s.sealed.n)
		s.sealed = sealed{}
		return n
	}
	var r run[T]
	defer func() {
		if r.n > 0 {
			to.pushRun(&r)
		}
	}()
	held := s.space.held()
	for range min(s.sealed.n, reclaimMost) {
		s.reclaimOne(&s.sealed.top, &r, held)
	}
	return r.n
}

// splice makes the whole batch the stack of to, if that is empty, as it mostly is
// when a batch has gathered, and if no slot needs to be visited: T is plain, none
// has used up its generations, and none is held. The batch ends with None already, because it
// began as limbo's. Visiting would cost some 5 ns a slot, since each is found
// only through the one before.
func (s *Shard[T]) splice(to *Shard[T]) bool {
	if !s.space.plain() || to.free.Load() != emptyList || s.space.wornSlots() || s.space.held() {
		return false
	}
	word := s.space.Slot(s.sealed.top).Word.Load()
	return to.free.CompareAndSwap(emptyList, Pack(Generation(word), s.sealed.top)) // publishes (P3)
}

// drainToQueue first turns the batch round, since limbo has what was removed
// last on top, and then appends it, reclaimMost steps of either in a call.
func (s *Shard[T]) drainToQueue() int {
	steps := uint32(reclaimMost)
	for ; steps > 0 && s.sealed.top != None; steps-- {
		i := s.sealed.top
		slot := s.space.Slot(i)
		word := slot.Word.Load()
		slot.Word.Store(Pack(Generation(word), s.sealed.turned))
		s.sealed.top, s.sealed.turned = Low(word), i
	}
	if s.sealed.top != None {
		return 0
	}
	var r run[T]
	defer func() {
		if r.n > 0 {
			s.GiveCredit(int64(s.appendRun(&r)))
		}
	}()
	held := s.space.held()
	for range min(s.sealed.n, steps) {
		s.reclaimOne(&s.sealed.turned, &r, held)
	}
	return r.n
}

// reclaimOne takes the top slot of list, which is part of the sealed batch, and
// adds it to r, cleaned; one that is held is parked, and one that has used up its
// generations is retired.
//
// Everything is in its place before clean runs, since that may call a Reset that
// panics: the batch has one slot less, and r has it.
func (s *Shard[T]) reclaimOne(list *uint32, r *run[T], held bool) {
	i := *list
	slot := s.space.Slot(i)
	word := slot.Word.Load()
	*list = Low(word)
	s.sealed.n--
	if held && s.space.Park(i) {
		return
	}
	if Generation(word) != Spent {
		r.add(slot, i, word)
		s.space.clean(slot, i)
		return
	}
	slot.Word.Store(Pack(Spent, None))
	s.space.Exhausted.Add(1)
	if s.fifo && s.space.wear() {
		s.GiveCredit(1)
	}
	s.space.clean(slot, i)
	clear1(&slot.Value) // what Reset keeps for a next life is of no use now
}
