package shard

import (
	"math"
	"slices"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// file puts a slot into the batch of its stamp. Mostly that is the last: a goroutine stamps a
// slot that it removed, and pushes it on limbo at once.
func (b *backlog) file(slot *slots.Hook, i uint32, word, stamp uint64) {
	k, found := b.place(stamp)
	if !found {
		if b.waiting.Len() >= waitingMost {
			b.joinIfMany()
			k, found = b.place(stamp)
		}
		if !found {
			b.waiting.Insert(k, stamp, batch{leastStamp: stamp, number: b.sealed.Body.number})
			b.countBatch()
		}
	}
	body := &b.waiting.Entry(k).Body
	if body.N > 0 && body.Last == nil {
		body.Prepend(slot, i, word) // it was enqueued whole, and waits for Resets
		body.cleared = progress{}
	} else {
		body.Append(slot, i, word)
		body.cleared.appended(i, 1)
	}
}

// place returns which batch is that of a stamp, or would be if there were one. A batch that
// Synchronize waits for gets no slots of later seals, even if their stamps are equal.
func (b *backlog) place(stamp uint64) (k int, found bool) {
	l := &b.waiting
	if k = l.Len() - 1; k < 0 || l.Entry(k).Stamp != stamp {
		k = l.Find(stamp)
	}
	for k < l.Len() && l.Entry(k).Stamp == stamp && b.fenced(l.Entry(k).Body.number, b.sealed.Body.number) {
		k++
	}
	return k, k < l.Len() && l.Entry(k).Body.leastStamp <= stamp
}

// fenced reports whether a batch of the first number must get no slots of the seal with the second:
// a call of Synchronize waits for the batch, and not for these.
//
// The wrong version knows only the last call. What is removed between two calls puts off the first.
func (b *backlog) fenced(waits, number uint64) bool {
	return len(b.fences) > 0 && b.fencedSlow(waits, number) // asked for each slot, mostly for nothing
}

func (b *backlog) fencedSlow(waits, number uint64) bool {
	k, _ := slices.BinarySearch(b.fences, waits)
	return k < len(b.fences) && b.fences[k] < number
}

// append makes c the last batch, or a part of it.
func (b *backlog) append(stamp uint64, c *batch) {
	if c.N < spliceLeast && c.Last == nil {
		c.FindLast(&b.arena.Table) // so that small batches can always be joined
	}
	last := b.waiting.Youngest()
	if last != nil && last.Stamp == stamp && !b.fenced(last.Body.number, c.number) && join(&last.Body, c) {
		return
	}
	if b.waiting.Len() >= waitingMost {
		b.joinIfMany()
	}
	b.waiting.Add(stamp, *c)
	b.countBatch()
}

// join puts the slots of b behind those of a. It reports false if the end of a is not known, since
// nobody has visited it, or if only one of them has arrays, which would be lost. Joined or not, the
// slots stay in their order.
func join(a, b *batch) bool {
	if a.N > 0 && (a.Last == nil || (a.Arrays.Last == nil) != (b.Arrays.Last == nil)) {
		return false
	}
	a.cleared.appended(b.Top(), b.N)
	a.Chain.Concat(&b.Chain)
	a.leastStamp = min(a.leastStamp, b.leastStamp)
	a.number = min(a.number, b.number)
	return true
}

// putBack gives back slots of a run that wait again, before the others that a fence does not keep apart.
func (b *backlog) putBack(left slots.Stamped[batch]) {
	b.waits += left.Body.N
	l := &b.waiting
	k := l.Find(left.Stamp)
	for k < l.Len() && l.Entry(k).Stamp == left.Stamp && b.fenced(l.Entry(k).Body.number, left.Body.number) {
		k++
	}
	if k < l.Len() {
		next := &l.Entry(k).Body
		if next.leastStamp <= left.Stamp && !b.fenced(left.Body.number, next.number) {
			join(&left.Body, next) // ClearExpired begins anew, but there is a Reset
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
func (b *backlog) joinIfMany() {
	l := &b.waiting
	if l.Len() == waitingMost {
		b.joinAt = waitingMost // it was shorter, or may be joined again
	}
	if l.Len() < b.joinAt && !(b.arena.Fixed && l.Len() == cap(l.List)) {
		return
	}
	l.CloseUp()
	words := (l.Len() + 63) / 64
	b.apart = slices.Grow(b.apart[:0], words)[:words]
	clear(b.apart)
	paid, last := b.added*cellsABatch, uint64(epoch.NoPin)
	if b.arena.Replays {
		paid = math.MaxInt // a copy has other cells, and does not know how many batches came
	}
	if !b.arena.Domain.Epochs(paid, func(e uint64) {
		if e == last {
			return // guards of one time
		}
		last = e
		if k := l.Find(e); k < l.Len() { // it delays that batch, and not the one before
			b.apart[k/64] |= 1 << (k % 64)
		}
	}) {
		return
	}
	cost.Batches(l.Len())
	b.joinNeighbours()
	b.joinAt, b.added = 2*l.Len(), 0
}

// joinNeighbours joins each batch to the one before it, if it is not apart from it and it is
// possible.
func (b *backlog) joinNeighbours() {
	l := &b.waiting
	n := 0
	for k := 1; k < len(l.List); k++ {
		into, next := &l.List[n], &l.List[k]
		if b.apart[k/64]&(1<<(k%64)) == 0 && !b.fenced(into.Body.number, next.Body.number) && join(&into.Body, &next.Body) {
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
func (b *backlog) cut(oldest uint64) {
	a, first := b.arena, b.waiting.Entry(0)
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
		b.waiting.Insert(0, latest, passed)
	}
}

// countBatch counts a batch that pays for a join.
func (b *backlog) countBatch() { b.added = min(b.added+1, maxAdded) }

// maxAdded keeps added far from overflow. So many batches pay for more cells than there ever are.
const maxAdded = 1 << 24

// delayed returns how many slots wait for a guard, if the oldest one has that epoch, and not for
// a Reset alone.
func (b *backlog) delayed(oldest uint64) (n uint32) {
	n = b.waits
	for k := 0; k < b.waiting.Len() && b.waiting.Entry(k).Stamp < oldest; k++ {
		cost.Batches(1)
		n -= b.waiting.Entry(k).Body.N
	}
	return n
}

// leastDelayed returns the least stamp of a slot that waits for a guard, if the oldest one has that
// epoch, and not for a Reset alone; or epoch.NoPin if there is none. Without stamps of their own,
// slots have the stamp of their batch.
func (b *backlog) leastDelayed(oldest uint64) uint64 {
	for k := range b.waiting.Len() {
		cost.Batches(1)
		switch w := b.waiting.Entry(k); {
		case w.Stamp < oldest:
		case b.arena.stampPerSlot:
			return w.Body.leastStamp
		default:
			return w.Stamp
		}
	}
	return epoch.NoPin
}

// setGoal seals limbo if it can, for a Synchronize. It returns the number of the last seal that has a
// slot of those that were removed before. That is the next one, if the one before is not enqueued yet.
// Until dropGoal, batches up to that number get no slots of later seals.
func (b *backlog) setGoal(limbo *slots.Limbo) (number uint64) {
	if number = b.seals + 1; b.unsorted() == 0 || limbo.Size() == 0 {
		b.seal(limbo)
		number = b.seals
	}
	b.fences = append(b.fences, number)
	return number
}

func (b *backlog) dropGoal(number uint64) {
	k, _ := slices.BinarySearch(b.fences, number)
	b.fences = slices.Delete(b.fences, k, k+1)
}

// hasGoal reports whether a goal is set.
func (b *backlog) hasGoal() bool { return len(b.fences) > 0 }

// unsortedOf reports whether slots of the seal with that number, or of one before, are not enqueued,
// or not even sealed.
func (b *backlog) unsortedOf(number uint64) bool {
	return b.seals < number || b.sealed.Body.number <= number && b.unsorted() > 0
}

// reached reports whether every slot of the seal with that number and of those before has been
// reclaimed, except what holds keep.
func (b *backlog) reached(number uint64) bool {
	if b.unsortedOf(number) {
		return false
	}
	for k := range b.waiting.Len() {
		cost.Batches(1)
		if b.waiting.Entry(k).Body.number <= number {
			return false
		}
	}
	return !slices.ContainsFunc(b.runs, func(run uint64) bool { return run <= number })
}

// clear zeroes the values of what has passed, if the oldest guard has that epoch, for the call of
// ClearExpired with that number. It holds clearing alone. It reports whether it left some for another
// step.
//
// What is not in a batch of its own is little, and is visited in each step.
func (b *backlog) clear(c *recycler, call uint32, oldest uint64) (unfinished bool) {
	c.zero(b.sealed.Body.Top(), b.sealed.Body.N, b.sealed.Stamp, oldest)
	c.zero(b.turned.Top(), b.turned.N, b.sealed.Stamp, oldest)
	room := uint32(clearMost)
	for k := 0; k < b.waiting.Len() && b.waiting.Entry(k).Stamp < oldest; k++ {
		body := &b.waiting.Entry(k).Body
		p := &body.cleared
		if p.call == 0 || p.left > body.N || p.foundHeld && p.left == 0 && p.call != call {
			*p = progress{call: call, next: body.Top(), left: body.N}
		}
		n := min(p.left, room)
		next, held := c.zero(p.next, n, 0, oldest)
		p.next, p.foundHeld = next, p.foundHeld || held
		p.left -= n
		if room -= n; room == 0 {
			return true
		}
	}
	return false
}

// sealNumber returns the number of the last seal.
func (b *backlog) sealNumber() uint64 { return b.seals }

// record notes in o what an order has of the backlog, and restore puts it back, in a new arena.
func (b *backlog) record(r *recorder, o *order) {
	o.joinAt, o.seals = uint64(b.joinAt), b.seals
	o.sealed, o.turned = r.queued(&b.sealed), r.chain(&b.turned, &b.sealed.Stamp)
	for k := range b.waiting.Len() {
		o.waiting = append(o.waiting, r.queued(b.waiting.Entry(k)))
	}
}

func (b *backlog) restore(l *lister, o *order) {
	b.turned = l.chain(&o.turned)
	b.sealed = slots.Stamped[batch]{Stamp: l.stamp[o.sealed.age], Body: l.batch(&o.sealed)}
	b.waits = b.turned.N + b.sealed.Body.N
	for k := range o.waiting {
		q := &o.waiting[k]
		b.waiting.Add(l.stamp[q.age], l.batch(q))
		b.waits += uint32(len(q.slots))
	}
	b.joinAt, b.seals = int(o.joinAt), o.seals
}
