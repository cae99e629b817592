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
		edits: []edit{{domainFile, "m = min(m, epochOf(word))", "m = epochOf(word)"}},
		by:    []string{"guards of two epochs"},
		quick: true,
	},
	{
		name: "a guard newer than the epoch counts as very old", row: 3, attacks: "Pinned",
		edits: []edit{{domainFile, "if o := epochOf(word); o < e {", "if o := epochOf(word); o != e {"}},
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
		edits: []edit{{domainFile,
			"\t\tif b.used.Load() == 0 {\n\t\t\tcontinue\n\t\t}\n",
			"\t\tif b != &d.first && b != &d.brief {\n\t\t\tcontinue\n\t\t}\n"}},
		by: []string{"two guards append cells"},
	},
	{
		name: "the frontier does not visit brief cells", attacks: "P4, L3",
		edits: []edit{{domainFile,
			"\t\tif b.used.Load() == 0 {\n\t\t\tcontinue\n\t\t}\n",
			"\t\tif b.used.Load() == 0 || b == &d.brief {\n\t\t\tcontinue\n\t\t}\n"}},
		by: []string{"two brief pins of one cell"},
	},
	{
		name: "the scan ends at a block that was never used", attacks: "P4, L3",
		edits: []edit{{domainFile,
			"\t\tif b.used.Load() == 0 {\n\t\t\tcontinue\n\t\t}\n\t\tfor i",
			"\t\tif b.used.Load() == 0 || b == &d.brief && b.next.Load() != nil {\n\t\t\tbreak\n\t\t}\n\t\tfor i"}},
		by: []string{"two guards append cells"},
	},
	{
		name: "a pin announces the epoch to come", attacks: "I7",
		edits: []edit{{domainFile,
			"\te := d.epoch.Load()\n\tat := hint.Goroutine()\n\tif i := hint.Index(at, len(d.first.cells))",
			"\te := d.epoch.Load() + 1\n\tat := hint.Goroutine()\n\tif i := hint.Index(at, len(d.first.cells))"}},
		by:    []string{"more guards than cells"},
		quick: true,
	},
}
