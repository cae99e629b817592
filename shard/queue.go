package shard

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
// lags. Here slots are appended only under the shard's lock, which admits one
// goroutine at a time; nobody waits for it, so the queue needs none of that: the
// appender stores one link, and tail and rest are plain fields. Taking is Pop, as for
// the stack, and right for the same reason (I5).

// fillQueue gives the queue its dummy and its part of the reserve, n slots.
func (s *shard[T]) fillQueue(n int) {
	a := s.arena
	lo, hi := a.Table.Allot(uint32(n + 1)) // in one piece: nobody else takes any yet
	var c chain[T]
	for i := lo; i < hi; i++ {
		slot := a.slot(i)
		word := Pack(a.First-1, None)
		slot.set(word)
		c.append(slot, i, word)
	}
	s.enqueue(&c)
}

// enqueue puts c behind what is kept back, and what rested before at the queue's end as far
// as it can be spared. The caller holds mu.
//
// A queue of a restored pool may have no slot at all, if there were fewer than
// shards. Then the first slot is the dummy.
func (s *shard[T]) enqueue(c *chain[T]) {
	if c.n == 0 {
		return
	}
	c.link(None)
	if s.tail == None {
		dummy := c.cut(s.arena, 1)
		dummy.link(None)
		s.free.Store(dummy.first) // publishes (P3); Pop leaves a queue without slots alone
		s.tail = Low(dummy.tail)
	}
	keeps := s.arena.keeps(s.at)
	ready := s.rest
	switch {
	case keeps == 0:
		s.rest = chain[T]{}
		ready.concat(c)
		s.append(&ready)
	case c.n >= keeps:
		s.rest = *c
		s.append(&ready)
	default:
		if s.rest.concat(c); s.rest.n > keeps+Batch {
			s.keepLess()
		}
	}
	s.resting.Store(s.rest.n)
}

// keepLess puts what is kept back too much at the queue's end, up to reclaimMost slots.
// The caller holds mu.
func (s *shard[T]) keepLess() {
	if keeps := s.arena.keeps(s.at); s.rest.n > keeps {
		ready := s.rest.cut(s.arena, min(s.rest.n-keeps, reclaimMost))
		s.append(&ready)
		s.resting.Store(s.rest.n)
	}
}

// append puts c at the queue's end. It counts as a seal, so that an insertion which finds
// neither the slots at rest nor in the queue looks again (bare). The caller holds mu.
func (s *shard[T]) append(c *chain[T]) {
	if c.n > 0 {
		s.seals.Add(1)
		c.link(None)
		tail := s.arena.slot(s.tail)
		// A plain read-modify-write of the tail's word is right: it has no link, so
		// it cannot be popped, and only the holder of mu links it. The store
		// publishes (P3).
		tail.set(Pack(Generation(tail.Word.Load()), Low(c.first)))
		s.tail = Low(c.tail)
	}
}

// hasDummy reports whether the shard has a queue, with a slot in it.
func (s *shard[T]) hasDummy() bool { return s.fifo && s.free.Load() != emptyList }

// keepsTooMuch reports whether more slots rest than the reserve wants.
func (s *shard[T]) keepsTooMuch() bool { return s.fifo && s.resting.Load() > s.arena.keeps(s.at) }
