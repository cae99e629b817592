package shard

import (
	"unsafe"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// What waits in a backlog waits in batches, in the order of their stamps. This file decides which slots are in one
// batch. backlog.go says how slots come into them, and reclaim.go how they leave.

// batch has slots that pass together. Its stamp is at least that of each slot.
type batch struct {
	slots.Chain
	leastStamp uint64 // no slot's stamp is below it
	number     uint64 // the least number of a seal that had one of its slots
	turned     bool   // of a queue: the slot that was removed first comes first
}

// batches are those of a backlog, in the order of their stamps: which slots are in one, and which of them
// are joined. Only its methods use its fields.
//
// A batch joins the one before it while both together have few slots. So there are few batches, however often
// something is sealed: about one for each half of Arena.mostOwned slots that wait, those that goals keep
// apart, and apartMost. In the naive way each seal has one. But a refusal, a Synchronize or the collector may seal
// a single slot, of 16 bytes perhaps, in a batch of 64.
type batches struct {
	slots.StampList[batch]
	arena   *Arena
	limit   int    // how many there may be
	goals   int    // how many are set and have not ended (synchronize.go)
	closed  uint64 // while there are any, the last seal of the last one: nothing later joins what it took (L13)
	divided uint64 // of a batch whose stamp is that or above, so is each slot's
}

// init makes an empty list.
func (l *batches) init(a *Arena) {
	r := a.room()
	l.arena, l.limit = a, r.batchLimit
	l.StampList = slots.StampList[batch]{List: make([]slots.Stamped[batch], 0, r.batches), Fixed: a.Fixed}
}

// append makes c the last batch, or a part of it.
func (l *batches) append(stamp uint64, c *batch) {
	if last := l.Youngest(); last != nil && l.mayJoin(last, stamp, c) && l.join(&last.Body, c) {
		last.Stamp = stamp
		l.came(stamp, &last.Body)
		return
	}
	if l.full() {
		l.joinNeighbours()
	}
	l.put(stamp, c)
}

// mayJoin reports whether c is worth being joined to the last batch: both have few slots, and what that has need not
// wait for later guards. It can be cut where slots have stamps. Where they have none, few batches stay apart, so
// only what waits behind many others is joined, mostly for one guard that delays all.
//
// The wrong version joins them also then. Beside guards of which each is pinned before the last one ends, a value
// waits until 64 have been removed, whatever reclaims.
func (l *batches) mayJoin(last *slots.Stamped[batch], stamp uint64, c *batch) bool {
	return last.Body.N+c.N <= l.arena.mostOwned && (last.Stamp == stamp || l.arena.stampPerSlot || l.Len() >= apartMost)
}

// put is append that visits no slot and no other batch. If full reports true, it allocates.
func (l *batches) put(stamp uint64, c *batch) {
	l.came(stamp, c)
	l.Add(stamp, *c)
}

// full reports whether there may be no other batch, as where memory is fixed. That does not depend on whether Resets
// have made the array longer, as they have not in a copy of the arena.
func (l *batches) full() bool { return l.Len() >= l.limit }

// came notes that slots have come that may not be divided.
func (l *batches) came(stamp uint64, c *batch) {
	if c.leastStamp < l.divided && l.divided <= stamp {
		l.divided = 0
	}
}

// join puts the slots of b behind those of a, in their order. It visits each slot of both that nobody has visited.
// It reports false if a goal keeps them apart.
func (l *batches) join(a, b *batch) bool {
	if a.number <= l.closed && l.closed < b.number {
		return false
	}
	l.findLast(a)
	l.findLast(b)
	a.Chain.Concat(&b.Chain)
	a.leastStamp = min(a.leastStamp, b.leastStamp)
	a.number = min(a.number, b.number)
	return true
}

// setGoal notes that somebody waits for the seals up to that number, and endGoal that nobody does any longer.
func (l *batches) setGoal(number uint64) {
	l.goals++
	l.closed = number
}

func (l *batches) endGoal() {
	if l.goals--; l.goals == 0 {
		l.closed = 0
	}
}

// joinNeighbours makes room in a full list: it joins batches two by two. That may put off the goal of a Synchronize
// which began before another one.
func (l *batches) joinNeighbours() {
	l.CloseUp()
	cost.Batches(l.Len())
	n := 0
	for k := 0; k < len(l.List); k++ {
		w := l.List[k]
		if k+1 < len(l.List) && l.join(&w.Body, &l.List[k+1].Body) {
			k++
			w.Stamp = l.List[k].Stamp
		}
		l.List[n] = w
		n++
	}
	clear(l.List[n:])
	l.List = l.List[:n]
	l.divided = 0
}

// findLast visits each slot of c, if nobody has. Then c's end is known, and a queue's batch is turned: what was cut
// has an end and may be in limbo's order.
func (l *batches) findLast(c *batch) {
	if l.turn(c); c.Last == nil {
		c.FindLast(&l.arena.Table)
	}
}

// turn puts the slots of a queue's batch into the order in which they were removed. A seal finds them in the
// opposite one. It turns all: if a batch passed as far as it was turned, its last slots would go before the first.
func (l *batches) turn(c *batch) {
	if !l.arena.FIFO || c.turned {
		return
	}
	c.Chain.Reverse(&l.arena.Table)
	c.turned = true
}

// putBack gives back slots of a run that wait again, before all that have their stamp or a later one. They are a
// batch of their own: a Synchronize may wait for them, and not for what they would be joined to.
func (l *batches) putBack(left slots.Stamped[batch]) {
	l.came(left.Stamp, &left.Body)
	l.Insert(l.Find(left.Stamp), left.Stamp, left.Body)
}

// divide makes batches of what has passed, if the oldest guard has that epoch, although their batches have not.
func (l *batches) divide(oldest uint64) {
	if oldest == l.divided || oldest == epoch.NoPin {
		return
	}
	for k := 0; k < l.Len(); k++ {
		cost.Batches(1)
		switch w := l.Entry(k); {
		case w.Stamp < oldest || oldest <= w.Body.leastStamp:
		case l.full():
			l.joinNeighbours()
			k = -1 // again: the last that passes may be joined to the first that does not
		default:
			l.cut(k, oldest)
		}
	}
	l.divided = oldest
}

// cut cuts batch k in two: what has passed if the oldest guard has that epoch, and the rest, which mostly is
// the next batch then. It visits all slots of the batch. The parts keep their order.
func (l *batches) cut(k int, oldest uint64) {
	a, w := l.arena, *l.Entry(k)
	parts := [2]batch{w.Body, w.Body} // what has passed, and the rest
	passed, late := &parts[0], &parts[1]
	passed.Chain, late.Chain, late.leastStamp = slots.Chain{}, slots.Chain{}, w.Stamp
	latest := uint64(0)
	for w.Body.N > 0 {
		slot, i, word := w.Body.TakeFirst(&a.Table)
		if stamp := a.Table.StampOf(i, w.Stamp); stamp < oldest {
			passed.Append(slot, i, word)
			latest = max(latest, stamp)
		} else {
			late.Append(slot, i, word)
			late.leastStamp = min(late.leastStamp, stamp)
		}
	}
	if passed.N == 0 {
		l.Entry(k).Body = *late
		return
	}
	at := l.Find(oldest) // behind what has passed too, some of which was removed before, perhaps with a later stamp
	if at > 0 {
		latest = max(latest, l.Entry(at-1).Stamp)
	}
	if late.N > 0 {
		l.Entry(k).Body = *late
		l.Insert(k, 0, batch{})
	}
	for j := k; j > at; j-- {
		*l.Entry(j) = *l.Entry(j - 1)
	}
	*l.Entry(at) = slots.Stamped[batch]{Stamp: latest, Body: *passed}
}

// next returns which batch passes next, if the oldest guard has that epoch, or -1: of a stack mostly the youngest,
// whose slots the processor still has in its cache. Where many have come behind that, all that has passed is old, and
// the oldest passes.
//
// The wrong version lets the oldest pass always. After a peak, slots then wait until all that the peak had have
// passed, and each insertion gets one that nobody has used for long.
func (l *batches) next(oldest uint64, youngest bool) int {
	n := l.Len()
	for k := n - 1; youngest && k >= max(0, n-youngMost); k-- {
		if l.Entry(k).Stamp < oldest {
			return k
		}
	}
	if n > 0 && l.Entry(0).Stamp < oldest {
		return 0
	}
	return -1
}

// passed returns how many slots are in batches that have passed, by what a scan has found. least is at most
// the stamp of each slot that waits for a guard, if those of look-ups hold some that users' guards do not; or
// epoch.NoPin if none waits. Without stamps of their own, slots have the stamp of their batch.
func (l *batches) passed(pins epoch.Pins) (n uint32, least uint64) {
	least = epoch.NoPin
	for k := range l.Len() {
		cost.Batches(1)
		w := l.Entry(k)
		if w.Stamp < pins.Oldest {
			n += w.Body.N
			continue
		}
		if least = min(least, w.Stamp); l.arena.stampPerSlot {
			least = min(least, w.Body.leastStamp)
		}
		if pins.Oldest == pins.OldestGuard {
			break
		}
	}
	return n, least
}

// upTo reports whether a batch has slots of the seal with that number, or of one before.
func (l *batches) upTo(number uint64) bool {
	for k := range l.Len() {
		cost.Batches(1)
		if l.Entry(k).Body.number <= number {
			return true
		}
	}
	return false
}

// bytes returns the memory of the list.
func (l *batches) bytes() int64 {
	return int64(cap(l.List)) * int64(unsafe.Sizeof(slots.Stamped[batch]{}))
}

// record is backlog.record for batches, and restore is backlog.restore. It returns how many slots they have.
func (l *batches) record(r *recorder, o *order) {
	for k := range l.Len() {
		o.waiting = append(o.waiting, r.queued(l.Entry(k)))
	}
}

func (l *batches) restore(from *lister, o *order) (n uint32) {
	for k := range o.waiting {
		q := &o.waiting[k]
		l.Add(from.stamp[q.age], from.batch(q))
		n += uint32(len(q.slots))
	}
	return n
}
