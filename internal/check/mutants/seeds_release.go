package main

// Seeds that store without a locked instruction where one is needed: what the thread
// loads next, it may have loaded before others see the store. Four are found thanks to
// the explorer's store buffers alone, and say so: without buffers no scenario finds
// them.

const guardFile = "epoch/guard.go"

var releaseSeeds = []seed{
	{
		name: "a cell is claimed by a release store", attacks: "P4",
		edits: []edit{{cellFile,
			"\treturn word, c.word.CompareAndSwap(idle, word) // publishes (P4)",
			"\tatom.StoreRelease(&c.word, word)\n\treturn word, true"}},
		by: []string{"more guards than cells"},
	},
	{
		// Without buffers it survives.
		name: "a cell's epoch follows its claim by a release store", attacks: "P4, L3",
		edits: []edit{{cellFile,
			"\treturn word, c.word.CompareAndSwap(idle, word) // publishes (P4)",
			"\tif !c.word.CompareAndSwap(idle, claimed(idle, Limit, kind)) {\n\t\treturn 0, false\n\t}\n\tatom.StoreRelease(&c.word, word)\n\treturn word, true"}},
		by: []string{"more guards than cells", "Synchronize waits for a guard", "guards of two epochs"},
	},
	{
		name: "a brief pin claims by a release store", attacks: "P4",
		edits: []edit{{cellFile,
			"\treturn !isActive(idle) && c.word.CompareAndSwap(idle, word)",
			"\tif isActive(idle) {\n\t\treturn false\n\t}\n\tatom.StoreRelease(&c.word, word)\n\treturn true"}},
		by: []string{"two brief pins of one cell"},
	},
	{
		// Without buffers it survives.
		name: "a brief pin that guesses right claims by a release store", attacks: "P4",
		edits: []edit{{domainFile,
			"\t\tif c.word.CompareAndSwap(released(word), word) || c.claimBrief(word) { // publishes (P4)\n",
			"\t\tif c.word.Load() == released(word) {\n\t\t\tatom.StoreRelease(&c.word, word)\n\t\t\treturn Guard{c, word}\n\t\t}\n\t\tif c.claimBrief(word) { // publishes (P4)\n"}},
		by: []string{"two brief pins of one cell"},
	},
	{
		// Without buffers it survives.
		name: "a mark is set by a release store", attacks: "P4",
		edits: []edit{
			{markFile,
				"\t\tif m.word.CompareAndSwap(word, changed(word, isSet)) { // publishes (P4)\n\t\t\treturn word&stateMask == isClear\n\t\t}\n",
				"\t\tatom.StoreRelease(&m.word, changed(word, isSet))\n\t\treturn word&stateMask == isClear\n"},
			// Or this addition would be what empties the buffer.
			{markFile, "\tfor k, level := range b.marks {\n\t\ti /= fan\n\t\tif level[i].raise() && k == 0 {\n\t\t\tb.groups.Add(1)\n\t\t}\n", "\tfor _, level := range b.marks {\n\t\ti /= fan\n\t\tlevel[i].raise()\n"},
			{markFile, "\tif level == 0 {\n\t\tb.groups.Add(-1)\n\t}\n", ""},
		},
		by: []string{"a mark is cleared while a guard comes"},
	},
	{
		// Without buffers it survives.
		name: "refs is raised by a release store", attacks: "P8",
		edits: []edit{
			{holdFile, "import \"coatcheck/internal/atom\"\n", "import (\n\t\"unsafe\"\n\n\t\"coatcheck/internal/atom\"\n)\n"},
			{holdFile,
				"\ta.refs.Add(1)\n\tk.count.Add(1) // publishes (P8)\n",
				"\tk.count.Add(1) // publishes (P8)\n\tatom.StoreRelease((*atom.Uint64)(unsafe.Pointer(&a.refs)), uint64(a.refs.Load()+1))\n"},
		},
		by: []string{"values without pointers that are held"},
	},
	{
		name: "limbo is sealed by a release store", attacks: "P7, I6",
		edits: []edit{{batchFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\thead := s.limbo.Load()\n\tatom.StoreRelease(&s.limbo, emptyList)\n"}},
		by:    []string{"chains and single slots come to one limbo", "a slot leaves the freelist and comes back"},
	},
	{
		name: "Unpin does not look whose pin it ends", attacks: "a copy's second Unpin panics",
		edits: []edit{{guardFile, "\tif c.word.Load() != g.word {\n\t\treturn false\n\t}\n", ""}},
		by:    []string{"the copy of a full guard beside brief pins"},
	},
}
