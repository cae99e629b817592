package shard

// Trim under FIFO. A queue is taken only under its shard's lock, dummy and reserve
// included: nobody appends meanwhile, so that the head's compare-and-swap takes it
// whole, and what goes back is appended to an empty queue. A shard whose lock is held is
// left alone.
//
// Each queue gets back its dummy and its part of the reserve (I9), if not of its own
// slots then of another's: otherwise more values could be live than Capacity.

// takeQueues does what Trim does, for shards that keep queues.
func (t *trimmer[T]) takeQueues() int64 {
	var mine []*shard[T]
	defer func() {
		for _, s := range mine {
			s.mu.Unlock()
		}
	}()
	for i := range t.arena.shards {
		switch s := &t.arena.shards[i]; {
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
	}
	return t.finish()
}

// needs returns how many slots a queue must get back.
func (l *taken[T]) needs() uint32 { return 1 + l.from.arena.keeps(l.from.at) }

// needed returns how many slots must stay.
func (t *trimmer[T]) needed() (n int) {
	if t.arena.FIFO {
		for i := range t.taken {
			n += int(t.taken[i].needs())
		}
	}
	return n
}

// appendAll gives back what is here of queues, slots that were never used first. A
// queue that has less than it needs gets the first slots of others.
func (t *trimmer[T]) appendAll() {
	first := &t.taken[0]
	t.rest.run.concat(&first.run)
	first.run = t.rest.run
	from := 0
	for i := range t.taken {
		for to := &t.taken[i]; to.run.n < to.needs(); {
			rich := &t.taken[from]
			if rich.run.n <= rich.needs() {
				from++
				continue
			}
			n := min(rich.run.n-rich.needs(), to.needs()-to.run.n)
			some := rich.run.cut(t.arena, n)
			to.run.concat(&some)
		}
	}
	for i := range t.taken {
		t.taken[i].from.enqueue(&t.taken[i].run)
	}
}
