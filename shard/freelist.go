package shard

// freelist is how a shard keeps its vacant slots: in a stack (LIFO) or in a queue (FIFO). Both
// are linked through the slots' words from shard.free on, and Pop takes from both.
type freelist[T any] interface {
	// fill gives the list the slots that it never hands out, n of them for the reserve.
	fill(n int)

	// hold makes the caller the only goroutine that moves slots into a queue, from the seal to
	// the append, so that they keep their order. It waits, or tries. Any number of goroutines
	// may hold a stack. release ends it. The methods down to keepLess need it.
	hold(wait bool) bool
	release()

	// put makes the slots of c vacant for all, the first one first.
	put(c chain[T])

	// splice makes all of b vacant, without a visit of each slot. It reports whether it could:
	// a stack must be empty.
	splice(b *batch[T]) bool

	// reverse brings up to most slots of b into the order in which the list wants them. It
	// returns how many it visited, and whether all are in order.
	reverse(b *batch[T], most uint32) (visited uint32, done bool)

	// keepLess makes up to reclaimMost slots available that the list keeps back without need.
	// It reports whether there were any.
	keepLess() bool

	// recipient returns the shard that gets what is reclaimed for to.
	recipient(to *shard[T]) *shard[T]

	bare() bool         // no slot for an insertion is left
	kept() uint32       // how many slots are kept back
	keepsTooMuch() bool // more slots are kept back than the reserve needs
	dummies() uint32    // how many slots the list needs for itself
	needs() uint32      // how many slots it must have after a Trim

	// enter is hold for Trim. It tries, and fails if the list cannot be taken whole.
	enter() bool

	// take moves all slots to l, and the shard's range if Trim wants that.
	take(t *trimmer[T], l *taken[T])
}

// chain is a list of vacant slots that one goroutine owns, linked through their words.
// Removals, magazines, reclaimers and Trim move slots between lists in chains. A freelist
// hands out the first slot first. In limbo the first slot is the one that was removed last.
//
// Its zero value is empty. It is not safe for concurrent use.
type chain[T any] struct {
	first uint64 // the first slot's generation and index: the head of a list that begins here
	tail  uint64 // the last slot's
	last  *Slot[T]
	next  uint32 // what last's word links to, which no other goroutine reads yet
	n     uint32
}

// append puts slot i, whose word is word, behind the last slot.
func (c *chain[T]) append(slot *Slot[T], i uint32, word uint64) {
	at := Pack(Generation(word), i)
	if c.n == 0 {
		c.first = at
	} else {
		c.link(i)
	}
	c.last, c.tail, c.next = slot, at, Low(word)
	c.n++
}

// link makes the last slot link to i. In a chain that was a list before, it mostly does
// already.
func (c *chain[T]) link(i uint32) {
	if c.next != i {
		c.last.set(Pack(Generation(c.tail), i))
		c.next = i
	}
}

// top returns the link for a slot that is put before the first.
func (c *chain[T]) top() uint32 {
	if c.n == 0 {
		return None
	}
	return Low(c.first)
}

// prepend notes that slot i, whose word is word, was put before the first slot.
func (c *chain[T]) prepend(slot *Slot[T], i uint32, word uint64) {
	at := Pack(Generation(word), i)
	if c.n == 0 {
		c.last, c.tail, c.next = slot, at, Low(word)
	}
	c.first = at
	c.n++
}

// concat puts the slots of o behind those of c.
func (c *chain[T]) concat(o *chain[T]) {
	if c.n == 0 {
		*c = *o
	} else if o.n > 0 {
		c.link(Low(o.first))
		c.last, c.tail, c.next, c.n = o.last, o.tail, o.next, c.n+o.n
	}
}

// cut takes the first n slots out of c, which has at least n.
func (c *chain[T]) cut(a *Arena[T], n uint32) (front chain[T]) {
	if n == c.n {
		front, *c = *c, chain[T]{}
		return front
	}
	i := Low(c.first)
	for range n {
		slot := a.slot(i)
		word := slot.Word.Load()
		front.append(slot, i, word)
		i = Low(word)
	}
	if n > 0 {
		c.first = Pack(Generation(a.slot(i).Word.Load()), i)
		c.n -= n
	}
	return front
}
