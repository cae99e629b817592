package shard

import (
	"slices"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// A removed slot waits in the backlog of its shard until its grace period is over:
//
//	limbo ──seal──▶ sealed ──enqueue──▶ waiting: 7 │ 9 │ 12 ──step──▶ recycled ──▶ ready, freelist
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

// backlog has the slots of a shard that wait for their grace period. The holder of the shard's lock owns
// it. Only its methods use its fields: here and in synchronize.go.
type backlog struct {
	arena *Arena

	sealed  slots.Stamped[batch] // what the last seal took, as far as it is not enqueued; the slot removed last comes first
	turned  slots.Chain          // the part of it that was reversed, and comes after the rest
	waiting batches
	waits   uint32 // slots in sealed, turned and waiting

	seals  uint64 // how many there were
	unpaid int64  // slots that were sealed, and for which no removal has paid a round; less those that have, and are in limbo

	frontier epoch.Frontier // which stamps have passed
	newer    bool           // what is sealed was sealed after the last scan

	inResets uint32   // slots in Resets
	runs     []uint64 // for each run of Resets that is under way, its batch's number
}

// init makes a zero backlog ready.
func (b *backlog) init(a *Arena) {
	b.arena = a
	b.waiting.init(a, &b.frontier)
	b.frontier.Init(a.Domain, a.Replays)
	if a.Fixed {
		b.runs = make([]uint64, 0, runsMost)
	}
}

// seal takes all of limbo, if it has slots and the last seal is fully enqueued. It reports whether it
// did. The stamp is at least that of each slot.
//
// The chain is taken before the stamp. A stamp from before could be older than the unlinking
// of slots that came meanwhile, and end their grace period under a guard.
func (b *backlog) seal(limbo *slots.Limbo) bool {
	if b.unsorted() > 0 {
		return false
	}
	head := limbo.TakeAll()
	if slots.Low(head) == slots.None {
		return false
	}
	b.seals++
	w := &b.sealed
	w.Body.Chain = slots.Chain{First: uint64(slots.Low(head)), N: slots.Generation(head)}
	w.Body.number = b.seals
	if b.arena.stampPerSlot {
		w.Stamp, w.Body.leastStamp = b.arena.Domain.Latest(), 0 // no slot's stamp is known yet
	} else {
		w.Stamp = b.arena.Domain.Stamp()
		w.Body.leastStamp = w.Stamp
	}
	b.waits += w.Body.N
	b.newer = true
	b.unpaid = max(0, b.unpaid+int64(w.Body.N))
	return true
}

// sealAll is seal that enqueues what the last seal took before. A scan follows it.
func (b *backlog) sealAll(limbo *slots.Limbo) {
	for b.unsorted() > 0 {
		b.enqueue(0, reclaimMost)
	}
	b.seal(limbo)
}

// pay returns how many slots pay for a round of a push of n, which has the lock: as many again may
// not have paid, because their pushes did not get it.
//
// In an arena that replays none have: a copy of it does not know.
func (b *backlog) pay(n uint32) uint32 {
	if b.arena.Replays {
		return n
	}
	n += uint32(min(max(b.unpaid, 0), int64(n)))
	b.unpaid -= int64(n)
	return n
}

// payScans pays for the scans of a round for which so many removals pay.
func (b *backlog) payScans(paid uint32) { b.frontier.Pay(int(paid) * 2 * cellsPaid) }

// oldest returns an epoch: what waits in the backlog with a stamp below it has passed. It scans for
// that if the scan was paid for, and may tell more.
func (b *backlog) oldest() (oldest uint64, fresh bool) {
	oldest, fresh = b.frontier.Oldest(b.leastWaiting())
	if fresh {
		b.newer = false
	} else if b.newer {
		b.mix()
		oldest = b.frontier.Known()
	}
	return oldest, fresh
}

// scanPrice returns about how many cells a scan visits; in an arena that replays, by how many guards the
// last one found: a copy of the arena has neither its cells nor, perhaps, as many processors. It needs no
// lock.
func (b *backlog) scanPrice() int { return b.frontier.Price() }

// known is oldest by the last scan.
func (b *backlog) known() uint64 { return b.frontier.Known() }

// blocked reports whether another scan would find that nothing has passed.
func (b *backlog) blocked() bool { return b.frontier.Blocked(b.leastWaiting()) }

// learn gives the backlog what a scan has found that was made after its last seal, and enqueues all.
func (b *backlog) learn(pins epoch.Pins) {
	b.frontier.Learn(pins)
	b.newer = false
	for b.unsorted() > 0 {
		b.enqueue(pins.Oldest, reclaimMost)
	}
}

// learnMixed gives the backlog what a scan has found that may not speak of all that waits. It returns an
// epoch: what waits with a stamp below it has passed.
func (b *backlog) learnMixed(pins epoch.Pins) (oldest uint64) {
	b.frontier.Learn(pins)
	b.mix()
	return b.known()
}

// mix notes that what is sealed is judged with the rest, although the last scan does not speak of it.
func (b *backlog) mix() {
	b.frontier.Mix()
	b.newer = false
}

// leastWaiting returns a stamp that is at most that of each slot of the backlog, but for some that
// came late.
func (b *backlog) leastWaiting() uint64 {
	switch first := b.waiting.Oldest(); {
	case first != nil:
		return first.Stamp
	case b.arena.stampPerSlot:
		return 0 // of what is sealed, only the greatest is known
	}
	return b.sealed.Stamp
}

// sortAll prepares what waits for step. It enqueues what was sealed, by at most that many visits, of
// which it returns how many there were. What waits with a stamp below oldest has passed.
func (b *backlog) sortAll(limit int) (oldest uint64, visits int) {
	oldest, fresh := b.oldest()
	visits = b.sort(oldest, limit)
	if !fresh && b.waiting.Len() > 0 {
		oldest, _ = b.oldest() // a slot that came late may have an older stamp than all that waited
	}
	return oldest, visits
}

// sort enqueues what was sealed, unless it passes as it is.
func (b *backlog) sort(oldest uint64, limit int) (visits int) {
	if b.passesAsIs(oldest) {
		return 0
	}
	return b.enqueue(oldest, limit)
}

// passesAsIs reports whether what was sealed has passed, and need be neither sorted nor put behind
// others: mostly no batch waits. oldest is the epoch of the oldest guard.
//
// Without this way a pair of Insert and Remove takes 4 more instructions, of some 170.
func (b *backlog) passesAsIs(oldest uint64) bool {
	w := &b.sealed
	return w.Stamp < oldest && !b.newer && w.Body.N > 0 && b.waiting.Len() == 0 && b.turned.N == 0 && !b.arena.FIFO && b.arena.Reset == nil
}

// sealedBelow reports whether what was sealed has passed, if the oldest guard has that epoch.
func (b *backlog) sealedBelow(oldest uint64) bool { return b.sealed.Stamp < oldest }

// enqueue puts what was sealed into the list. oldest is the epoch of the oldest guard. It visits
// at most that many slots, and returns how many it did; the rest stays sealed.
func (b *backlog) enqueue(oldest uint64, limit int) (visits int) {
	a, source := b.arena, &b.sealed.Body.Chain
	if b.newer {
		b.mix()
	}
	passed := b.sealed.Stamp < oldest
	if a.FIFO || b.turned.N > 0 || a.stampPerSlot && !passed {
		// Of a stack, so that batches are appended: each in front of the last would move it.
		if visits = source.Reverse(&b.turned, &a.Table, limit); source.N > 0 {
			return visits
		}
		source = &b.turned
	}
	if !a.stampPerSlot || passed {
		if source.N > 0 {
			b.sealed.Body.Chain = *source
			b.waiting.append(b.sealed.Stamp, &b.sealed.Body)
			b.sealed.Body.Chain, b.turned = slots.Chain{}, slots.Chain{}
		}
		return visits
	}
	for ; source.N > 0 && visits < limit; visits++ {
		slot, i, word := source.TakeFirst(&a.Table)
		b.waiting.file(slot, i, word, a.Table.StampOf(i, b.sealed.Stamp), b.sealed.Body.number)
	}
	return visits
}

// unsorted returns how many slots were sealed and are not enqueued.
func (b *backlog) unsorted() uint32 { return b.sealed.Body.N + b.turned.N }

// step returns what passes next, if the oldest guard has that epoch, or nil. If cuts is true, a batch
// counts of which a part may have passed. The caller takes slots out, as many as it likes, and then calls
// stepped.
func (b *backlog) step(oldest uint64, cuts bool) *slots.Chain {
	for b.waiting.Len() > 0 {
		cost.Batches(1)
		first := b.waiting.Entry(0)
		if cuts && b.arena.stampPerSlot && first.Body.leastStamp < oldest && oldest <= first.Stamp {
			b.waiting.cut(oldest)
			continue
		}
		if first.Stamp < oldest {
			return &first.Body.Chain
		}
		return nil
	}
	if b.passesAsIs(oldest) {
		return &b.sealed.Body.Chain
	}
	return nil
}

// stepped notes that n slots were taken out of what step returned.
func (b *backlog) stepped(n uint32) {
	b.waits -= n
	if b.waiting.Len() > 0 && b.waiting.Entry(0).Body.N == 0 {
		b.waiting.RemoveFirst()
	}
}

// stepRun takes a run of up to most slots, for Resets, out of what step returned. A shard has a bounded
// number of runs: a Reset that inserts may reclaim, and would otherwise call itself for as many slots as
// wait. If there are as many, stepRun takes nothing. endRun ends the run.
func (b *backlog) stepRun(most uint32) (run slots.Stamped[batch]) {
	if len(b.runs) >= runsMost {
		return run
	}
	first := b.waiting.Entry(0)
	run = slots.Stamped[batch]{Stamp: first.Stamp, Body: batch{leastStamp: first.Body.leastStamp, number: first.Body.number}}
	for run.Body.N < most && first.Body.N > 0 {
		run.Body.Append(first.Body.TakeFirst(&b.arena.Table))
	}
	b.runs = append(b.runs, run.Body.number)
	b.inResets += run.Body.N
	b.stepped(run.Body.N)
	return run
}

// endRun ends a run that had n slots, and puts back what is left of it.
func (b *backlog) endRun(n uint32, left slots.Stamped[batch]) {
	k := slices.Index(b.runs, left.Body.number)
	b.runs = slices.Delete(b.runs, k, k+1)
	b.inResets -= n
	if left.Body.N > 0 {
		b.waits += left.Body.N
		b.waiting.putBack(left)
	}
}

// retire makes c, whose slots a magazine has removed, wait behind all that does. It returns how many
// slots pay for a round.
//
// What is sealed was removed before, or may have been, so it comes before c.
func (b *backlog) retire(stamp, leastStamp uint64, c slots.Chain) (paid uint32) {
	if b.unsorted() > 0 {
		b.enqueue(0, reclaimMost) // as a whole: slots have no stamps of their own here
	}
	if last := b.waiting.Youngest(); last != nil {
		stamp = max(stamp, last.Stamp)
	}
	b.seals++ // c counts as one: a Synchronize that came before does not wait for it
	b.waiting.append(stamp, &batch{Chain: c, leastStamp: leastStamp, number: b.seals})
	b.waits += c.N
	b.mix() // c was removed after the last scan
	paid = b.pay(c.N)
	b.unpaid = max(0, b.unpaid+int64(c.N))
	return paid
}

// size returns how many slots wait, but for those in Resets.
func (b *backlog) size() uint32 { return b.waits }

// resetting returns how many slots are in Resets.
func (b *backlog) resetting() uint32 { return b.inResets }

// bytes returns the memory of the lists.
func (b *backlog) bytes() int64 { return b.waiting.bytes() + 8*int64(cap(b.runs)) }

// delayed returns how many slots wait for a guard, if the oldest one has that epoch, and not for a Reset
// alone; and the least stamp of one in a batch, or epoch.NoPin.
func (b *backlog) delayed(oldest uint64) (n uint32, least uint64) {
	passed, least := b.waiting.passed(oldest)
	return b.waits - passed, least
}

// record notes in o what an order has of the backlog, and restore puts it back, in a new arena.
func (b *backlog) record(r *recorder, o *order) {
	o.seals = b.seals
	o.account.record(r, b.frontier.Findings(), b.newer)
	o.sealed, o.turned = r.queued(&b.sealed), r.chain(&b.turned, &b.sealed.Stamp)
	b.waiting.record(r, o)
}

func (b *backlog) restore(l *lister, o *order) {
	b.seals = o.seals
	b.newer = o.account.flags&isNewer != 0
	b.frontier.Restore(o.account.findings(l))
	b.turned = l.chain(&o.turned)
	b.sealed = slots.Stamped[batch]{Stamp: l.stamp[o.sealed.age], Body: l.batch(&o.sealed)}
	b.waits = b.turned.N + b.sealed.Body.N + b.waiting.restore(l, o)
}
