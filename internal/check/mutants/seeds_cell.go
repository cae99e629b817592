package main

// Seeds against pin cells: who has one, and who can see it.

const (
	cellFile   = "epoch/cell.go"
	blockFile  = "epoch/block.go"
	markFile   = "epoch/mark.go"
	numberFile = "epoch/number.go"
)

var cellSeeds = []seed{
	{
		name: "the epoch before comes through in a cell's word", row: 4, attacks: "I7",
		edits: []edit{{numberFile, "e<<epochShift | idle&countMask | kind", "e<<epochShift | idle | kind"}},
		by:    []string{"a guard in a cell that was used an epoch before"},
	},
	{
		name: "the sequence of a cell overflows into its epoch", row: 4, attacks: "I7",
		edits: []edit{
			{numberFile, "sequenceBits = 14", "sequenceBits = 1 // or one would need 16,384 pins"},
			{numberFile, "idle&countMask | kind", "idle&(2*countMask+1) | kind"},
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
		edits: []edit{{cellFile,
			"\tfor n := len(d.first); ; top = d.top.Load() {",
			"\tfor d.Held() {\n\t\tif word, ok := d.first[home].claim(e, kind); ok {\n\t\t\treturn Guard{&d.first[home], word}\n\t\t}\n\t}\n\tfor n := len(d.first); ; top = d.top.Load() {"}},
		by:    []string{"a pin waits for nobody"},
		quick: true,
	},
	{
		name: "a brief pin starts the sequence of a full cell anew", attacks: "a copy's second Unpin panics",
		edits: []edit{{cellFile,
			"word = claimed(idle, e, kind)",
			"word = claimed(idle, e, kind)\n\tif kind != active {\n\t\tword = claimed(0, e, kind)\n\t}"}},
		by: []string{"the copy of a full guard beside brief pins"},
	},
	{
		name: "full pins overflow into the cells of brief ones", attacks: "a copy's second Unpin panics",
		edits: []edit{{cellFile,
			"\tfor n := len(d.first); ; top = d.top.Load() {",
			"\tif word, ok := d.brief[0].claim(e, kind); ok {\n\t\treturn Guard{&d.brief[0], word}\n\t}\n\tfor n := len(d.first); ; top = d.top.Load() {"}},
		by:    []string{"the copy of a full guard beside brief pins"},
		quick: true,
	},
	{
		name: "a block of cells is appended by a store", attacks: "P4",
		edits: []edit{{cellFile,
			"\t\tif d.top.CompareAndSwap(top, fresh) { // publishes (P4)\n",
			"\t\tif d.top.Store(fresh); true {\n"}},
		by: []string{"two guards append cells"},
	},
	{
		name: "a block is appended before its first cell is claimed", attacks: "P4",
		edits: []edit{
			{cellFile, "\t\tg, _ := fresh.pin(at, e, kind)        // nobody else sees the block yet\n", ""},
			{cellFile, "\t\t\treturn g\n\t\t}\n\t\t// Another pin", "\t\t\tc := &fresh.cells[0]\n\t\t\tword := claimed(0, e, kind)\n\t\t\tc.word.Store(word)\n\t\t\treturn Guard{c, word}\n\t\t}\n\t\t// Another pin"},
		},
		by: []string{"two guards append cells"},
	},
	{
		name: "the blocks before are forgotten when one is appended", attacks: "P4, L3",
		edits: []edit{{blockFile, "cells: make([]cell, n), older: older}", "cells: make([]cell, n)}"}},
		by:    []string{"guards in two blocks"},
	},
}
