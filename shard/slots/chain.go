package slots

import "coatcheck/internal/cost"

// Chain is a list of vacant slots that one goroutine owns, linked through their words.
// Removals, magazines, reclaimers and Trim move slots between lists in chains. A freelist
// hands out the first slot first. In limbo the first slot is the one that was removed last.
//
// Its zero value is empty. It is not safe for concurrent use.
type Chain struct {
	First uint64 // the first slot's generation and index: the head of a list that begins here
	Tail  uint64 // the last slot's
	Last  *Hook  // nil if the last slot is not known; it links to None then
	Next  uint32 // what last's word links to, which no other goroutine reads yet
	N     uint32
}

// Append puts slot i, whose word is word, behind the last slot.
func (c *Chain) Append(slot *Hook, i uint32, word uint64) {
	head := Pack(Generation(word), i)
	if c.N == 0 {
		c.First = head
	} else {
		c.Link(i)
	}
	c.Last, c.Tail, c.Next = slot, head, Low(word)
	c.N++
}

// Link makes the last slot link to i. In a chain that was a list before, it mostly does
// already.
func (c *Chain) Link(i uint32) {
	if c.Next != i {
		c.Last.Set(Pack(Generation(c.Tail), i))
		c.Next = i
	}
}

// Top returns the link for a slot that is put before the first.
func (c *Chain) Top() uint32 {
	if c.N == 0 {
		return None
	}
	return Low(c.First)
}

// NoteFirst notes that slot i, whose word is word, was put before the first slot.
func (c *Chain) NoteFirst(slot *Hook, i uint32, word uint64) {
	head := Pack(Generation(word), i)
	if c.N == 0 {
		c.Last, c.Tail, c.Next = slot, head, Low(word)
	}
	c.First = head
	c.N++
}

// Concat puts the slots of o behind those of c.
func (c *Chain) Concat(o *Chain) {
	if c.N == 0 {
		*c = *o
	} else if o.N > 0 {
		c.Link(Low(o.First))
		c.Last, c.Tail, c.Next, c.N = o.Last, o.Tail, o.Next, c.N+o.N
	}
}

// Finish makes c a list that can be spliced: its head has the first slot's generation, and its
// last slot links to None, as one does that is not known.
func (c *Chain) Finish(table *Table) {
	i := Low(c.First)
	c.First = Pack(Generation(table.Slot(i).Word.Load()), i)
	if c.Last != nil {
		c.Link(None)
	}
}

// FindLast finds the last slot of c, which is not known, by a visit to each.
func (c *Chain) FindLast(table *Table) {
	i := Low(c.First)
	cost.Slots(int(c.N))
	for n := c.N; n > 0; n-- {
		c.Last = table.Slot(i)
		word := c.Last.Word.Load()
		c.Tail, c.Next = Pack(Generation(word), i), Low(word)
		i = Low(word)
	}
}

// TakeFirst takes the first slot out of c, which has one, and returns it with its index and
// word. It visits the slot alone: c.First has the next one's index, and not its generation,
// which only a freelist's head needs.
func (c *Chain) TakeFirst(table *Table) (slot *Hook, i uint32, word uint64) {
	cost.Slots(1)
	i = Low(c.First)
	slot = table.Slot(i)
	word = slot.Word.Load()
	if c.N--; c.N == 0 {
		*c = Chain{}
		return slot, i, word
	}
	c.First = uint64(Low(word))
	return slot, i, word
}

// Reverse puts the slots of c, which has some, into the opposite order. It loads the table once, which has the memory of
// all slots of a chain. A loop of TakeFirst takes 85 instructions a slot, and Reverse takes 20.
func (c *Chain) Reverse(table *Table) {
	cost.Slots(int(c.N))
	t, next, n := table.Pages(), Low(c.First), c.N
	last := t.At(next)
	*c = Chain{Last: last, Tail: Pack(Generation(last.Word.Load()), next), Next: None, N: n}
	link := uint32(None)
	for range n {
		i := next
		slot := t.At(i)
		word := slot.Word.Load()
		slot.Set(Pack(Generation(word), link))
		c.First = Pack(Generation(word), i)
		next, link = Low(word), i
	}
}
