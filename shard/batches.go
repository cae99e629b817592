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
}

// batches are those of a backlog, in the order of their stamps: which slots are in one, and which of them
// are joined. Only its methods use its fields.
//
// Stamps differ only if a guard was pinned in between, and it may be gone. Two batches are
// joined if no guard stands between their stamps, since they pass at the same moment then. So
// there are hardly more batches than guards. Without stamps per slot, a sealed part of 16
// slots or more stays a batch of its own, and a batch that a magazine gave away is joined to none
// without arrays. So there is at most one batch for each 8 slots.
type batches struct {
	slots.Timeline[batch]
	arena    *Arena
	frontier *epoch.Frontier // the backlog's
	joinAt   int             // how many there must be to be joined
	added    int             // how many have come since they were joined; they pay for that
	apart    []uint64        // for joinIfMany: a bit for each batch
}

// init makes an empty list.
func (l *batches) init(a *Arena, f *epoch.Frontier) {
	l.arena, l.frontier = a, f
	if a.Fixed {
		l.Timeline = slots.Timeline[batch]{List: make([]slots.Stamped[batch], 0, min(fixedBatches, a.Capacity+2)), Fixed: true}
		l.apart = make([]uint64, 0, (fixedBatches+63)/64)
	}
}

// file puts a slot of the seal with a number into the batch of its stamp. Mostly that is the last: a
// goroutine stamps a slot that it removed, and pushes it on limbo at once.
func (l *batches) file(slot *slots.Hook, i uint32, word, stamp, number uint64) {
	k, found := l.place(stamp)
	if !found {
		if l.Len() >= waitingMost {
			l.joinIfMany()
			k, found = l.place(stamp)
		}
		if !found {
			l.Insert(k, stamp, batch{leastStamp: stamp, number: number})
			l.countBatch()
		}
	}
	body := &l.Entry(k).Body
	if body.N > 0 && body.Last == nil {
		body.Prepend(slot, i, word) // it was enqueued whole, and waits for Resets
	} else {
		body.Append(slot, i, word)
	}
}

// place returns which batch is that of a slot with a stamp, or would be if there were one.
func (l *batches) place(stamp uint64) (k int, found bool) {
	if k = l.Len() - 1; k < 0 || l.Entry(k).Stamp != stamp {
		k = l.Find(stamp)
	}
	return k, k < l.Len() && l.Entry(k).Body.leastStamp <= stamp
}

// append makes c the last batch, or a part of it.
func (l *batches) append(stamp uint64, c *batch) {
	if c.N < spliceLeast && c.Last == nil {
		c.FindLast(&l.arena.Table) // so that small batches can always be joined
	}
	last := l.Youngest()
	if last != nil && last.Stamp == stamp && join(&last.Body, c) {
		return
	}
	if l.Len() >= waitingMost {
		l.joinIfMany()
	}
	l.Add(stamp, *c)
	l.countBatch()
}

// join puts the slots of b behind those of a. It reports false if the end of a is not known, since
// nobody has visited it, or if only one of them has arrays, which would be lost. Joined or not, the
// slots stay in their order.
func join(a, b *batch) bool {
	if a.N > 0 && (a.Last == nil || (a.Arrays.Last == nil) != (b.Arrays.Last == nil)) {
		return false
	}
	a.Chain.Concat(&b.Chain)
	a.leastStamp = min(a.leastStamp, b.leastStamp)
	a.number = min(a.number, b.number)
	return true
}

// putBack gives back slots of a run that wait again, before the others. They join the rest of their batch,
// if that is there: a Synchronize may wait for them alone. They also join a batch that has older slots. The
// wrong version puts them before it: then a late pin between the two delays the older slots too.
func (l *batches) putBack(left slots.Stamped[batch]) {
	k := l.Find(left.Stamp)
	if k < l.Len() {
		next := &l.Entry(k).Body
		if next.leastStamp < left.Stamp || next.leastStamp == left.Stamp && next.number == left.Body.number {
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
// came meanwhile must pay for the scan.
//
// The scan misses a Pin that has read the epoch and not yet claimed its cell. Its epoch may lie
// between the stamps of a joined batch. Then the guard delays the whole batch, until an insertion
// would be refused, which cuts the batch in two.
func (l *batches) joinIfMany() {
	if l.Len() == waitingMost {
		l.joinAt = waitingMost // it was shorter, or may be joined again
	}
	if l.Len() < l.joinAt && !(l.arena.Fixed && l.Len() == cap(l.List)) {
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
// possible.
func (l *batches) joinNeighbours() {
	n := 0
	for k := 1; k < len(l.List); k++ {
		into, next := &l.List[n], &l.List[k]
		if l.apart[k/64]&(1<<(k%64)) == 0 && join(&into.Body, &next.Body) {
			into.Stamp = next.Stamp
			continue
		}
		n++
		l.List[n] = *next
	}
	clear(l.List[n+1:])
	l.List = l.List[:n+1]
}

// cut cuts the first batch in two: what has passed if the oldest guard has that epoch, and the
// rest. It visits all slots of the batch. Batches need it that were joined, or enqueued whole.
func (l *batches) cut(oldest uint64) {
	a, first := l.arena, l.Entry(0)
	passed := batch{leastStamp: first.Body.leastStamp, number: first.Body.number}
	late := batch{leastStamp: first.Stamp, number: first.Body.number}
	latest := uint64(0)
	for first.Body.N > 0 {
		slot, i, word := first.Body.TakeFirst(&a.Table)
		if stamp := a.Table.StampOf(i, first.Stamp); stamp < oldest {
			passed.Append(slot, i, word)
			latest = max(latest, stamp)
		} else {
			late.Append(slot, i, word)
			late.leastStamp = min(late.leastStamp, stamp)
		}
	}
	switch {
	case late.N == 0: // the stamp of what was enqueued whole may be above those of all slots
		first.Stamp, first.Body = latest, passed
	case passed.N == 0:
		first.Body = late
	default:
		first.Body = late
		l.Insert(0, latest, passed)
	}
}

// countBatch counts a batch that pays for a join.
func (l *batches) countBatch() { l.added = min(l.added+1, maxAdded) }

// maxAdded keeps added far from overflow. So many batches pay for more cells than there ever are.
const maxAdded = 1 << 24

// passed returns how many slots are in batches that have passed, if the oldest guard has that epoch. least
// is the least stamp of a slot that waits for a guard; or epoch.NoPin if there is none. Without stamps of
// their own, slots have the stamp of their batch.
func (l *batches) passed(oldest uint64) (n uint32, least uint64) {
	for k := range l.Len() {
		cost.Batches(1)
		switch w := l.Entry(k); {
		case w.Stamp < oldest:
			n += w.Body.N
		case l.arena.stampPerSlot:
			return n, w.Body.leastStamp
		default:
			return n, w.Stamp
		}
	}
	return n, epoch.NoPin
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

// bytes returns the memory of the list and of the batches' arrays.
func (l *batches) bytes() (n int64) {
	for k := range l.Len() {
		n += l.Entry(k).Body.Arrays.Bytes()
	}
	return n + int64(cap(l.List))*int64(unsafe.Sizeof(slots.Stamped[batch]{})) + int64(cap(l.apart))*8
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
