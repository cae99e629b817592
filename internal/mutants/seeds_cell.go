package main

// Seeds against pin cells: who has one, and who can see it.

const (
	cellFile   = "epoch/cell.go"
	numberFile = "epoch/number.go"
)

var cellSeeds = []seed{
	{
		name: "the epoch before comes through in a cell's word", row: 4, attacks: "I7",
		edits: []edit{{numberFile, "e<<epochShift | idle&countMask | active", "e<<epochShift | idle | active"}},
		by:    []string{"a guard in a cell that was used an epoch before"},
	},
	{
		name: "the sequence of a cell overflows into its epoch", row: 4, attacks: "I7",
		edits: []edit{
			{numberFile, "sequenceBits = 15", "sequenceBits = 1 // or one would need 32,768 pins"},
			{numberFile, "idle&countMask | active", "idle&(2*countMask+1) | active"},
		},
		by:    []string{"more guards than cells"},
		quick: true,
	},
	{
		name: "a cell is claimed by load and store", attacks: "P4",
		edits: []edit{{cellFile,
			"\treturn word, c.word.CompareAndSwap(idle, word) // publishes (P4)",
			"\tc.word.Store(word)\n\treturn word, true"}},
		by:    []string{"more guards than cells"},
		quick: true,
	},
	{
		name: "an active cell can be claimed", attacks: "P4",
		edits: []edit{{cellFile, "\tif isActive(idle) {\n\t\treturn 0, false\n\t}\n", ""}},
		by:    []string{"guards of two epochs"},
	},
	{
		name: "a brief pin claims an active cell", attacks: "P4",
		edits: []edit{{cellFile, "return !isActive(idle) && c.word", "return c.word"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "a brief pin claims by load and store", attacks: "P4",
		edits: []edit{{cellFile,
			"\treturn !isActive(idle) && c.word.CompareAndSwap(idle, word)",
			"\tif isActive(idle) {\n\t\treturn false\n\t}\n\tc.word.Store(word)\n\treturn true"}},
		by: []string{"two brief pins of one cell"},
	},
	{
		name: "a pin waits for a free cell", row: 12, attacks: "lock-free",
		edits: []edit{
			{cellFile, "\tfor b := &d.first; b != nil; b = b.next.Load() {\n\t\tif g, ok := b.pin(at, e, len(b.cells)); ok {",
				"again:\n\tfor b := &d.first; b != nil; b = b.next.Load() {\n\t\tif g, ok := b.pin(at, e, len(b.cells)); ok {"},
			{cellFile, "\tfresh := newBlock(2 * len(last.cells))",
				"\tif len(last.cells) > 0 {\n\t\tgoto again\n\t}\n\tvar fresh *block\n\tfresh = newBlock(2 * len(last.cells))"},
		},
		by:    []string{"a pin waits for nobody"},
		quick: true,
	},
	{
		name: "a block of cells is appended by a store", attacks: "P4",
		edits: []edit{{cellFile,
			"\tfor !last.next.CompareAndSwap(nil, fresh) {",
			"\tfor last.next.Store(fresh); false; {"}},
		by: []string{"two guards append cells"},
	},
	{
		name: "an appended block is not marked used", attacks: "P4, L3",
		edits: []edit{{cellFile, "\tfresh.used.Store(1)\n", ""}},
		by:    []string{"more guards than cells", "two guards append cells"},
	},
	{
		name: "a provided block is not marked used", attacks: "P4, L3",
		edits: []edit{{cellFile, "\tif b.used.Load() == 0 {\n\t\tb.used.Store(1)\n\t}\n", ""}},
		by:    []string{"guards in cells that were provided"},
	},
	{
		name: "a block is appended before its first cell is claimed", attacks: "P4",
		edits: []edit{
			{cellFile, "\tc.word.Store(word) // nobody else sees the block yet\n", ""},
			{cellFile, "\treturn Guard{c, word}\n}\n\n// pin tries n cells", "\tc.word.Store(word)\n\treturn Guard{c, word}\n}\n\n// pin tries n cells"},
		},
		by: []string{"two guards append cells"},
	},
}
