package shard

import (
	"slices"
	"unsafe"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

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
// Two batches are joined if no guard stands between their stamps, since they pass at the same moment then.
// What a seal took is not, if it is 16 slots or more. So there are hardly more batches than guards, and one
// for each 16 slots.
type batches struct {
	slots.StampList[batch]
	arena    *Arena
	frontier *epoch.Frontier // the backlog's
	joinAt   int             // how many there must be to be joined
	added    int             // how many have come since they were joined; they pay for that
	apart    []uint64        // for joinIfMany: a bit for each batch
	divided  uint64          // of a batch whose stamp is that or above, so is each slot's
}

// init makes an empty list.
func (l *batches) init(a *Arena, f *epoch.Frontier) {
	l.arena, l.frontier = a, f
	if a.Fixed {
		n := min(fixedBatches+a.Capacity/slots.SealEvery/uint64(a.Config.Shards), a.Capacity+2)
		l.StampList = slots.StampList[batch]{List: make([]slots.Stamped[batch], 0, n), Fixed: true}
		l.apart = make([]uint64, 0, (n+63)/64)
	}
}

// append makes c the last batch, or a part of it.
func (l *batches) append(stamp uint64, c *batch) {
	if c.N < spliceLeast {
		l.findLast(c) // so that small batches can always be joined
	}
	if last := l.Youngest(); last != nil && last.Stamp == stamp && join(&last.Body, c) {
		l.came(stamp, &last.Body)
		return
	}
	l.joinIfMany()
	l.put(stamp, c)
}

// put is append that visits no slot and no other batch. If full reports true, it allocates.
func (l *batches) put(stamp uint64, c *batch) {
	if l.Len() < waitingMost {
		l.joinAt = waitingMost
	}
	l.came(stamp, c)
	l.Add(stamp, *c)
	l.added = min(l.added+1, maxAdded)
}

// maxAdded keeps added far from overflow. So many batches pay for more cells than there ever are.
const maxAdded = 1 << 24

// full reports whether memory is fixed, and there is no room for another batch.
func (l *batches) full() bool { return l.arena.Fixed && l.Len() == cap(l.List) }

// came notes that slots have come that may not be divided.
func (l *batches) came(stamp uint64, c *batch) {
	if c.leastStamp < l.divided && l.divided <= stamp {
		l.divided = 0
	}
}

// join puts the slots of b behind those of a. It reports false if the end of a is not known, since
// nobody has visited it, or if only one of them is turned. Joined or not, the slots stay in their order.
func join(a, b *batch) bool {
	if a.N > 0 && (a.Last == nil || a.turned != b.turned) {
		return false
	}
	a.Chain.Concat(&b.Chain)
	a.leastStamp = min(a.leastStamp, b.leastStamp)
	a.number = min(a.number, b.number)
	return true
}

// findLast visits each slot of c, if nobody has. Then c's end is known.
func (l *batches) findLast(c *batch) {
	switch {
	case c.Last != nil:
	case l.arena.FIFO:
		l.turn(c)
	default:
		c.FindLast(&l.arena.Table)
	}
}

// turn puts the slots of a queue's batch into the order in which they were removed. A seal finds them in the
// opposite one.
func (l *batches) turn(c *batch) {
	if !l.arena.FIFO || c.turned {
		return
	}
	var turned slots.Chain
	c.Chain.Reverse(&turned, &l.arena.Table, int(c.N))
	c.Chain, c.turned = turned, true
}

// putBack gives back slots of a run that wait again, before the others. They join the rest of their batch alone,
// if that is there: a Synchronize may wait for them.
func (l *batches) putBack(left slots.Stamped[batch]) {
	l.came(left.Stamp, &left.Body)
	k := l.Find(left.Stamp)
	if k < l.Len() {
		next := &l.Entry(k).Body
		if l.Entry(k).Stamp == left.Stamp && next.number == left.Body.number {
			l.turn(next)
			join(&left.Body, next)
			*next = left.Body
			return
		}
	}
	l.Insert(k, left.Stamp, left.Body)
}

// Batches are joined where there are many, since most pass at the same moment. The naive way keeps one
// for each stamp, as long as a guard stays: a pool of 16-byte values took 107 MB instead of 29 after a
// million requests beside one guard, and each request 1.9 times as long.

// joinIfMany makes room for another batch, if there are waitingMost. It joins those that pass at
// the same moment: between their stamps no guard stands. That costs a scan, a look at each batch,
// and a search among them for each guard. So next time there must be twice as many, and those that
// came meanwhile must pay for the scan. No removal joins.
//
// The scan misses a Pin that has read the epoch and not yet claimed its cell. Its epoch may lie
// between the stamps of a joined batch. Then the guard delays the whole batch, until an insertion
// would be refused, which cuts the batch in two.
func (l *batches) joinIfMany() {
	if l.Len() < max(l.joinAt, waitingMost) && !l.full() {
		return
	}
	l.CloseUp()
	words := (l.Len() + 63) / 64
	l.apart = slices.Grow(l.apart[:0], words)[:words]
	clear(l.apart)
	last := uint64(epoch.NoPin)
	if !l.frontier.Epochs(l.added*cellsABatch, func(e uint64) {
		if e == last {
			return // guards of one time
		}
		last = e
		if k := l.Find(e); k < l.Len() { // it delays that batch, and not the one before
			l.apart[k/64] |= 1 << (k % 64)
		}
	}) {
		return
	}
	cost.Batches(l.Len())
	l.joinNeighbours()
	l.joinAt, l.added = 2*l.Len(), 0
}

// joinNeighbours joins each batch to the one before it, if it is not apart from it and it is
// possible. If there is no room for more batches, it makes it possible.
func (l *batches) joinNeighbours() {
	n := 0
	full := l.full()
	for k := 1; k < len(l.List); k++ {
		into, next := &l.List[n], &l.List[k]
		if l.apart[k/64]&(1<<(k%64)) == 0 {
			if full {
				l.findLast(&into.Body)
				l.findLast(&next.Body)
			}
			if join(&into.Body, &next.Body) {
				into.Stamp = next.Stamp
				continue
			}
		}
		n++
		l.List[n] = *next
	}
	clear(l.List[n+1:])
	l.List = l.List[:n+1]
	l.divided = 0
}

// divide makes batches of what has passed, if the oldest guard has that epoch, although their batches have not.
func (l *batches) divide(oldest uint64) {
	if oldest == l.divided || oldest == epoch.NoPin {
		return
	}
	for k := 0; k < l.Len(); k++ {
		cost.Batches(1)
		if w := l.Entry(k); w.Body.leastStamp < oldest && oldest <= w.Stamp {
			k += l.cut(k, oldest)
		}
	}
	l.divided = oldest
}

// cut cuts batch k in two: what has passed if the oldest guard has that epoch, and the rest, which mostly is
// the next batch then. It returns how many batches there are more. It visits all slots of the batch. The
// parts keep their order.
func (l *batches) cut(k int, oldest uint64) (more int) {
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
		return 0
	}
	at := l.Find(latest) // it goes before all that has not passed
	if late.N > 0 {
		l.Entry(k).Body = *late
		l.Insert(k, 0, batch{})
		more = 1
	}
	for j := k; j > at; j-- {
		*l.Entry(j) = *l.Entry(j - 1)
	}
	*l.Entry(at) = slots.Stamped[batch]{Stamp: latest, Body: *passed}
	return more
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
	return int64(cap(l.List))*int64(unsafe.Sizeof(slots.Stamped[batch]{})) + int64(cap(l.apart))*8
}

// record is backlog.record for batches, and restore is backlog.restore. It returns how many slots they have.
func (l *batches) record(r *recorder, o *order) {
	o.joinAt, o.account.added = uint64(l.joinAt), uint64(l.added)
	for k := range l.Len() {
		o.waiting = append(o.waiting, r.queued(l.Entry(k)))
	}
}

func (l *batches) restore(from *lister, o *order) (n uint32) {
	l.joinAt, l.added = int(o.joinAt), int(o.account.added)
	for k := range o.waiting {
		q := &o.waiting[k]
		l.Add(from.stamp[q.age], from.batch(q))
		n += uint32(len(q.slots))
	}
	return n
}
