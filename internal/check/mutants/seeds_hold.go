package main

// Seeds against holds: that a hold and a removal see each other, who gets a parked
// slot, and that the way back is whole.

const holdersFile = "shard/holders.go"

var holdSeeds = []seed{
	{
		name: "a hold looks at the word and then raises the count", attacks: "P8, I10",
		edits: []edit{{holdersFile, "\tif slot.Word.Load() == h {\n\t\treturn count // held", "\tif true {\n\t\treturn count // held"}},
		by:    []string{"Hold against Remove and reclaim"},
		quick: true,
	},
	{
		name: "Refs is raised after the word was looked at", attacks: "P8",
		edits: []edit{
			{holdersFile, "\ts.space.Refs.Add(1)\n", ""},
			{holdersFile, "\t\treturn count // held", "\t\ts.space.Refs.Add(1)\n\t\treturn count // held"},
		},
		by: []string{"Hold against Remove and reclaim", "Holds that are late meet each other"},
	},
	{
		name: "who brings the count to nothing owns the slot", attacks: "I10, I1",
		edits: []edit{{holdersFile, "last = last && count.CompareAndSwap(parked, 0)", "if last {\n\t\tcount.Store(0)\n\t}"}},
		by:    []string{"Holds that are late meet each other", "a Hold that is late meets a Release of the parked slot"},
		quick: true,
	},
	{
		name: "nobody sends a parked slot back", attacks: "I10, L6",
		edits: []edit{{holdersFile, "\t\ts.RetireChain(&c)\n", "\t\t_ = c\n"}},
		by:    []string{"two Refs of a parked slot are released"},
		quick: true,
	},
	{
		name: "a parked slot goes straight to the freelist, uncleaned", attacks: "P3",
		edits: []edit{{holdersFile, "\t\ts.RetireChain(&c)\n", "\t\t_ = c\n\t\ts.pushOne(slot, Pack(Generation(was)+1, i))\n"}},
		by:    []string{"two Refs of a parked slot are released"},
	},
	{
		name: "a slot is parked by load and store", attacks: "I10",
		edits: []edit{{holdersFile,
			"\t\tif count.CompareAndSwap(n, n|parked) {\n\t\t\treturn true\n\t\t}\n",
			"\t\tcount.Store(n | parked)\n\t\treturn true\n"}},
		by: []string{"Hold and Release against reclaim and insert"},
	},
	{
		name: "a slot is parked although its last hold has gone", attacks: "I10, L6",
		edits: []edit{
			{holdersFile, "\t\tif n == 0 {\n\t\t\ts", "\t\tif n == parked {\n\t\t\ts"},
			{holdersFile, "\t\tif n == parked {\n\t\t\tsp.Parked.Add(-1)\n\t\t\treturn false\n\t\t}\n", ""},
		},
		by: []string{"Hold and Release against reclaim and insert"},
	},
	{
		name: "a whole batch goes back with slots that are held", attacks: "I10",
		edits: []edit{{reclaimFile, " || s.space.held()", ""}},
		by:    []string{"values without pointers that are held"},
		quick: true,
	},
	{
		name: "a queue's slots are not asked for holders", attacks: "I10",
		edits: []edit{{reclaimFile, "s.reclaimOne(list, &b.n, &r, held)", "s.reclaimOne(list, &b.n, &r, held && !s.fifo)"}},
		by:    []string{"Hold against Clear under FIFO"},
	},
	{
		name: "a Worker's bag is not asked for holders", attacks: "I10",
		edits: []edit{{workerFile, "\tif sp.Refs.Load() != 0 {", "\tif false {"}},
		by:    []string{"Hold against a Worker that turns its bag"},
	},
	{
		name: "a parked slot's link is read after it was parked", attacks: "I10",
		edits: []edit{
			{reclaimFile, "\t*list = Low(word)\n\t*n--\n\tif held && s.space.Park(i) {\n\t\treturn nil\n\t}\n",
				"\t*n--\n\tif held && s.space.Park(i) {\n\t\t*list = Low(slot.Word.Load())\n\t\treturn nil\n\t}\n\t*list = Low(word)\n"},
		},
		by: []string{"a slot is parked while its last Ref goes"},
	},
	{
		name: "two first holds of a page each make counts", attacks: "I10",
		edits: []edit{{holdersFile,
			"\t\tif !m.holders.CompareAndSwap(nil, h) {\n\t\t\th = m.holders.Load()\n\t\t}\n",
			"\t\tm.holders.Store(h)\n"}},
		by: []string{"a page's first two Holds"},
	},
}
