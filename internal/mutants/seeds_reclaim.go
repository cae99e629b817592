package main

// Seeds against reclaiming: the token, the seal and its tag, the way back to the
// freelist, and waiting for it.

const (
	reclaimFile = "shard/reclaim.go"
	shardFile   = "shard/shard.go"
	spaceFile   = "shard/space.go"
)

var reclaimSeeds = []seed{
	{
		name: "a seal takes its tag before the swap", row: 1, attacks: "I6",
		edits: []edit{
			{reclaimFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.space.Domain.Retire()\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{reclaimFile, "tag: s.space.Domain.Retire()}", "tag: tag}"},
		},
		by:    []string{"seal against frontier"},
		quick: true,
	},
	{
		name: "a batch is reclaimed one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{reclaimFile, "s.sealed.tag >= s.space.Domain.Safe()", "s.sealed.tag > s.space.Domain.Safe()"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "a batch is reclaimed without a look at the guards", attacks: "I8",
		edits: []edit{{reclaimFile, "(!scan || !s.space.Domain.Passed(s.sealed.tag))", "!scan"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "the token is taken by load and store", attacks: "I3",
		edits: []edit{{reclaimFile,
			"\tif !s.token.CompareAndSwap(0, 1) {\n\t\treturn 0, false\n\t}\n",
			"\tif s.token.Load() != 0 {\n\t\treturn 0, false\n\t}\n\ts.token.Store(1)\n"}},
		by: []string{"two sealers", "arrears are more than one call moves", "two Synchronize", "seal against frontier"},
	},
	{
		name: "the token goes back before the batch is numbered done", attacks: "Synchronize",
		edits: []edit{
			{reclaimFile, "\tif s.sealed.n == 0 {\n\t\ts.done", "\ts.token.Store(0)\n\tif s.sealed.n == 0 {\n\t\ts.done"},
			{reclaimFile, "\t}\n\ts.token.Store(0)\n}", "\t}\n}"},
		},
		by: []string{"seal against frontier"},
	},
	{
		name: "a seal counts after it has taken", attacks: "Synchronize",
		edits: []edit{
			{reclaimFile, "\ts.seals.Add(1)\n", ""},
			{reclaimFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\thead := s.limbo.Swap(emptyList) // observes (P7)\n\ts.seals.Add(1)\n"},
		},
		by: []string{"two Synchronize", "Synchronize waits for a guard"},
	},
	{
		name: "a seal that finds nothing does not count", attacks: "Synchronize",
		edits: []edit{{reclaimFile,
			"\ts.seals.Add(1)\n\tif Low(s.limbo.Load()) == None {\n\t\treturn false\n\t}\n",
			"\tif Low(s.limbo.Load()) == None {\n\t\treturn false\n\t}\n\ts.seals.Add(1)\n"}},
		by: []string{"two Synchronize"},
	},
	{
		name: "Synchronize aims at the seals it counted first", attacks: "Synchronize",
		edits: []edit{{shardFile, "\treturn s.seals.Load() // a seal counts before it takes", "\treturn begun"}},
		by:    []string{"Synchronize while another seals"},
	},
	{
		name: "a whole batch is stored over the stack", attacks: "I3",
		edits: []edit{{reclaimFile,
			"\treturn to.free.CompareAndSwap(emptyList, Pack(Generation(word), s.sealed.top)) // publishes (P3)",
			"\tto.free.Store(Pack(Generation(word), s.sealed.top))\n\treturn true"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
	{
		name: "a whole batch goes back with slots used up", attacks: "I3",
		edits: []edit{{reclaimFile, " || s.space.wornSlots()", ""}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "used-up slots are counted before those retired", attacks: "I3",
		edits: []edit{{spaceFile,
			"\texhausted := sp.Exhausted.Load() // first: it never passes a Spent that is read later\n\treturn sp.Spent.Load() != exhausted",
			"\tspent := sp.Spent.Load()\n\treturn spent != sp.Exhausted.Load()"}},
		by: []string{"plain values run out of generations in two shards"},
	},
	{
		name: "reclaiming sets generations back", row: 11, attacks: "I2",
		edits: []edit{{reclaimFile,
			"\t\tr.add(slot, i, word)\n",
			"\t\tword = Pack(s.space.First-1, Low(word))\n\t\tslot.Word.Store(word)\n\t\tr.add(slot, i, word)\n"}},
		by: []string{"two Synchronize"},
	},
	{
		name: "a slot whose generations are used up goes round", row: 11, attacks: "I2",
		edits: []edit{{reclaimFile, "\tif Generation(word) != Spent {\n", "\tif i != None {\n"}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "the rest of a large batch is forgotten", row: 13, attacks: "L4",
		edits: []edit{{reclaimFile,
			"\t\ts.reclaimOne(&s.sealed.top, &r, held)\n\t}\n",
			"\t\ts.reclaimOne(&s.sealed.top, &r, held)\n\t}\n\ts.sealed.n = 0\n"}},
		by:    []string{"arrears are more than one call moves"},
		quick: true,
	},
	{
		name: "slots go to the freelist before they are cleaned", attacks: "P3",
		edits: []edit{
			{reclaimFile, "\t\t\tto.pushRun(&r)\n\t\t}\n", "\t\t\tto.pushRun(&r)\n\t\t\tfor _, i := range late {\n\t\t\t\ts.space.clean(s.space.Slot(i), i)\n\t\t\t}\n\t\t}\n"},
			{reclaimFile, "\tvar r run[T]\n\tdefer func() {\n\t\tif r.n > 0 {\n\t\t\tto.", "\tvar r run[T]\n\tvar late []uint32\n\tdefer func() {\n\t\tif r.n > 0 {\n\t\t\tto."},
			{reclaimFile, "\t\ts.reclaimOne(&s.sealed.top, &r, held)\n", "\t\tlate = append(late, s.sealed.top)\n\t\ts.reclaimOne(&s.sealed.top, &r, held)\n"},
			{reclaimFile, "\t\tr.add(slot, i, word)\n\t\ts.space.clean(slot, i)\n", "\t\tif r.add(slot, i, word); s.fifo {\n\t\t\ts.space.clean(slot, i)\n\t\t}\n"},
		},
		by:    []string{"two Synchronize"},
		quick: true,
	},
	{
		name: "marks of Take are set by load and store", attacks: "Reset",
		edits: []edit{{spaceFile,
			"\t\tm.taken[j/32].Or(1 << (j % 32))\n",
			"\t\tmarks := &m.taken[j/32]\n\t\tmarks.Store(marks.Load() | 1<<(j%32))\n"}},
		by: []string{"two Takes of neighbours that are Reset"},
	},
	{
		name: "a mark of Take is cleared with its neighbours", attacks: "Reset",
		edits: []edit{{spaceFile, ".And(^bit)&bit != 0", ".Swap(0)&bit != 0"}},
		by:    []string{"Take where slots are Reset"},
	},
}
