package shard

import (
	"slices"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// A removed slot waits in the backlog of its shard until its grace period is over:
//
//	limbo, late ──seal──▶ waiting: 7 │ 9 │ 12 ──step──▶ recycled ──▶ ready, freelist
//
// waiting is ordered by stamp, and a seal makes a batch of all that it takes, without a visit of any slot.
// So the first one tells whether any has passed. Mostly they pass in order; for a stack's insertion, the youngest that
// may does (batches.next).
//
// Where a removal takes a stamp of its own (Arena.stampPerSlot), a batch may have slots of several. It passes
// when the latest has, and mostly that is soon. Before an insertion is refused, and where Synchronize, Trim or the
// collector's cycle reclaims, each batch is cut in two in which some slots have passed. A batch's least stamp tells
// whether it may be one. The naive list keeps the greatest stamp alone. Then each refusal visits all that waits.

// backlog has the slots of a shard that wait for their grace period. The holder of the shard's lock owns
// it. Only its methods use its fields: here and in synchronize.go.
type backlog struct {
	arena *Arena

	waiting batches
	waits   uint32 // slots in waiting

	seals uint64 // how many there were
	floor uint64 // what comes into limbo from now on has at least that stamp

	epoch.Frontier // which stamps have passed

	inResets uint32   // slots in Resets
	runs     []uint64 // for each run of Resets that is under way, its batch's number
}

// init makes a zero backlog ready.
func (b *backlog) init(a *Arena) {
	b.arena = a
	b.waiting.init(a)
	b.Frontier.Init(a.Domain, a.Replays)
	b.runs = make([]uint64, 0, a.room().runs)
}

// seal makes batches of what was removed to s, the backlog's shard. It reports whether there was any.
func (b *backlog) seal(s *shard) (sealed bool) {
	if late := b.takeAll(&s.late, 0); late.Body.N > 0 { // their stamps may be of any age
		b.add(late.Stamp, &late.Body)
		sealed = true
	}
	if taken := b.take(s); taken.Body.N > 0 {
		b.add(taken.Stamp, &taken.Body)
		sealed = true
	}
	return sealed
}

// sealLimbo is seal of limbo alone, for a removal. It scans nothing, and visits no slot and no other batch.
func (b *backlog) sealLimbo(s *shard) {
	if b.waiting.full() {
		return
	}
	if w := b.take(s); w.Body.N > 0 {
		b.Mix()
		b.waits += w.Body.N
		b.waiting.put(w.Stamp, &w.Body)
	}
}

// take takes all of limbo. What it returns waits as soon as add is called, and has no slots if there were none.
//
// Whoever pushes after limbo was taken has found it as it was left, and takes a stamp after that. The wrong version
// raises the floor where limbo was empty, too. That leaves the head as it was, to which a remover pushes that has
// loaded it long before.
func (b *backlog) take(s *shard) slots.Stamped[batch] {
	now := b.arena.Domain.Epoch() // before it is taken
	w := b.takeAll(&s.limbo, b.floor)
	if w.Body.N > 0 {
		b.floor = now
	}
	return w
}

// takeAll takes all that a list has. No slot's stamp is below floor.
//
// The chain is taken before the stamp. A stamp from before could be older than the unlinking
// of slots that came meanwhile, and end their grace period under a guard.
func (b *backlog) takeAll(list *slots.Limbo, floor uint64) (w slots.Stamped[batch]) {
	first, n := list.TakeAll()
	if n == 0 {
		return w
	}
	if b.arena.stampPerSlot {
		w.Stamp = b.arena.Domain.Latest()
	} else {
		w.Stamp = b.arena.Domain.Stamp()
		floor = w.Stamp
	}
	b.seals++
	b.Pay(int(n) * 2 * cellsPaid) // removals pay for scans
	w.Body.First, w.Body.N = uint64(first), n
	w.Body.leastStamp, w.Body.number = floor, b.seals
	return w
}

// add makes a batch wait, of which the last scan may not speak.
func (b *backlog) add(stamp uint64, c *batch) {
	b.Mix()
	b.waits += c.N
	b.waiting.append(stamp, c)
}

const (
	freeCells  = 4 * slots.Batch // a round for an insertion may visit so many pin cells for nothing
	cellsASlot = 64              // beside more, it pays for so many: some 50 ns
)

// pay has a round of s pay for scans: two, if target is nil or they cost little. Beside thousands of guards an
// insertion pays for a part of one, to its own shard, so that one scan serves many insertions; a scan in each would
// take a hundred times as long as the insertion does. It returns what a scan costs, or 0 if none is paid for
// until now. An insertion that would be refused scans whatever it costs.
func (b *backlog) pay(s, target *shard) (price int) {
	price = max(b.Price(), 1)
	if target == nil || price <= freeCells {
		b.PayUpTo(2 * price)
		return price
	}
	if target == s {
		b.Pay(cellsASlot)
	}
	if b.Affords(int(s.removed()) * 2 * cellsPaid) {
		return price
	}
	return 0
}

// oldest returns an epoch: what waits has passed if its stamp is below that. It scans if the scan was paid for and may
// tell more, perhaps of the youngest batch alone, and reports whether it did. Something must wait.
func (b *backlog) oldest(ofYoungest bool) (oldest uint64, scanned bool) {
	asked := b.waiting.Oldest()
	if ofYoungest {
		asked = b.waiting.Youngest()
	}
	return b.Oldest(asked.Stamp)
}

// divide makes batches of what has passed, if the oldest guard has that epoch, although its batch has not.
func (b *backlog) divide(oldest uint64) {
	if b.arena.stampPerSlot {
		b.waiting.divide(oldest)
	}
}

// step returns the batch that passes next, if the oldest guard has that epoch, and its number among those that wait,
// or nil. The caller takes slots out, as many as it likes, and then calls stepped.
func (b *backlog) step(oldest uint64, youngest bool) (k int, passing *batch) {
	if k = b.waiting.next(oldest, youngest); k < 0 {
		return k, nil
	}
	cost.Batches(1)
	passing = &b.waiting.Entry(k).Body
	b.waiting.turn(passing)
	return k, passing
}

// stepped notes that n slots were taken out of batch k, which step returned.
func (b *backlog) stepped(k int, n uint32) {
	b.waits -= n
	if b.waiting.Entry(k).Body.N == 0 {
		b.waiting.Remove(k)
	}
}

// stepRun takes a run of up to most slots, for Resets, out of what step returned. A shard has a bounded
// number of runs: a Reset that inserts may reclaim, and would otherwise call itself for as many slots as
// wait. If there are as many, stepRun takes nothing. endRun ends the run.
func (b *backlog) stepRun(most uint32) (run slots.Stamped[batch]) {
	if len(b.runs) >= runsMost {
		return run
	}
	first := b.waiting.Oldest()
	run = *first
	run.Body.Chain = slots.Chain{}
	for run.Body.N < most && first.Body.N > 0 {
		run.Body.Append(first.Body.TakeFirst(&b.arena.Table))
	}
	b.runs = append(b.runs, run.Body.number)
	b.inResets += run.Body.N
	b.stepped(0, run.Body.N)
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

// size returns how many slots wait, but for those in Resets.
func (b *backlog) size() uint32 { return b.waits }

// resetting returns how many slots are in Resets.
func (b *backlog) resetting() uint32 { return b.inResets }

// bytes returns the memory of the lists.
func (b *backlog) bytes() int64 { return b.waiting.bytes() + 8*int64(cap(b.runs)) }

// delayed returns how many slots wait for a guard, if a scan has found these, and not for a Reset alone; and
// a stamp that is at most that of each, or epoch.NoPin.
func (b *backlog) delayed(pins epoch.Pins) (n uint32, least uint64) {
	passed, least := b.waiting.passed(pins)
	return b.waits - passed, least
}

// record notes in o what an order has of the backlog, and restore puts it back, in a new arena.
func (b *backlog) record(r *recorder, o *order) {
	o.seals, o.floorAge = b.seals, r.now-b.floor
	o.account.record(r, b.Findings())
	b.waiting.record(r, o)
}

func (b *backlog) restore(l *lister, o *order) {
	b.seals, b.floor = o.seals, l.stamp[o.floorAge]
	b.Frontier.Restore(o.account.findings(l))
	b.waits = b.waiting.restore(l, o)
}
