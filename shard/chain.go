package shard

// chain is a list of vacant slots that its holder owns, linked through their words.
// Whatever takes slots out of a list or puts them into one has them in a chain:
// removers, magazines, reclaimers, Trim. A freelist hands out the first slot
// first; in limbo the first slot is the one removed last.
//
// Its zero value is empty. It is not safe for concurrent use.
type chain[T any] struct {
	first uint64 // the first slot's generation and index: the head of a list that begins here
	tail  uint64 // the last slot's
	last  *Slot[T]
	next  uint32 // what last's word links to, of which nobody else knows yet
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

// link makes the last slot link to i. In a chain that was a list before, it mostly
// does so already.
func (c *chain[T]) link(i uint32) {
	if c.next != i {
		c.last.set(Pack(Generation(c.tail), i))
		c.next = i
	}
}

// top returns what a slot has to link to that is put before the first.
func (c *chain[T]) top() uint32 {
	if c.n == 0 {
		return None
	}
	return Low(c.first)
}

// prepend notes that slot i was put before the first slot, whose word is word.
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

// cut takes the first n slots out of c, which has as many.
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
