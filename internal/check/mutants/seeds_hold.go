package main

// Seeds against holds: that a hold and a removal see each other, who gets a parked
// slot, and that the way back is whole.

const holdFile = "shard/hold.go"

var holdSeeds = []seed{
	{
		name: "a hold looks at the word and then raises the count", attacks: "P8, I10",
		edits: []edit{{holdFile, "\tif slot.Word.Load() == h {\n\t\treturn k, true // it", "\tif true {\n\t\treturn k, true // it"}},
		by:    []string{"Hold against Remove and reclaim"},
		quick: true,
	},
	{
		name: "refs is raised after the word was looked at", attacks: "P8",
		edits: []edit{
			{holdFile, "\ta.refs.Add(1)\n", ""},
			{holdFile, "\t\treturn k, true // it", "\t\ta.refs.Add(1)\n\t\treturn k, true // it"},
		},
		by: []string{"Hold against Remove and reclaim", "Holds that are late meet each other"},
	},
	{
		name: "who brings the count to nothing owns the slot", attacks: "I10, I1",
		edits: []edit{{holdFile, "last = last && k.count.CompareAndSwap(parked, 0)", "if last {\n\t\tk.count.Store(0)\n\t}"}},
		by:    []string{"Holds that are late meet each other", "a Hold that is late meets a Release of the parked slot"},
		quick: true,
	},
	{
		name: "nobody sends a parked slot back", attacks: "I10, L6",
		edits: []edit{{holdFile, "\t\ta.Local().retireChain(&c, a.tag())\n", ""}},
		by:    []string{"two Refs of a parked slot are released"},
		quick: true,
	},
	{
		name: "a parked slot goes straight to the freelist, uncleaned", attacks: "P3",
		edits: []edit{{holdFile, "\t\ta.Local().retireChain(&c, a.tag())\n", "\t\ta.Local().push(&c)\n"}},
		by:    []string{"two Refs of a parked slot are released"},
	},
	{
		name: "a slot is parked by load and store", attacks: "I10",
		edits: []edit{{holdFile,
			"\t\tif count.CompareAndSwap(n, n|parked) {\n\t\t\treturn true\n\t\t}\n",
			"\t\tcount.Store(n | parked)\n\t\treturn true\n"}},
		by: []string{"Hold and Release against reclaim and insert"},
	},
	{
		name: "a slot is parked although its last hold has gone", attacks: "I10, L6",
		edits: []edit{{holdFile, "\t\tif n == 0 {\n\t\t\ta.parked.Add(-1)\n\t\t\treturn false\n\t\t}\n", ""}},
		by:    []string{"Hold and Release against reclaim and insert"},
	},
	{
		name: "a whole batch goes back with slots that are held", attacks: "I10",
		edits: []edit{{reclaimFile, " || a.held()", ""}},
		by:    []string{"values without pointers that are held"},
		quick: true,
	},
	{
		name: "a queue's slots are not asked for holders", attacks: "I10",
		edits: []edit{{reclaimFile, "if held && a.park(i) {", "if held && !r.from.fifo && a.park(i) {"}},
		by:    []string{"Hold against Clear under FIFO"},
	},
	{
		name: "a Worker's bag is not asked for holders", attacks: "I10",
		edits: []edit{{bagFile, "\tif a.held() {", "\tif false {"}},
		by:    []string{"Hold against a Worker that turns its bag"},
	},
	{
		name: "a parked slot's link is read after it was parked", attacks: "I10",
		edits: []edit{
			{reclaimFile, "\t\tr.top, r.n = Low(word), r.n-1\n\t\tif held && a.park(i) {\n\t\t\tcontinue\n\t\t}\n",
				"\t\tr.n--\n\t\tif held && a.park(i) {\n\t\t\tr.top = Low(slot.Word.Load())\n\t\t\tcontinue\n\t\t}\n\t\tr.top = Low(word)\n"},
		},
		by: []string{"a slot is parked while its last Ref goes"},
	},
	{
		name: "two first holds of a page each make counts", attacks: "I10",
		edits: []edit{{holdFile,
			"\t\tif !m.holders.CompareAndSwap(nil, h) {\n\t\t\th = m.holders.Load()\n\t\t}\n",
			"\t\tm.holders.Store(h)\n"}},
		by: []string{"a page's first two Holds"},
	},
}
