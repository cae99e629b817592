package shard

// Trim under FIFO. A queue is taken only under its shard's lock, dummy included:
// nobody appends meanwhile, so that the head's compare-and-swap takes it whole, and
// what goes back is appended to an empty queue. A shard whose lock is held is left
// alone.
//
// Credits say how many free slots there are beyond the reserve (I9). Slots that
// Trim has in its hands keep their credits, so that an insertion may have one and
// find no slot; it then waits for Trim as any other that finds nothing. Only what
// is given up has its credits taken.

// takeQueues does what Trim does, for shards that keep queues.
func (t *trimmer[T]) takeQueues(shards []Shard[T]) int64 {
	var mine []*Shard[T]
	defer func() {
		for _, s := range mine {
			s.mu.Unlock()
		}
	}()
	for i := range shards {
		switch s := &shards[i]; {
		case !s.mu.TryLock():
		case s.tail == None: // of a restored pool, and without a dummy yet
			s.mu.Unlock()
		default:
			mine = append(mine, s)
		}
	}
	if len(mine) == 0 {
		return 0
	}
	for _, s := range mine {
		t.take(s)
		s.tail = None
	}
	return t.finish(shards)
}

// canSpare reports whether page f, which is here whole, may be given up. Under FIFO
// its credits must be there to be taken, which leaves the reserve, and each queue
// keeps a dummy.
func (t *trimmer[T]) canSpare(shards []Shard[T], f *found) bool {
	return !t.space.FIFO ||
		t.stays-int(f.got) >= len(t.taken) && takeCredits(shards, int64(f.got-f.rest))
}

// appendAll gives back what is here of queues, slots that were never used first.
// What the table had not handed out comes with the right to it.
func (t *trimmer[T]) appendAll() {
	first := &t.taken[0]
	first.from.GiveCredit(int64(t.rest.n))
	t.rest.concat(&first.run)
	first.run = t.rest.run
	t.shareDummies()
	for i := range t.taken {
		t.taken[i].from.appendRun(&t.taken[i].run)
	}
}

// shareDummies gives each queue of which nothing is left a slot of another's, to be
// its dummy. There are as many slots as queues (canSpare).
func (t *trimmer[T]) shareDummies() {
	from := 0
	for i := range t.taken {
		to := &t.taken[i]
		if to.n > 0 {
			continue
		}
		for t.taken[from].n < 2 {
			from++
		}
		slot, at := t.shift(&t.taken[from].run)
		to.add(slot, at, slot.Word.Load())
	}
}

// takeCredits takes the rights to n free slots, or none.
func takeCredits[T any](shards []Shard[T], n int64) bool {
	had := int64(0)
	for i := range shards {
		for s := &shards[i]; had < n && s.TakeCredit(); {
			had++
		}
	}
	if had < n {
		shards[0].GiveCredit(had)
	}
	return had == n
}
