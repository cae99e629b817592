package shard

import (
	"context"

	"coatcheck/epoch"
)

// Reclaiming is the way from limbo back to the freelist:
//
//	limbo ──seal──▶ batch, epoch stamp r ──grace period──▶ clean ──▶ freelist
//
// A shard has up to sealedMost batches. A goroutine that has removed enough slots, or needs
// some, seals what waits and claims the oldest batch whose grace period is over (batch.go). It
// leaves batches that another has claimed alone. Under FIFO one goroutine at a time reclaims
// in a shard (queue.go).
//
// A goroutine that is preempted with a batch must not make the pool full. So an insertion
// waits for reclaimers before it is refused. Hardly any other operation waits. Under FIFO a
// removal waits to deliver slots after their Resets, or to seal because a guard separates it
// from earlier ones (part).
//
// That insertion may itself run in a Reset. So no user code runs under a claim: resetSome
// takes a few slots out of the batch, and they count as the caller's.
//
// One call moves a bounded number of slots, so that a backlog is spread over many calls.

// reclaimMost is how many slots one call visits. A greater one would make the longest Remove
// longer. It must be above Batch, or a backlog would not shrink.
const reclaimMost = 4 * Batch

// effort is how much reclaim does.
type effort uint8

const (
	effortKnown effort = iota // goes by the frontier as known
	effortScan                // scans the pin cells
	effortAll                 // and moves also what no insertion needs yet
	effortWait                // and waits for other reclaimers, and seals however few slots wait
)

// reclaim moves slots from limbo to the freelist of to, or of their home if to is nil; under
// FIFO, to the shard's own. It seals what has gathered, and moves the batches whose grace
// period is over. It returns how many slots it freed, and whether another call would free more
// at once.
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

// due reports whether enough slots wait for a seal.
func (s *shard[T]) due(e effort) bool {
	n := Generation(s.limbo.Load())
	return n >= Batch && n >= s.enough() || n > 0 && (e == effortWait || s.left.Load() == 0)
}

// enough returns how many slots must wait for a seal. While batches that have passed wait for
// an empty stack, the next one may be larger for each of them. So a burst is handed over in
// few large batches.
func (s *shard[T]) enough() uint32 {
	if all, over := s.batches(); over > 0 && !s.arena.exact {
		return Batch * (all + 1)
	}
	return Batch
}

// part seals what waits, if a batch is empty or becomes so. The slots that wait were unlinked
// before a guard was pinned that the next slot must wait for.
func (s *shard[T]) part() {
	if !s.sealNow() && s.arena.Reset == nil {
		s.reclaim(s, effortAll)
		s.sealNow()
	}
}

// run is what one reclaimer owns: slots whose grace period is over.
type run[T any] struct {
	from, to *shard[T] // the shard whose limbo they were in, and the shard that gets them
	effort   effort
	steps    uint32 // how many more slots may be visited
	freed    int    // how many came free

	top, n uint32   // the slots to be visited: the first, and how many
	clean  chain[T] // the slots that were visited
	sorts  bool     // slots with another home than to stay in from
	stays  chain[T] // those of the visited slots
}

// move visits slots of b, which the caller has claimed, for to or their home, and ends the
// claim. It reports whether it moved any.
//
// A batch whose slots need no visit waits while its stack has slots, and is then spliced
// whole. That holds for the shard's own slots alone: insertions elsewhere would have to search
// for the batch. AutoTrim wants all slots on the stack, where Trim finds them.
//
// The home of a batch's first slot decides. If that is this shard, all slots stay. If not,
// each slot is visited, and only those with that home go there. A goroutine that has moved
// removes slots of two homes. To send all to one would mix slots of different cache lines for
// as long as values live.
func (r *run[T]) move(b *batch[T], to *shard[T]) bool {
	s, a := r.from, r.from.arena
	visited, reversed := s.list.reverse(b, r.steps)
	if r.steps -= visited; !reversed || s.resetting() {
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
	s.left.Add(-n) // last: the slots that wait are where an insertion looks
	b.leave()
	return true
}

// visit makes the slots of r ready for their next life. Before a Reset runs, which may not
// return, the slot is in clean or exhausted, and r has the rest.
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

// mustVisit reports whether each slot of a batch must be visited: to be cleaned, or because it
// may be held or exhausted. A visit costs some 5 ns a slot, since each is found only through
// the one before.
func (s *shard[T]) mustVisit() bool {
	a := s.arena
	return !a.plain() || a.worn() > 0 || a.held()
}

// reusable reports whether a slot whose grace period is over has a generation left. If not, it
// takes the slot out of use.
func (a *Arena[T]) reusable(slot *Slot[T], word uint64) bool {
	if Generation(word) != Spent {
		return true
	}
	slot.set(Pack(Spent, None))
	a.wear() // first: an insertion that sees it exhausted must see the reserve shrunk
	a.exhausted.Add(1)
	return false
}

// A shard is quiescent when everything is reclaimed that was removed before a given moment.

// goal seals what waits, and returns a batch number. When all batches up to it are finished,
// everything is reclaimed that was retired before the call. It is unknown while there is no
// batch for the seal. A seal gets its number before it takes limbo, so an empty limbo means
// that the number is counted.
func (s *shard[T]) goal() (number uint32, known bool) {
	known = s.sealNow()
	return s.seals.Load(), known
}

// reclaimedAll reclaims what it can, and reports whether all batches up to number are
// finished.
func (s *shard[T]) reclaimedAll(number uint32) bool {
	for more := true; more && !s.finished(number); {
		_, more = s.reclaim(s, effortWait)
	}
	return s.finished(number)
}

// Wait returns once everything that was removed before the call has been reclaimed, except
// what magazines and holds keep. If ctx is done before, it returns ctx's error.
func (a *Arena[T]) Wait(ctx context.Context) error {
	for i := range a.shards {
		s := &a.shards[i]
		s.sealNow() // so that all grace periods run at once
		s.reclaim(s, effortAll)
	}
	for i := range a.shards {
		if err := a.shards[i].wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wait is Wait for one shard. Slots that a failed Reset has sent back to limbo were removed
// before too, so it waits for them once more.
func (s *shard[T]) wait(ctx context.Context) error {
	for {
		failed := s.resets.failed.Load()
		number, known := s.goal()
		err := epoch.Wait(ctx, func() bool {
			if !known {
				s.reclaim(s, effortWait) // a batch may have become empty
				number, known = s.goal()
			}
			return known && s.reclaimedAll(number)
		})
		if err != nil || s.arena.Reset == nil {
			return err
		}
		// All these slots have been taken. Some may still be in Resets. The next flip may have
		// checked their counts already; the two after it check both.
		goal := s.resets.flips.Load() + 3
		err = epoch.Wait(ctx, func() bool {
			s.resets.flip()
			return s.resets.flips.Load() >= goal || s.underReset() == 0
		})
		if err != nil || s.resets.failed.Load() == failed {
			return err
		}
	}
}

// LetGo reclaims everything, unless a guard is pinned. A goroutine with a guard uses the
// arena, and will reclaim.
func (a *Arena[T]) LetGo() {
	if guards, _ := a.Domain.Pinned(); guards > 0 {
		return
	}
	for i := range a.shards {
		s := &a.shards[i]
		for more := s.waiting() > 0; more; {
			_, more = s.reclaim(s, effortWait)
		}
	}
}
