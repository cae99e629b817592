package shard

// Trim under FIFO. A queue is taken slot by slot, and only under its shard's
// token, because what is not wanted goes to its end and there is one appender at a
// time. A shard whose token somebody has is left alone.
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
			s.token.Store(0)
		}
	}()
	for i := range shards {
		switch s := &shards[i]; {
		case !s.token.CompareAndSwap(0, 1):
		case s.tail == None: // of a restored pool, and without a dummy yet
			s.token.Store(0)
		default:
			mine = append(mine, s)
		}
	}
	if len(mine) == 0 {
		return 0
	}
	var bare []*Shard[T] // of whose slots only a wanted dummy is left
	for _, s := range mine {
		if !t.takeQueue(s) {
			bare = append(bare, s)
		}
	}
	for _, s := range bare {
		t.replaceDummy(s, mine)
	}
	t.takeRest()
	return t.finish(shards, mine[0])
}

// takeQueue takes the wanted slots of the queue and the range of s, and answers
// whether its dummy was, or need not be, among them.
func (t *trimmer[T]) takeQueue(s *Shard[T]) bool {
	var back run[T]
	t.takeRange(s, &back)
	for slot, h := s.Pop(); slot != nil; slot, h = s.Pop() {
		if f := t.keep(slot, Low(h)); f != nil {
			f.free++
		} else {
			t.burn(&back, slot, Low(h))
		}
	}
	s.appendRun(&back)
	return t.passDummy(s)
}

// passDummy takes the dummy of s if it is wanted and another slot can be the
// dummy, which all behind it are fit for. It answers whether the dummy may stay.
func (t *trimmer[T]) passDummy(s *Shard[T]) bool {
	at := Low(s.free.Load())
	if t.page(at) == nil {
		return true
	}
	slot, h := s.Pop()
	if slot == nil {
		return false
	}
	if f := t.keep(slot, Low(h)); f != nil {
		f.free++
		return true
	}
	// Somebody was faster, and the dummy is another.
	var back run[T]
	t.burn(&back, slot, Low(h))
	s.appendRun(&back)
	return true
}

// replaceDummy gives s a slot of another shard's queue, to be its dummy in place
// of the one that is wanted.
func (t *trimmer[T]) replaceDummy(s *Shard[T], from []*Shard[T]) {
	for _, o := range from {
		if o == s || t.page(Low(o.free.Load())) != nil {
			continue // it has none either
		}
		if slot, h := o.Pop(); slot != nil {
			var back run[T]
			t.burn(&back, slot, Low(h))
			if back.n > 0 {
				s.appendRun(&back)
				t.passDummy(s)
			}
			return
		}
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
