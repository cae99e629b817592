package main

// Seeds against slots that were never used, and the pages that they come from.

const (
	freshFile = "shard/fresh.go"
	pagesFile = "shard/pages.go"
)

var freshSeeds = []seed{
	{
		name: "a fresh slot is taken by load and store", attacks: "I3",
		edits: []edit{{freshFile,
			"if s.fresh.CompareAndSwap(f, f+uint64(count)<<32) {",
			"if s.fresh.Store(f + uint64(count)<<32); true {"}},
		by:    []string{"growth of a pool with two shards"},
		quick: true,
	},
	{
		name: "a range is replaced before it is empty", attacks: "L4",
		edits: []edit{{freshFile, "\t\tif s.unclaimed() > 0 {\n\t\t\tn = 1 // looked at under the lock: only its holder makes a range\n\t\t}\n", ""}},
		by:    []string{"growth"},
	},
	{
		name: "a range is looked at before the lock is taken", attacks: "L4",
		edits: []edit{
			{freshFile, "\tif a.Table.Left()", "\tsome := s.unclaimed() > 0\n\tif a.Table.Left()"},
			{freshFile, "\t\tif s.unclaimed() > 0 {\n", "\t\tif some {\n"},
		},
		by: []string{"growth", "growth of a pool with two shards", "insert, remove and get"},
	},
	{
		name: "a range is made without the lock", attacks: "L4",
		edits: []edit{
			{freshFile, " || !s.filling.TryLock() {", " {"},
			{freshFile, "\t\tdefer s.filling.Unlock()\n", ""},
		},
		by: []string{"growth"},
	},
	{
		name: "the table allots by load and store", attacks: "I3",
		edits: []edit{{pagesFile,
			"\t\tif t.next.CompareAndSwap(first, last) {",
			"\t\tif t.next.Store(last); true {"}},
		by: []string{"growth"},
	},
	{
		name: "the first page is born with zero words", attacks: "I4",
		edits: []edit{{pagesFile, "\tif k == 0 {\n\t\tpage[0].Word.Store(Pack(0, None)) // or it would equal the zero Handle (I4)\n\t}\n", ""}},
		by:    []string{"the zero handle in a pool's first page"},
		quick: true,
	},
	{
		name: "a guard keeps the table that it found", attacks: "P2",
		edits: []edit{{"pool/guard.go", "\tg.table = &p.arena.Table.Current\n", "\tg.table = new(atom.Pointer[shard.Pages])\n\tg.table.Store(p.arena.Table.Pages())\n"}},
		by:    []string{"growth"},
		quick: true,
	},
}
