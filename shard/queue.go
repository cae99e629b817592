package shard

// The freelist, FIFO: a queue of vacant slots, linked through their words.
//
//	free ─▶ dummy ─▶ slot ─▶ slot ─▶ … ─▶ tail ─▶ None
//
// What is handed out is the dummy; the slot behind it becomes the new one. So a
// queue always keeps one slot, and a queue of one is empty.
//
// Michael's and Scott's queue lets anybody append, which takes a
// compare-and-swap on a null link, null links that carry tags, and a tail that
// lags. Here slots are appended only under the shard's lock, which admits one
// goroutine at a time; nobody waits for it, so the queue needs none of that: the
// appender stores one link, and tail is a plain field. Taking is Pop, as for the
// stack, and right for the same reason (I5).

// initQueue gives the queue its dummy and its share of the reserve: n slots,
// which are handed out when others have been removed in their place.
func (s *Shard[T]) initQueue(n int) bool {
	lo, hi := s.space.Table.Allot(uint32(n + 1))
	if lo == hi || int(hi-lo) != n+1 {
		return false
	}
	for i := lo; i < hi; i++ {
		next := i + 1
		if next == hi {
			next = None
		}
		s.space.Slot(i).Word.Store(Pack(s.space.First-1, next))
	}
	s.free.Store(Pack(s.space.First-1, lo))
	s.tail = hi - 1
	return true
}

// appendRun puts a run at the queue's end and returns how many slots more it can
// hand out. The caller holds mu.
//
// A queue of a restored pool may have no slot at all, if there were fewer than
// shards. Then the first of the run is the dummy. A plain store is right: Pop
// leaves a queue without slots alone.
func (s *Shard[T]) appendRun(r *run[T]) int {
	if r.n == 0 {
		return 0
	}
	r.link(None)
	if s.tail == None {
		s.free.Store(r.first) // publishes (P3)
		s.tail = r.lastAt
		return r.n - 1
	}
	tail := s.space.Slot(s.tail)
	// A plain read-modify-write of the tail's word is right: it has no link, so
	// it cannot be popped, and only the holder of mu links it. The store
	// publishes (P3).
	tail.Word.Store(Pack(Generation(tail.Word.Load()), Low(r.first)))
	s.tail = r.lastAt
	return r.n
}

// HasDummy answers whether the shard has a queue, with a slot in it.
func (s *Shard[T]) HasDummy() bool { return s.fifo && s.free.Load() != emptyList }

// TakeCredit takes the right to one free slot: while it is held, the pool has a
// slot for it and Reserve slots besides. Only FIFO gives credit.
func (s *Shard[T]) TakeCredit() bool {
	for {
		n := s.credit.Load()
		if n == 0 {
			return false
		}
		if s.credit.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// GiveCredit gives back or adds rights.
func (s *Shard[T]) GiveCredit(n int64) { s.credit.Add(n) }

// Credit returns how many rights there are.
func (s *Shard[T]) Credit() int64 { return s.credit.Load() }
