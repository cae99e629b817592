package shard

// The door for snapshots: what a pool's slots are, read while others use them, and
// a pool's lists, built anew from that.
//
// The generation of a slot says all that a snapshot must know: odd, and the slot
// is live with it; even, and no handle beyond the next odd one was ever issued,
// because a slot's owner has the handle of the very next life (I2). So restoring a
// vacant slot burns that one life, and it does not matter who had the slot: a
// freelist, limbo, a Worker, a reservation, a Ref.
//
// Everything from Load on is for one goroutine that builds a pool which nobody
// else has seen. Its stores are atomic because the words are, not because
// anybody looks.

// Handed returns how many slots have been handed out: the others have the indexes
// from there on, and no handle names one of them. Every slot below lies below
// the Limit of a table that is loaded after the call.
func (t *Table[T]) Handed() uint64 { return t.next.Load() }

// Generations stores the generations of the slots from index first on in dst, up to
// the end of first's page, and returns these slots. One that was handed out and
// never went live counts as vacant before its first life; those of a page without
// memory have its floor. Values of live ones may be read by who has a guard pinned
// since before the call.
func (sp *Space[T]) Generations(t *Pages, first uint32, dst []uint32) []Slot[T] {
	slots := Block[T](t, first, uint32(len(dst)))
	if floor, gone := t.Floor(first); gone {
		for j := range slots {
			dst[j] = floor
		}
		return slots
	}
	for j := range slots {
		g := Generation(slots[j].Word.Load()) // observes (P1)
		dst[j] = max(g, sp.First-1)
	}
	return slots
}

// Extend hands out the slots below n, which must not be more than there may be, and
// sees that they have memory.
func (t *Table[T]) Extend(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uint64(t.Pages().Limit) < n {
		t.addPage(t.Pages())
	}
	t.next.Store(max(n, t.next.Load()))
}

// Load gives slot i, which was handed out, a generation. A live one has its value
// already; what is vacant has none.
func (sp *Space[T]) Load(i, generation uint32) {
	slot := sp.Slot(i)
	if generation%2 == 1 {
		slot.Word.Store(Pack(generation, i))
		return
	}
	clear1(&slot.Value)
	slot.Word.Store(Pack(generation, None))
}

// Census counts the slots that were handed out.
type Census struct{ Live, Vacant, Exhausted uint64 }

// Burn ends the life that each vacant slot might have been promised to somebody
// for, and counts. A slot without another life is exhausted.
func (sp *Space[T]) Burn() (c Census) {
	for i := range uint32(sp.Table.Handed()) {
		slot := sp.Slot(i)
		switch g := Generation(slot.Word.Load()); {
		case g%2 == 1:
			c.Live++
		case g < LastGeneration-1:
			c.Vacant++
			slot.Word.Store(Pack(g+2, None))
		default:
			c.Exhausted++
			slot.Word.Store(Pack(Spent, None))
		}
	}
	sp.Spent.Store(int64(c.Exhausted))
	sp.Exhausted.Store(int64(c.Exhausted))
	return c
}

// Stock makes shards the shards of the space and puts the vacant slots on their
// freelists, in equal parts. c is what Burn counted. The pool may have capacity
// values, or any number if that is 0; FIFO keeps minFree slots back. Every
// shard's queue gets a dummy as long as there are slots.
func (sp *Space[T]) Stock(shards []Shard[T], c Census, capacity, minFree uint64) {
	for k := range shards {
		shards[k].attach(sp, k)
	}
	var credits uint64
	if sp.FIFO {
		c.Vacant += sp.reserve(c, uint64(len(shards)), capacity, minFree)
		credits = sp.credits(c, uint64(len(shards)), capacity, minFree)
	}
	n := uint64(len(shards))
	i := uint32(0)
	for k := range n {
		var r run[T]
		for range part(c.Vacant, k, n) {
			i = sp.nextVacant(i)
			slot := sp.Slot(i)
			r.add(slot, i, slot.Word.Load())
			i++
		}
		if r.n == 0 {
			continue
		}
		if !sp.FIFO {
			shards[k].pushRun(&r)
			continue
		}
		shards[k].appendRun(&r)
		shards[k].GiveCredit(int64(part(credits, k, n)))
	}
}

// nextVacant returns the first vacant slot from i on. There must be one.
func (sp *Space[T]) nextVacant(i uint32) uint32 {
	for {
		if g := Generation(sp.Slot(i).Word.Load()); g%2 == 0 && g != Spent {
			return i
		}
		i++
	}
}

// part returns the size of the k-th of n nearly equal parts of all.
func part(all, k, n uint64) uint64 { return all*(k+1)/n - all*k/n }

// reserve adds slots that were never used to those that are vacant, until there is a
// dummy for each of n queues, and in a bounded pool no more left than values to
// come, or else minFree beside the dummies. It returns how many.
func (sp *Space[T]) reserve(c Census, n, capacity, minFree uint64) (added uint64) {
	want := n + minFree
	if capacity > 0 {
		// Each slot that is left in the table comes with the right to it.
		others := c.Vacant + sp.Table.Left()
		want = max(n, others-min(others, capacity-c.Live))
	}
	for c.Vacant+added < want {
		sp.Table.Provide(want - c.Vacant - added)
		lo, hi := sp.Table.Allot(uint32(want - c.Vacant - added))
		if lo == hi {
			break
		}
		for i := lo; i < hi; i++ {
			sp.Slot(i).Word.Store(Pack(sp.First-1, None))
		}
		added += uint64(hi - lo)
	}
	return added
}

// credits returns how many of the vacant slots may be handed out, and sets the
// reserve to those that are kept back beside n dummies (I9).
func (sp *Space[T]) credits(c Census, n, capacity, minFree uint64) (credits uint64) {
	free := c.Vacant - min(c.Vacant, n)
	if capacity == 0 {
		kept := min(free, minFree)
		sp.Reserve.Store(int64(kept))
		return free - kept
	}
	come := capacity - c.Live // c.Live ≤ capacity
	credits = min(free, come-min(come, sp.Table.Left()))
	sp.Reserve.Store(int64(free - credits))
	return credits
}
