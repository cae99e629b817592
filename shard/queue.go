package shard

import "coatcheck/internal/atom"

// The freelist, FIFO, is a queue of vacant slots, linked through their words, and behind it
// the slots that are kept back:
//
//	free ─▶ dummy ─▶ slot ─▶ … ─▶ tail ─▶ None     rest: slot ─▶ … ─▶ slot
//
// Pop hands out the dummy, and the slot behind it becomes the new dummy. So a queue always
// keeps one slot, and a queue of one is empty.
//
// A slot that comes free goes to rest, and an older one from rest to the queue, as long as the
// shard's part of the reserve stays. So the reserve is whole whatever is popped (I9), and an
// insertion need not check it. The naive way counts the slots that may be handed out. That
// costs each insertion a locked instruction, and promises slots that it may not find.
//
// A batch as large as the shard's part takes the place of all that rested before, which costs
// one link. So more slots may rest than the reserve wants. An insertion that finds no other
// slot has the surplus cut off, which visits each of these slots.
//
// In Michael's and Scott's queue any goroutine appends, which takes a compare-and-swap on a
// null link, null links with tags, and a tail that lags. Here slots are appended a batch at a time
// and under a lock, so one store appends, and tail and rest are plain fields. Pop is as for
// the stack, and right for the same reason (I5).
//
// The lock is held from the seal to the append. The claims of batches, enough for a stack, let
// one reclaimer overtake another, and slots would change their order (L14). A reclaimer that
// finds the lock held leaves everything to its holder.

// queue is the freelist of a FIFO shard. What is reclaimed in the shard stays there.
type queue[T any] struct {
	of *shard[T] // named: with an embedded one, a wrapper of each method would be compiled for every T

	// mu guards rest and tail, and the way from limbo to the queue. No user code runs under
	// it. Only Trim takes other locks under it: other queues', which it tries, and the
	// table's.
	mu   atom.Mutex
	rest chain[T] // the slots that are kept back
	tail uint32   // the last slot

	// resting is rest.n, for goroutines without the lock.
	//
	//	writers  put and keepLess, under mu
	//	readers  kept
	resting atom.Uint32
}

// fill gives the queue its dummy and its part of the reserve, n slots.
func (q *queue[T]) fill(n int) {
	a := q.of.arena
	lo, hi := a.Table.Allot(uint32(n + 1)) // in one piece: no other goroutine takes any yet
	var c chain[T]
	for i := lo; i < hi; i++ {
		slot := a.slot(i)
		word := Pack(a.First-1, None)
		slot.set(word)
		c.append(slot, i, word)
	}
	q.put(c)
}

// hold takes mu, or tries to.
func (q *queue[T]) hold(wait bool) bool {
	if wait {
		q.mu.Lock()
		return true
	}
	return q.mu.TryLock()
}

func (q *queue[T]) release() { q.mu.Unlock() }

// put puts c behind the slots that are kept back, and older ones at the queue's end, as far as
// the reserve allows.
//
// A queue of a restored pool may have no slot at all, if there were fewer than shards. Then
// the first slot becomes the dummy.
func (q *queue[T]) put(c chain[T]) {
	if c.n == 0 {
		return
	}
	c.link(None)
	if q.tail == None {
		dummy := c.cut(q.of.arena, 1)
		dummy.link(None)
		q.of.free.Store(dummy.first) // publishes (P3); Pop takes nothing from a queue without slots
		q.tail = Low(dummy.tail)
	}
	keeps := q.of.arena.keeps(q.of.at)
	ready := q.rest
	switch {
	case keeps == 0:
		q.rest = chain[T]{}
		ready.concat(&c)
		q.append(&ready)
	case c.n >= keeps:
		q.rest = c
		q.append(&ready)
	default:
		if q.rest.concat(&c); q.rest.n > keeps+Batch {
			q.keepLess()
		}
	}
	q.resting.Store(q.rest.n)
}

// keepLess moves the surplus of rest to the queue's end.
func (q *queue[T]) keepLess() bool {
	keeps := q.of.arena.keeps(q.of.at)
	if q.rest.n <= keeps {
		return false
	}
	ready := q.rest.cut(q.of.arena, min(q.rest.n-keeps, reclaimMost))
	q.append(&ready)
	q.resting.Store(q.rest.n)
	return true
}

// append puts c at the queue's end. It counts as a seal, so that an insertion that finds the
// slots neither in rest nor in the queue looks again (bare).
func (q *queue[T]) append(c *chain[T]) {
	if c.n > 0 {
		q.of.seals.Add(1)
		c.link(None)
		tail := q.of.arena.slot(q.tail)
		// The tail has no link, so it cannot be popped, and only the holder of mu links it. So
		// a plain load and store of its word is right. The store publishes (P3).
		tail.set(Pack(Generation(tail.Word.Load()), Low(c.first)))
		q.tail = Low(c.tail)
	}
}

// reverse links each slot to the one that was removed before it. Limbo has the last removed slot
// on top, and a queue wants it last.
func (q *queue[T]) reverse(b *batch[T], most uint32) (visited uint32, done bool) {
	if b.reversed == None && !b.inOrder {
		b.last = b.top
	}
	for ; !b.inOrder && visited < most; visited++ {
		i := b.top
		slot := q.of.arena.slot(i)
		word := slot.Word.Load()
		slot.set(Pack(Generation(word), b.reversed))
		if b.reversed, b.top = i, Low(word); b.top == None {
			b.top, b.reversed, b.inOrder = i, None, true
		}
	}
	return visited, b.inOrder
}

// splice takes what is left of a batch as well, because its last slot stays the same.
func (q *queue[T]) splice(b *batch[T]) bool {
	first, last := q.of.arena.slot(b.top), q.of.arena.slot(b.last)
	q.put(chain[T]{
		first: Pack(Generation(first.Word.Load()), b.top),
		tail:  Pack(Generation(last.Word.Load()), b.last),
		last:  last,
		next:  None,
		n:     b.n,
	})
	return true
}

func (q *queue[T]) recipient(*shard[T]) *shard[T] { return q.of }
func (q *queue[T]) kept() uint32                  { return q.resting.Load() }
func (q *queue[T]) keepsTooMuch() bool            { return q.kept() > q.of.arena.keeps(q.of.at) }
func (q *queue[T]) needs() uint32                 { return 1 + q.of.arena.keeps(q.of.at) }

func (q *queue[T]) dummies() uint32 {
	if q.of.free.Load() == emptyList {
		return 0 // a restored queue without a dummy
	}
	return 1
}

func (q *queue[T]) bare() bool {
	top := q.of.free.Load()
	if top == emptyList {
		return true
	}
	word := q.of.arena.slot(Low(top)).Word.Load()
	return word == Pack(Generation(top), None) && !q.keepsTooMuch() // the dummy alone
}

// enter tries to take the lock. Trim takes a queue whole, dummy and reserve included, while no
// other goroutine appends, and appends to an empty one what goes back.
func (q *queue[T]) enter() bool {
	if !q.mu.TryLock() {
		return false
	}
	if q.tail == None { // a restored queue without a dummy
		q.mu.Unlock()
		return false
	}
	return true
}

// take takes the range first, as Pop does.
func (q *queue[T]) take(t *trimmer[T], l *taken[T]) {
	t.takeRange(l)
	t.takeList(l)
	t.addList(l, q.rest.top())
	q.tail, q.rest = None, chain[T]{}
}
