package shard

// The freelist, LIFO: Treiber's stack of vacant slots, linked through their
// words; the head holds the top's generation and index.
//
// A stack whose head is an index alone breaks when three goroutines meet. A
// reads top X and its link Y, and is delayed. B pops X and Y; C's removal
// pushes X again. A's compare-and-swap finds X on top, succeeds, and makes Y the
// top, which B owns: Y is handed out twice.
//
// The usual cure is a counter beside the index. Here the slot's own generation
// is the tag. A slot enters a freelist at most once with a generation (I5),
// since between any two entries it was live or gave its generation up (Burn).
// So a head that still reads {generation, X} means that X has been in the list
// all the while, hence also that everything below it is unchanged, and the
// success of the compare-and-swap is a proof that needs no word about how often
// a counter may wrap.
//
// The use that tempts and is wrong: to push back a slot that was popped and not
// needed. It would enter a second time with one generation. It goes through
// Burn.

// Pop takes the freelist's first slot and returns it with the handle that it
// will have when it is live, or nil. It costs one locked instruction.
//
// The caller owns the slot then: it stores the handle into the word to publish
// the value, or calls Burn.
//
// The table is loaded after the top. A slot that stays in the list from then on
// has its memory where that table says; one that does not fails the
// compare-and-swap. With a table from before, the page might be one that was away
// then and has come back.
func (s *Shard[T]) Pop() (*Slot[T], uint64) {
	for {
		top := s.free.Load() // observes (P3)
		i := Low(top)
		if i == None {
			return nil, 0
		}
		t := s.space.Table.Pages() // observes (P2)
		slot := At[T](t, i)
		word := slot.Word.Load()
		if Generation(word) != Generation(top) {
			continue // popped since: somebody made progress
		}
		rest := emptyList
		if next := Low(word); next != None {
			if s.fifo {
				t = s.space.Table.Pages() // a queue's links are newer than its top
			}
			rest = Pack(Generation(At[T](t, next).Word.Load()), next)
		} else if s.fifo {
			return nil, 0 // the dummy stays
		}
		// Success proves that slot i never left the list since top was read, so
		// that rest is what lies below it. Failure means that another pop or a
		// push succeeded.
		if s.free.CompareAndSwap(top, rest) {
			return slot, top + generationStep
		}
		s.contend()
	}
}

// Insert pops a slot, gives it the value v and makes it live; it returns the
// handle, or 0 if the freelist is empty. It is Pop with what follows it: a call
// less after a locked instruction, which holds up the loads that bring arguments
// back. LIFO only.
func (s *Shard[T]) Insert(v T) uint64 {
	for {
		top := s.free.Load() // observes (P3)
		i := Low(top)
		if i == None {
			return 0
		}
		t := s.space.Table.Pages() // after the top, as in Pop; observes (P2)
		slot := At[T](t, i)
		word := slot.Word.Load()
		if Generation(word) != Generation(top) {
			continue // popped since, as in Pop: its link may lead outside t
		}
		rest := emptyList
		if next := Low(word); next != None {
			rest = Pack(Generation(At[T](t, next).Word.Load()), next)
		}
		if s.free.CompareAndSwap(top, rest) { // as in Pop
			slot.Value = v
			slot.Publish(top + generationStep)
			return top + generationStep
		}
		s.contend()
	}
}

// PopRun takes up to n slots at once and returns the first one's index and how
// many there are; their words link them. It must not be used under FIFO.
//
// The links that it follows are true if the top has not changed when they have
// been read, which is what the compare-and-swap proves; until then any of them
// may be stale, and only leads to another slot.
func (s *Shard[T]) PopRun(n int) (first uint32, count int) {
	for {
		top := s.free.Load() // observes (P3)
		first = Low(top)
		i := first
		for count = 0; count < n && i != None; count++ {
			i = Low(s.space.Slot(i).Word.Load())
		}
		if count == 0 {
			return None, 0
		}
		rest := emptyList
		if i != None {
			rest = Pack(Generation(s.space.Slot(i).Word.Load()), i)
		}
		if s.free.CompareAndSwap(top, rest) {
			return first, count
		}
	}
}

// run is a chain of vacant slots that its holder owns, in the order in which
// they will be handed out.
type run[T any] struct {
	first    uint64 // the first slot's generation and index
	last     *Slot[T]
	lastAt   uint32 // last's index
	lastWord uint64 // what last's word holds
	n        int
}

// add appends slot i, whose word is word.
func (r *run[T]) add(slot *Slot[T], i uint32, word uint64) {
	if r.n == 0 {
		r.first = Pack(Generation(word), i)
	} else {
		r.link(i)
	}
	r.last, r.lastAt, r.lastWord = slot, i, word
	r.n++
}

// link makes the last slot point to i. A run that was a list before mostly
// does so already.
func (r *run[T]) link(i uint32) {
	if Low(r.lastWord) != i {
		r.lastWord = Pack(Generation(r.lastWord), i)
		r.last.Word.Store(r.lastWord)
	}
}

// pushRun puts a run on top of the freelist with one compare-and-swap. The last
// slot's link is written anew at each try: the wrong version, which reads the
// top once, links to a slot that another push has buried or a pop has taken.
func (s *Shard[T]) pushRun(r *run[T]) {
	if r.n == 0 {
		return
	}
	for {
		top := s.free.Load()
		r.link(Low(top))
		if s.free.CompareAndSwap(top, r.first) { // publishes (P3)
			return
		}
	}
}

// Return gives back a slot that a Worker kept ready as h and did not use. It goes
// to the freelist at once, for nobody can have seen it. It may have been in a
// freelist with its generation, and must not enter one with it again (I5): so it
// gives it up.
func (s *Shard[T]) Return(slot *Slot[T], h uint64) {
	if Generation(h) != LastGeneration {
		s.pushOne(slot, Pack(Generation(h)+1, Low(h)))
		return
	}
	s.space.exhaust(slot)
}

// exhaust takes a slot that the caller owns, and that nobody can see, out of use
// for good.
func (sp *Space[T]) exhaust(slot *Slot[T]) {
	sp.Spent.Add(1)
	slot.Word.Store(Pack(Spent, None))
	clear1(&slot.Value)
	sp.Exhausted.Add(1)
}

// ReturnFresh is Return for a slot of a range, which was in no list with the
// generation that it has, and keeps it.
func (s *Shard[T]) ReturnFresh(i uint32) {
	slot := s.space.Slot(i)
	s.pushOne(slot, Pack(s.space.vacant(slot), i))
}

// pushOne makes a slot the freelist's top; top is its generation and index.
func (s *Shard[T]) pushOne(slot *Slot[T], top uint64) {
	var r run[T]
	r.add(slot, Low(top), Pack(Generation(top), None))
	slot.Word.Store(r.lastWord)
	s.pushRun(&r)
}
