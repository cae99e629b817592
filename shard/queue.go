package shard

import "coatcheck/internal/atom"

// The freelist, FIFO: a queue of vacant slots, linked through their words, and behind
// it the slots that are kept back.
//
//	free ─▶ dummy ─▶ slot ─▶ … ─▶ tail ─▶ None     rest: slot ─▶ … ─▶ slot
//
// What is handed out is the dummy; the slot behind it becomes the new one. So a
// queue always keeps one slot, and a queue of one is empty.
//
// What comes free goes to rest, and what has rested for longer to the queue, as long as
// the shard's part of the reserve stays. So whatever is popped, the reserve is whole
// (I9), and an insertion need not ask whether it is. The naive way is a count of the
// slots that may be handed out: a locked instruction more for each insertion, and slots
// that somebody may take and cannot find.
//
// A batch that is as large as that part takes the place of all that rested before, which
// costs one link. More may rest then than the reserve wants. An insertion that finds no
// other slot has what is too much cut off, which costs a look at each slot.
//
// Michael's and Scott's queue lets anybody append, which takes a
// compare-and-swap on a null link, null links that carry tags, and a tail that
// lags. Here slots are appended a batch at a time and under a lock, so the queue needs
// none of that: the appender stores one link, and tail and rest are plain fields. Taking is
// Pop, as for the stack, and right for the same reason (I5).
//
// The lock is held from the seal to the append, or slots would change their order: the
// claims of batches, which are enough for a stack, let one reclaimer overtake another
// (L14). A reclaimer that finds it held leaves everything to its holder.

// queue is the freelist of a FIFO shard. What is reclaimed in the shard stays there.
type queue[T any] struct {
	of *shard[T] // by name: a wrapper of each method would be compiled for every T

	// mu guards rest and tail, and the way from limbo to here. No user code runs under it,
	// and no lock is taken but by Trim: other queues', which it tries for, and the table's.
	mu   atom.Mutex
	rest chain[T] // what is kept back
	tail uint32   // the last slot

	// resting is how many slots are kept back: rest.n, for goroutines without the lock.
	//
	//	writers  put and keepLess, under mu
	//	readers  kept
	resting atom.Uint32
}

// fill gives the queue its dummy and its part of the reserve, n slots.
func (q *queue[T]) fill(n int) {
	a := q.of.arena
	lo, hi := a.Table.Allot(uint32(n + 1)) // in one piece: nobody else takes any yet
	var c chain[T]
	for i := lo; i < hi; i++ {
		slot := a.slot(i)
		word := Pack(a.First-1, None)
		slot.set(word)
		c.append(slot, i, word)
	}
	q.put(c)
}

// hold takes mu, or tries for it.
func (q *queue[T]) hold(wait bool) bool {
	if wait {
		q.mu.Lock()
		return true
	}
	return q.mu.TryLock()
}

func (q *queue[T]) release() { q.mu.Unlock() }

// put puts c behind what is kept back, and what rested before at the queue's end as far
// as it can be spared.
//
// A queue of a restored pool may have no slot at all, if there were fewer than
// shards. Then the first slot is the dummy.
func (q *queue[T]) put(c chain[T]) {
	if c.n == 0 {
		return
	}
	c.link(None)
	if q.tail == None {
		dummy := c.cut(q.of.arena, 1)
		dummy.link(None)
		q.of.free.Store(dummy.first) // publishes (P3); Pop leaves a queue without slots alone
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

// keepLess puts what is kept back too much at the queue's end.
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

// append puts c at the queue's end. It counts as a seal, so that an insertion which finds
// neither the slots at rest nor in the queue looks again (bare).
func (q *queue[T]) append(c *chain[T]) {
	if c.n > 0 {
		q.of.seals.Add(1)
		c.link(None)
		tail := q.of.arena.slot(q.tail)
		// A plain read-modify-write of the tail's word is right: it has no link, so
		// it cannot be popped, and only the holder of mu links it. The store
		// publishes (P3).
		tail.set(Pack(Generation(tail.Word.Load()), Low(c.first)))
		q.tail = Low(c.tail)
	}
}

// turn links each slot to the one that was removed before it: limbo has what was removed
// last on top, and a queue wants it last.
func (q *queue[T]) turn(b *batch[T], most uint32) (visited uint32, done bool) {
	if b.turned == None && !b.upright {
		b.last = b.top
	}
	for ; !b.upright && visited < most; visited++ {
		i := b.top
		slot := q.of.arena.slot(i)
		word := slot.Word.Load()
		slot.set(Pack(Generation(word), b.turned))
		if b.turned, b.top = i, Low(word); b.top == None {
			b.top, b.turned, b.upright = i, None, true
		}
	}
	return visited, b.upright
}

// splice takes what is left of a batch as well: its end stays.
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
		return 0 // of a restored pool, and without a dummy yet
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

// enter tries for the lock: Trim takes a queue whole, dummy and reserve included, while
// nobody appends, and appends what goes back to an empty one.
func (q *queue[T]) enter() bool {
	if !q.mu.TryLock() {
		return false
	}
	if q.tail == None { // of a restored pool, and without a dummy yet
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
