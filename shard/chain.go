package shard

import "coatcheck/internal/cost"

// chain is a list of vacant slots that one goroutine owns, linked through their words.
// Removals, magazines, reclaimers and Trim move slots between lists in chains. A freelist
// hands out the first slot first. In limbo the first slot is the one that was removed last.
//
// Its zero value is empty. It is not safe for concurrent use.
type chain struct {
	first  uint64 // the first slot's generation and index: the head of a list that begins here
	tail   uint64 // the last slot's
	last   *Hook  // nil if the last slot is not known; it links to None then
	arrays arrays // none, or those of all slots (I14)
	next   uint32 // what last's word links to, which no other goroutine reads yet
	n      uint32
}

// append puts slot i, whose word is word, behind the last slot.
func (c *chain) append(slot *Hook, i uint32, word uint64) {
	head := Pack(Generation(word), i)
	if c.n == 0 {
		c.first = head
	} else {
		c.link(i)
	}
	c.last, c.tail, c.next = slot, head, Low(word)
	c.arrays = arrays{}
	c.n++
}

// link makes the last slot link to i. In a chain that was a list before, it mostly does
// already.
func (c *chain) link(i uint32) {
	if c.next != i {
		c.last.set(Pack(Generation(c.tail), i))
		c.next = i
	}
}

// top returns the link for a slot that is put before the first.
func (c *chain) top() uint32 {
	if c.n == 0 {
		return None
	}
	return Low(c.first)
}

// noteFirst notes that slot i, whose word is word, was put before the first slot.
func (c *chain) noteFirst(slot *Hook, i uint32, word uint64) {
	head := Pack(Generation(word), i)
	if c.n == 0 {
		c.last, c.tail, c.next = slot, head, Low(word)
	}
	c.first = head
	c.arrays = arrays{}
	c.n++
}

// prepend puts slot i, whose word is word, before the first slot.
func (c *chain) prepend(slot *Hook, i uint32, word uint64) {
	word = Pack(Generation(word), c.top())
	slot.set(word)
	c.noteFirst(slot, i, word)
}

// concat puts the slots of o behind those of c.
func (c *chain) concat(o *chain) {
	if c.n == 0 {
		*c = *o
	} else if o.n > 0 {
		c.link(Low(o.first))
		c.arrays.concat(o.arrays)
		c.last, c.tail, c.next, c.n = o.last, o.tail, o.next, c.n+o.n
	}
}

// finish makes c a list that can be spliced: its head has the first slot's generation, and its
// last slot links to None, as one does that is not known.
func (c *chain) finish(a *Arena) {
	i := Low(c.first)
	c.first = Pack(Generation(a.Table.slot(i).Word.Load()), i)
	if c.last != nil {
		c.link(None)
	}
}

// findLast finds the last slot of c, which is not known, by a visit to each.
func (c *chain) findLast(a *Arena) {
	i := Low(c.first)
	cost.Slots(int(c.n))
	for n := c.n; n > 0; n-- {
		c.last = a.Table.slot(i)
		word := c.last.Word.Load()
		c.tail, c.next = Pack(Generation(word), i), Low(word)
		i = Low(word)
	}
}

// takeFirst takes the first slot out of c, which has one, and returns it with its index and
// word. It visits the slot alone: c.first has the next one's index, and not its generation,
// which only a freelist's head needs.
func (c *chain) takeFirst(a *Arena) (slot *Hook, i uint32, word uint64) {
	cost.Slots(1)
	i = Low(c.first)
	slot = a.Table.slot(i)
	word = slot.Word.Load()
	if c.n--; c.n == 0 {
		*c = chain{}
		return slot, i, word
	}
	c.first = uint64(Low(word))
	if c.arrays.last != nil {
		c.arrays = arrays{}
	}
	return slot, i, word
}

// reverse moves up to most slots of c, one after the other, to before the first of to, and returns
// how many. It is takeFirst and prepend in a loop that loads the table once, which has the memory of
// all slots of a chain. These took 85 instructions a slot, and reverse takes 20.
func (c *chain) reverse(target *chain, a *Arena, limit int) (moved int) {
	if target.n == 0 && c.n > 0 && limit > 0 {
		target.prepend(c.takeFirst(a))
		moved = 1
	}
	n := min(int(c.n), limit-moved)
	if n <= 0 {
		return moved
	}
	cost.Slots(n)
	c.arrays, target.arrays = arrays{}, arrays{}
	t, next, first := a.Table.Pages(), Low(c.first), target.first
	for range n {
		slot := t.At(next)
		word := slot.Word.Load()
		slot.set(Pack(Generation(word), Low(first)))
		first, next = Pack(Generation(word), next), Low(word)
	}
	target.first, target.n = first, target.n+uint32(n)
	if c.n -= uint32(n); c.n == 0 {
		*c = chain{}
	} else {
		c.first = uint64(next)
	}
	return moved + n
}
