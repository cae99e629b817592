package slots

// The table of an arena that is restored from a snapshot. No other goroutine has it, so pages are added, and
// get memory or lose it, in place.
//
// A snapshot names pages that need no memory. They come to be without it, as if Trim had given them up
// (decommit.go). Their floor grows while the snapshot is read, and a page gets memory as soon as one of its
// slots turns out to need it. EndRestore ends their gaps, once.

// Extend hands out the slots below n, of which some were not handed out. Their pages must be there.
func (t *Table) Extend(n uint64) { t.next.Store(n) }

// ExtendVacant is Extend for slots that need no memory: it adds the pages that are missing, without memory.
func (t *Table) ExtendVacant(n uint64) {
	old := t.Pages()
	now, end := *old, uint64(old.Limit)
	for end < n {
		end += t.nextPage(end)
	}
	if end > uint64(old.Limit) {
		if t.stub == nil {
			t.stub = t.newStub()
		}
		now.Limit = uint32(end)
		if now.Units() > now.room {
			now.move(old, max(now.Units(), 2*old.room)) // a snapshot has many such runs; EndRestore makes it fit
		}
		now.metas = longer(old.metas, int(now.MetaOf(now.Limit-1))+1)
		for first := uint64(old.Limit); first < end; first += t.nextPage(first) {
			now.hide(t, uint32(first), uint32(t.nextPage(first)), 2) // no less: 0 is no floor
		}
		now.keep()
		t.Current.Store(&now)
	}
	t.next.Store(max(n, t.Allocated()))
}

// hide shows the stub in place of the page of n slots from first on, and gives them a floor.
func (t *PageTable) hide(table *Table, first, n, floor uint32) {
	t.show(&PageMeta{page: table.stub, FirstSlot: first, N: n, Floor: floor}, table.stub, 0)
	table.decommittedSlots.Add(int64(n))
}

// Vacate takes the memory of m's page, in which nothing lives. Its slots have the floor from now on.
func (t *Table) Vacate(m *PageMeta, floor uint32) {
	if t.stub == nil {
		t.stub = t.newStub()
	}
	t.Pages().hide(t, m.FirstSlot, m.N, floor)
}

// Occupy gives memory to m's page, which has none. Its slots below end get the floor, and the others are as if
// they were never used.
func (t *Table) Occupy(m *PageMeta, end uint32) {
	now := t.Pages()
	page, occupied := t.newPage(m.FirstSlot, m.N)
	if end > m.FirstSlot {
		t.layout.whole(page, uint64(min(end-m.FirstSlot, m.N))).vacate(&t.origins, m.FirstSlot, m.Floor) // I11
	}
	now.show(occupied, page, uintptr(now.Mask+1)*now.size)
	t.decommittedSlots.Add(-int64(m.N))
}

// EndRestore makes the pages without memory come back in the order of a list, from its end. They must be all
// that there are. If stub is false, there are none, and no stub.
func (t *Table) EndRestore(list []Decommitted, stub bool) {
	now := t.Pages()
	if t.decommitted = list; !stub {
		t.stub = nil
	} else if t.stub == nil {
		t.stub = t.newStub()
	}
	now.endGaps()
	if now.room > roomFor(now.Units()) {
		old := *now
		now.move(&old, now.Units())
	}
	if now.Limit > 0 {
		now.keep()
	}
}

// NextPage returns how many slots a page has that is added now.
func (t *Table) NextPage() uint64 { return t.nextPage(uint64(t.Pages().Limit)) }

// Restrict makes a number the most slots that there may be.
func (t *Table) Restrict(slots uint64) { t.max = slots }

// BeginAt makes slots that were never used begin with a live stage, up to LastStage, or with a later one.
func (t *Table) BeginAt(stage uint32) {
	t.first = max(t.first, t.origins.first-1+stage)
}

// FreshStage returns the first live stage of slots that were never used.
func (t *Table) FreshStage() uint32 { return t.first - (t.origins.first - 1) }
