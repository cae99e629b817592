package main

// Seeds against Trim: pages that go with something in them, that come back as
// they were, or that are looked for where they were.

const (
	trimFile   = "shard/trim.go"
	absentFile = "shard/absent.go"
)

var trimSeeds = []seed{
	{
		name: "a page goes although a slot of it is missing", attacks: "I11, L7",
		edits: []edit{{trimFile, "uint64(got) == t.arena.Table.slotsIn(t.pages, k) &&", "uint64(got)+1 >= t.arena.Table.slotsIn(t.pages, k) &&"}},
		by:    []string{"Trim of a full pool's only free slots"},
		quick: true,
	},
	{
		name: "a floor is the oldest generation and no more", attacks: "I11",
		edits: []edit{{trimFile, "floor: f.oldest}", "floor: f.oldest - 2}"}},
		by:    []string{"Trim against insert and remove"},
		quick: true,
	},
	{
		name: "a floor is the first slot's generation", attacks: "I11, I2",
		edits: []edit{{trimFile, "f.oldest = max(f.oldest, g+2)", "f.oldest = g + 2"}},
		by:    []string{"Trim of slots that have lived unequally long"},
	},
	{
		name: "a page comes back as new", row: 11, attacks: "I11, I2",
		edits: []edit{{absentFile, "page[i].Word.Store(Pack(a.floor, None))", "page[i].Word.Store(Pack(0, None))"}},
		by:    []string{"pages come back to two inserters, and go again", "a guard sees what comes back"},
		quick: true,
	},
	{
		name: "what Trim puts back is as old as it was", row: 5, attacks: "I5",
		edits: []edit{{trimFile, "\tword = Pack(g+2, Low(word))", "\tword = Pack(g, Low(word))"}},
		by:    []string{"Trim against insert and remove"},
	},
	{
		name: "Trim takes a stack by load and store", attacks: "I1",
		edits: []edit{{trimFile, "for top != emptyList && !s.free.CompareAndSwap(top, emptyList) {\n\t\ttop = s.free.Load() // somebody got a slot or gave one\n\t}",
			"if top != emptyList {\n\t\ts.free.Store(emptyList)\n\t}"}},
		by: []string{"Trim against insert and remove", "Trim of a full pool's only free slots"},
	},
	{
		name: "Trim takes what the table has left by load and store", attacks: "I1",
		edits: []edit{{trimFile, "if lo < hi && t.completes(lo, hi) && tab.next.CompareAndSwap(lo, hi) {", "if lo < hi && t.completes(lo, hi) {\n\t\ttab.next.Store(hi)"}},
		by:    []string{"Trim of pages that were never used"},
	},
	{
		name: "Trim takes a page that is coming back by load and store", attacks: "I1",
		edits: []edit{{trimFile, "\t\ttab.again.CompareAndSwap(r, Pack(Low(r), Low(r))) {\n", "\t\ttrue {\n\t\ttab.again.Store(Pack(Low(r), Low(r)))\n"}},
		by:    []string{"pages come back to two inserters, and go again"},
	},
	{
		name: "an insertion does not wait for Trim before it gives up", attacks: "Insert",
		edits: []edit{{trimFile, "\tif n&1 == 0 && a.trims.Load() == n {\n", "\tif true {\n"}},
		by:    []string{"Trim of a full pool's only free slots"},
		quick: true,
	},
	{
		name: "an insertion waits only for a Trim that it saw begin", attacks: "Insert",
		edits: []edit{{trimFile, "\tif n&1 == 0 && a.trims.Load() == n {\n", "\tif n&1 == 0 {\n"}},
		by:    []string{"Trim of the only free slots, which lie in another shard"},
	},
	{
		name: "a pop goes by a table from before the list", attacks: "P2, L7",
		edits: []edit{
			{stackFile, "\t\tt := s.arena.Table.Pages() // observes (P2)\n", ""},
			{stackFile, "\t\ttop := s.free.Load() // observes (P3)\n\t\ti := Low(top)\n", "\t\tt := s.arena.Table.Pages()\n\t\ttop := s.free.Load() // observes (P3)\n\t\ti := Low(top)\n"},
		},
		by:   []string{"an insertion is overtaken by growth"},
		ends: panics,
	},
	{
		name: "a queue's link goes by the table of its top", attacks: "P2, L7",
		edits: []edit{{stackFile, "\t\t\tif s.fifo {\n\t\t\t\tt = s.arena.Table.Pages() // a queue's links are newer than its top\n\t\t\t}\n", ""}},
		by:    []string{"FIFO: a page comes back behind a pop"},
	},
	{
		name: "a Worker goes by an old table", attacks: "P2, L7",
		edits: []edit{{magazineFile, "m.pages.Now.Load() != m.table || ", ""}},
		by:    []string{"a Worker's copy of the table, before and after"},
		quick: true,
	},
	{
		name: "the void is born with zero words", attacks: "I4",
		edits: []edit{{absentFile, "v[i].Word.Store(Pack(0, None))", "v[i].Word.Store(0)"}},
		by:    []string{"the zero handle in a page that is away"},
		quick: true,
	},
	{
		name: "the range that comes back is one slot short", attacks: "L4",
		edits: []edit{{absentFile, "\tt.again.Store(Pack(lo, lo+n))\n", "\tt.again.Store(Pack(lo+1, lo+n))\n"}},
		by:    []string{"a guard sees what comes back"},
	},
	{
		name: "a page that came back and was not offered is offered and gone", attacks: "L7, I3",
		edits: []edit{{absentFile, "\tpages := t.back\n\tt.back = nil\n", "\tpages := t.back\n"}},
		by:    []string{"pages that came back together are offered, or go again"},
		quick: true,
	},
	{
		name: "of pages that came back together one is offered", attacks: "L4", ends: stuck,
		edits: []edit{{absentFile, "\tt.back = append(t.back, pages...)\n", "\tt.back = append(t.back, pages[:1]...)\n"}},
		by:    []string{"pages that came back together, and two inserters"},
	},
	{
		name: "Trim leaves a queue without its dummy", attacks: "I9",
		edits: []edit{{queueFile, "return 1 + q.arena.keeps(q.at)", "return q.arena.keeps(q.at)"}},
		by:    []string{"Trim under FIFO", "Trim of two queues"},
	},
	{
		name: "Trim leaves a queue without its reserve", attacks: "I9",
		edits: []edit{{queueFile, "return 1 + q.arena.keeps(q.at)", "return 1"}},
		by:    []string{"Trim under FIFO", "Trim of two queues"},
	},
	{
		name: "Trim gives each queue what it had", in: shardPackage, attacks: "I9",
		edits: []edit{{trimFile, "to.run.n < needs; {", "to.run.n < needs && false; {"}},
		tests: []string{"TestTrimKeepsTheOrderOfEachList"},
	},
	{
		name: "Trim leaves what is kept back in its place", attacks: "I3",
		edits: []edit{{queueFile, "q.tail, q.rest = None, chain[T]{}", "q.tail = None"}},
		by:    []string{"Trim under FIFO"},
		quick: true,
	},
	{
		name: "a queue is taken without its lock", attacks: "I1, L7",
		edits: []edit{
			{queueFile, "\tif !q.mu.TryLock() {\n\t\treturn false\n\t}\n\tif q.tail == None {", "\tif q.tail == None {"},
			{queueFile, "without a dummy yet\n\t\tq.mu.Unlock()\n", "without a dummy yet\n"},
			{trimFile, "\t\t\tdefer s.list.release()\n", ""},
		},
		by: []string{"Trim under FIFO", "Trim of two queues"},
	},
}
