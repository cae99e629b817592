package main

// Seeds against the clock: E, the frontier S and what is concluded from them.

const domainFile = "epoch/domain.go"

var epochSeeds = []seed{
	{
		name: "the frontier loads E after the scan", row: 1, attacks: "L3",
		edits: []edit{
			{domainFile, "\tm := d.epoch.Load()\n", "\tm := uint64(Limit)\n"},
			{domainFile, "\tfor {\n\t\ts := d.safe.Load()", "\tm = min(m, d.epoch.Load())\n\tfor {\n\t\ts := d.safe.Load()"},
		},
		by:    []string{"two shards and slots in both"},
		quick: true,
	},
	{
		name: "a tag passes one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{domainFile,
			"return tag < d.Safe() || tag < d.Frontier()",
			"return tag <= d.Safe() || tag <= d.Frontier()"}},
		by:    []string{"two brief pins of one cell"},
		quick: true,
	},
	{
		name: "the frontier is the last guard's epoch, not the oldest", row: 3, attacks: "L3",
		edits: []edit{{markFile, "s.oldest = min(s.oldest, epochOf(word))", "s.oldest = epochOf(word)"}},
		by:    []string{"guards of two epochs"},
		quick: true,
	},
	{
		name: "a guard newer than the epoch counts as very old", row: 3, attacks: "Pinned",
		edits: []edit{{markFile, "s.oldest = min(s.oldest, epochOf(word))", "s.oldest = max(s.oldest, epochOf(word))"}},
		by:    []string{"guards are counted while the epoch advances"},
		quick: true,
	},
	{
		name: "E is stored in place of compared-and-swapped", row: 9, attacks: "I8",
		edits: []edit{{domainFile, "d.epoch.CompareAndSwap(r, r+1)", "d.epoch.Store(r + 1)"}},
		by:    []string{"two sealers"},
		quick: true,
	},
	{
		name: "S is stored in place of compared-and-swapped", attacks: "I8, P6",
		edits: []edit{{domainFile,
			"if d.safe.CompareAndSwap(s, m) { // publishes (P6)\n\t\t\treturn m\n\t\t}",
			"d.safe.Store(m) // publishes (P6)\n\t\treturn m"}},
		by:    []string{"two sealers"},
		quick: true,
	},
	{
		name: "the frontier does not visit blocks that were appended", attacks: "P4, L3",
		edits: []edit{{domainFile, "b != nil; b = b.older {\n\t\ts.visitMark(b, len(b.marks)-1, 0)", "b != nil && b.older != nil; b = b.older {\n\t\ts.visitMark(b, len(b.marks)-1, 0)"}},
		by:    []string{"two guards append cells"},
	},
	{
		name: "the frontier visits the newest block alone", attacks: "P4, L3",
		edits: []edit{{domainFile, "\t\ts.visitMark(b, len(b.marks)-1, 0)\n", "\t\ts.visitMark(b, len(b.marks)-1, 0)\n\t\tbreak\n"}},
		by:    []string{"guards in two blocks"},
	},
	{
		name: "the frontier does not visit brief cells", attacks: "P4, L3",
		edits: []edit{{domainFile, "\ts.visit(d.brief)\n", ""}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "the scan ends at a block that was never used", attacks: "P4, L3",
		edits: []edit{{domainFile,
			"\t\ts.visitMark(b, len(b.marks)-1, 0)\n",
			"\t\tif s.visitMark(b, len(b.marks)-1, 0) {\n\t\t\tbreak\n\t\t}\n"}},
		by: []string{"guards in two blocks"},
	},
	{
		name: "a pin announces the epoch to come", attacks: "I7",
		edits: []edit{{domainFile,
			"\te := d.epoch.Load()\n\tat := hint.Goroutine()\n\tif i := hint.Index(at, len(d.first))",
			"\te := d.epoch.Load() + 1\n\tat := hint.Goroutine()\n\tif i := hint.Index(at, len(d.first))"}},
		by:    []string{"more guards than cells"},
		quick: true,
	},
}
