package main

// Seeds against the clock: E, the frontier S and what is concluded from them.

const domainFile = "epoch/domain.go"

var epochSeeds = []seed{
	{
		name: "the frontier loads E after the scan", row: 1, attacks: "L3",
		edits: []edit{
			{domainFile, "\te := d.epoch.Load() // before the scan, as in Frontier\n", "\te := uint64(Limit)\n"},
			{domainFile, "\tfor {\n\t\ts := d.safe.Load()", "\tm = min(m, d.epoch.Load())\n\tfor {\n\t\ts := d.safe.Load()"},
		},
		by:    []string{"two guards come while a scan is under way"},
		quick: true,
	},
	{
		name: "a tag passes one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{domainFile, "d.raise(s.oldest) > tag", "d.raise(s.oldest) >= tag"}},
		by:    []string{"two brief pins of one cell"},
		quick: true,
	},
	{
		name: "the frontier is the last guard's epoch, not the oldest", row: 3, attacks: "L3",
		edits: []edit{{markFile, "s.oldest = min(s.oldest, e)", "s.oldest = e"}},
		by:    []string{"guards of two epochs"},
		quick: true,
	},
	{
		name: "a guard newer than the epoch counts as very old", row: 3, attacks: "Pinned",
		edits: []edit{{markFile, "s.oldest = min(s.oldest, e)", "s.oldest = max(s.oldest, e)"}},
		by:    []string{"two shards, each sealed"},
		quick: true,
	},
	{
		name: "E is stored in place of compared-and-swapped", row: 9, attacks: "I8",
		edits: []edit{{domainFile,
			"\tif e < Limit && d.epoch.CompareAndSwap(e, e+1) {\n\t\treturn e + 1\n\t}\n",
			"\tif e < Limit {\n\t\td.epoch.Store(e + 1)\n\t\treturn e + 1\n\t}\n"}},
		by:    []string{"a guard is pinned between two removals of a small pool"},
		quick: true,
	},
	{
		name: "S is stored in place of compared-and-swapped", attacks: "I8, P6",
		edits: []edit{{domainFile,
			"if d.safe.CompareAndSwap(s, m) { // publishes (P6)\n\t\t\treturn m\n\t\t}",
			"d.safe.Store(m) // publishes (P6)\n\t\treturn m"}},
		by:    []string{"two scans raise the frontier, the later one further", "two shards, each sealed"},
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
			"\t\te = d.advance(e)\n\t}\n\tat := hint.Goroutine()\n",
			"\t\te = d.advance(e)\n\t}\n\te++\n\tat := hint.Goroutine()\n"}},
		by:    []string{"more guards than cells"},
		quick: true,
	},
	{
		name: "a pin after a stamp begins in the stamp's epoch", attacks: "L10",
		edits: []edit{{domainFile, "if d.stamped.Load() > e {", "if d.stamped.Load() > e+1 {"}},
		by:    []string{"a guard delays only its own in a small pool"},
	},
	{
		name: "a scan that meets one guard proves as much as one that meets none", attacks: "L3",
		edits: []edit{{domainFile, "if s.full+s.brief == 0 ||", "if s.full+s.brief <= 1 ||"}},
		by:    []string{"seal against frontier", "two shards and slots in both"},
		quick: true,
	},
	{
		name: "a scan takes look-ups under way for nobody", attacks: "L3",
		edits: []edit{{domainFile, "if s.full+s.brief == 0 ||", "if s.full == 0 ||"}},
		by:    []string{"two brief pins of one cell"},
	},
}
