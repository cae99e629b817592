package shard

// Reclaiming is the way from limbo back to the freelist:
//
//	limbo ──seal──▶ batch, tag r ──grace period──▶ clean ──▶ freelist
//
// A shard has up to sealedMost batches. A goroutine that has removed enough slots, or
// needs some, seals what waits and claims the oldest batch whose grace period is over
// (batch.go). What another has claimed it leaves alone, and under FIFO the whole shard
// while another reclaims there (queue.go). So hardly an operation waits but an insertion
// that would be refused otherwise: a goroutine that is preempted with a batch must not make
// the pool full. Under FIFO a removal waits that has called Resets, to deliver their slots,
// or that a guard separates from the one before, to seal (part).
//
// That insertion may itself run in a Reset. So no user code runs under a claim:
// the slots that a Reset is called for are taken out of the batch a few at a time,
// and count as the caller's meanwhile.
//
// One call moves a bounded number of slots: after a long stall the arrears are
// worked off by many calls, not by one that was unlucky.

// reclaimMost is how many slots one call visits. More would make the longest
// Remove longer; it must be above Batch for arrears to shrink at all.
const reclaimMost = 4 * Batch

// effort is how far reclaim goes.
type effort uint8

const (
	effortKnown effort = iota // goes by the frontier as known
	effortScan                // finds out which guards are pinned
	effortAll                 // and moves also what nobody needs yet
	effortWait                // and waits for other reclaimers, and seals however few wait
)

// reclaim moves slots from limbo to the freelist of to, or of their home if to is nil
// (under FIFO, to the shard's own): it seals what has gathered, and moves the batches whose
// grace period is over. It returns how many slots it freed, and whether another call would
// do more at once.
func (s *shard[T]) reclaim(to *shard[T], e effort) (freed int, more bool) {
	if !s.list.hold(e == effortWait) {
		return 0, false
	}
	if s.due(e) {
		s.seal(e)
	}
	r := run[T]{from: s, effort: e, steps: reclaimMost}
	for r.steps > 0 {
		b := s.passed(e)
		if b == nil || !r.move(b, to) {
			break
		}
	}
	if s.arena.Reset != nil {
		s.resets.flip()
	}
	more = e >= effortAll && s.list.keepLess()
	s.list.release()
	return r.freed, more || r.steps == 0 || r.freed > 0 && Low(s.limbo.Load()) != None
}

// due reports whether as many slots wait as are worth a seal.
func (s *shard[T]) due(e effort) bool {
	n := Generation(s.limbo.Load())
	return n >= Batch && n >= s.enough() || n > 0 && (e == effortWait || s.left.Load() == 0)
}

// enough returns how many slots must wait for a seal. While batches that have passed
// wait for an empty stack, the next one may be larger for each of them: bursts then are
// handed over in few large batches.
func (s *shard[T]) enough() uint32 {
	if all, over := s.batches(); over > 0 && !s.arena.exact {
		return Batch * (all + 1)
	}
	return Batch
}

// part seals what waits, if there is a batch for it, or comes to be: its slots
// were unlinked before a guard was pinned that the next one must wait for.
func (s *shard[T]) part() {
	if !s.sealNow() && s.arena.Reset == nil {
		s.reclaim(s, effortAll)
		s.sealNow()
	}
}

// run is what one reclaimer has in its hands: slots whose grace period is over.
type run[T any] struct {
	from, to *shard[T] // whose limbo they were in, and whose list they go to
	effort   effort
	steps    uint32 // how many more slots may be visited
	freed    int    // how many came free

	top, n uint32   // the slots to be visited: the first, and how many
	clean  chain[T] // what was visited
	sorts  bool     // what is not at home in to stays in from
	stays  chain[T] // that part of what was visited
}

// move visits slots of b, which the caller has claimed, for to or their home, and ends the
// claim. It reports whether it moved any.
//
// A batch whose slots need not be visited stays where it is while the stack has slots,
// and is handed over whole when it has none. That is for a shard's own: who inserts
// elsewhere would have to search for it. AutoTrim wants them all on the stack, where it
// finds them.
//
// A batch goes by the home of its first slot. If that is here, so may all be. If it is
// elsewhere, each slot is looked at, and only those go that are at home there: a goroutine
// that has moved removes what is at home in two shards, and to send all of it to one of
// them, or all to the other, would mix their lines for as long as values live.
func (r *run[T]) move(b *batch[T], to *shard[T]) bool {
	s, a := r.from, r.from.arena
	visited, turned := s.list.turn(b, r.steps)
	if r.steps -= visited; !turned || s.resetting() {
		b.leave()
		return false
	}
	home := to
	if to == nil {
		home = s.home(b.top)
	}
	r.to = s.list.recipient(home)
	r.sorts = to == nil && r.to != s
	if !s.mustVisit() && !r.sorts {
		if r.to.list.splice(b) {
			r.freed += int(b.n)
			s.left.Add(-b.n)
			b.n = 0
			b.leave()
			return true
		}
		if r.to == s && r.effort < effortAll && !a.AutoTrim && s.emptyBatches() {
			b.leave()
			return false
		}
	}
	r.top, r.n = b.top, min(b.n, r.steps)
	if a.Reset != nil {
		r.resetSome(b)
		return true
	}
	n := r.n
	r.visit()
	b.top, b.n = r.top, b.n-n
	r.deliver()
	s.left.Add(-n) // last: what waits has a place where an insertion looks
	b.leave()
	return true
}

// visit makes the slots of r ready for their next life. Everything is in its place before
// a Reset runs, which may not return: clean has the slot, and r the rest.
func (r *run[T]) visit() {
	a := r.from.arena
	r.steps -= r.n
	held, zero := a.held(), a.Pointers && a.Reset == nil
	for r.n > 0 {
		i := r.top
		slot := a.slot(i)
		word := slot.Word.Load()
		r.top, r.n = Low(word), r.n-1
		if held && a.park(i) {
			continue
		}
		fit := a.reusable(slot, word)
		if fit && r.sorts && r.from.home(i) != r.to {
			r.stays.append(slot, i, word)
		} else if fit {
			r.clean.append(slot, i, word)
		}
		if a.Reset != nil {
			a.clean(slot, i)
		}
		if zero || !fit {
			clear1(&slot.Value)
		}
	}
}

// deliver makes vacant for all what was visited.
func (r *run[T]) deliver() {
	r.freed += int(r.clean.n + r.stays.n)
	r.to.list.put(r.clean)
	r.from.list.put(r.stays)
	r.clean, r.stays = chain[T]{}, chain[T]{}
}

// mustVisit reports whether each slot of a batch must be visited: to be cleaned, or because
// it may be held or have used up its generations. Visiting costs some 5 ns a slot, since
// each is found only through the one before.
func (s *shard[T]) mustVisit() bool {
	a := s.arena
	return !a.plain() || a.worn() > 0 || a.held()
}

// reusable reports whether a slot whose grace period is over has a generation left. It
// takes one that has none out of use.
func (a *Arena[T]) reusable(slot *Slot[T], word uint64) bool {
	if Generation(word) != Spent {
		return true
	}
	slot.set(Pack(Spent, None))
	a.wear() // first: an insertion that sees it exhausted must see that the reserve stands in for it
	a.exhausted.Add(1)
	return false
}
