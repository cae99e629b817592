package shard

// A snapshot reads what a pool's slots are while others use them, and a restored pool's lists
// are built from that.
//
// A slot's generation says all that a snapshot must know. If it is odd, the slot is live with
// it. If it is even, no handle beyond the next odd generation was ever issued, because a
// slot's owner has the handle of the very next life (I2). So a restored vacant slot burns that
// one life, whether it was in a freelist, in limbo, or with a Worker, a Reservation or a Ref.
//
// From Load on, the methods are for the goroutine that builds a pool which no other has seen.
// Their stores are atomic only because the words are.

// Handed returns how many slots have been handed out. No handle names a slot with a greater
// index. Every slot below lies below the Limit of a table that is loaded after the call.
func (a *Arena[T]) Handed() uint64 { return a.Table.next.Load() }

// Generations stores the generations of the slots from index first on in dst, up to the end of
// first's page, and returns these slots. A slot that never went live counts as vacant before
// its first life; slots of a page without memory have its floor. The values of live slots may
// be read under a guard that was pinned before the call.
func (a *Arena[T]) Generations(t *PageTable, first uint32, dst []uint32) []Slot[T] {
	slots := Block[T](t, first, uint32(len(dst)))
	if floor, gone := t.Floor(first); gone {
		for j := range slots {
			dst[j] = floor
		}
		return slots
	}
	for j := range slots {
		g := Generation(slots[j].Word.Load()) // observes (P1)
		dst[j] = max(g, a.First-1)
	}
	return slots
}

// Extend hands out the slots below n, which must not be more than there may be, and gives them
// memory.
func (a *Arena[T]) Extend(n uint64) {
	t := &a.Table
	t.mu.Lock()
	defer t.mu.Unlock()
	for uint64(t.Pages().Limit) < n {
		t.addPage(t.Pages())
	}
	t.next.Store(max(n, t.next.Load()))
}

// Load gives slot i, which was handed out, a generation. A live slot has its value already.
func (a *Arena[T]) Load(i, generation uint32) {
	slot := a.slot(i)
	if generation%2 == 1 {
		slot.Publish(Pack(generation, i))
		return
	}
	clear1(&slot.Value)
	slot.set(Pack(generation, None))
}

// Census counts the slots that were handed out.
type Census struct{ Live, Vacant, Exhausted uint64 }

// Burn ends the next life of each vacant slot, which another goroutine may have been promised,
// and counts. A slot without another life is exhausted.
func (a *Arena[T]) Burn() (c Census) {
	for i := range uint32(a.Handed()) {
		slot := a.slot(i)
		switch g := Generation(slot.Word.Load()); {
		case g%2 == 1:
			c.Live++
		case g < LastGeneration-1:
			c.Vacant++
			slot.set(Pack(g+2, None))
		default:
			c.Exhausted++
			slot.set(Pack(Spent, None))
		}
	}
	a.spent.Store(int64(c.Exhausted))
	a.exhausted.Store(int64(c.Exhausted))
	return c
}

// Value returns the value of slot i, which was handed out.
func (a *Arena[T]) Value(i uint32) *T { return &a.slot(i).Value }

// Loaded returns the generation of slot i, which was handed out.
func (a *Arena[T]) Loaded(i uint32) uint32 { return Generation(a.slot(i).Word.Load()) }

// Stock puts the vacant slots on the shards' freelists, in equal parts. c is Burn's result.
// Each queue gets a dummy while there are slots, and its part of the reserve.
func (a *Arena[T]) Stock(c Census) {
	n := uint64(len(a.shards))
	dummies, ready := uint64(0), c.Vacant
	if a.FIFO {
		c.Vacant += a.restoreReserve(c)
		dummies = min(c.Vacant, n)
		ready = c.Vacant - dummies - uint64(a.reserve.Load())
	}
	i := uint32(0)
	for k := range a.shards {
		s := &a.shards[k]
		s.attach(a, k)
		want := uint64(share(int(ready), k, len(a.shards)))
		want += uint64(share(int(dummies), k, len(a.shards))) + uint64(a.keeps(s.at))
		var list chain[T]
		for range want {
			i = a.nextVacant(i)
			slot := a.slot(i)
			list.append(slot, i, slot.Word.Load())
			i++
		}
		s.list.put(list) // no other goroutine has the arena yet
		for s.list.keepLess() {
		}
	}
	a.preallocate()
}

// nextVacant returns the first vacant slot from i on. There must be one.
func (a *Arena[T]) nextVacant(i uint32) uint32 {
	for {
		if g := a.Loaded(i); g%2 == 0 && g != Spent {
			return i
		}
		i++
	}
}

// restoreReserve sets the reserve: MinFree slots beside n dummies, or in a bounded pool as
// many as leave no more than there are values to come. It adds slots that were never used
// until there are so many, and returns how many it added.
func (a *Arena[T]) restoreReserve(c Census) (added uint64) {
	n := uint64(len(a.shards))
	want := n + uint64(a.MinFree)
	if a.Capacity > 0 {
		// What is left in the table can be handed out, so it counts among those to come.
		others := c.Vacant + a.Table.Left()
		want = max(n, others-min(others, a.Capacity-c.Live)) // c.Live ≤ Capacity
	}
	for c.Vacant+added < want {
		a.Table.Provide(want - c.Vacant - added)
		lo, hi := a.Table.Allot(uint32(want - c.Vacant - added))
		if lo == hi {
			break
		}
		for i := lo; i < hi; i++ {
			a.slot(i).set(Pack(a.First-1, None))
		}
		added += uint64(hi - lo)
	}
	vacant := c.Vacant + added
	reserve := vacant - min(vacant, n)
	if a.Capacity > 0 {
		come := a.Capacity - c.Live
		reserve -= min(reserve, come-min(come, a.Table.Left()))
	} else {
		reserve = min(reserve, uint64(a.MinFree))
	}
	a.reserve.Store(int64(reserve))
	return added
}
