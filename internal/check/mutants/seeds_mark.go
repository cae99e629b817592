package main

// Seeds against the marks of cells: what a scan must visit, and when it need not.

var markSeeds = []seed{
	{
		name: "a pin sets no marks", attacks: "P4, L3",
		edits: []edit{{blockFile, "\t\t\t\tb.announce(int(i & mask))\n", ""}},
		by:    []string{"two guards append cells"},
		quick: true,
	},
	{
		name: "a pin sets its marks before it claims its cell", attacks: "P4, L3",
		edits: []edit{
			{blockFile, "\t\t\t\tb.announce(int(i & mask))\n", ""},
			{blockFile, "\t\t\tif word, ok := c.claim(e, kind); ok {", "\t\t\tb.announce(int(i & mask))\n\t\t\tif word, ok := c.claim(e, kind); ok {"},
		},
		by: []string{"a mark is cleared while a guard comes"},
	},
	{
		name: "a pin is content with a mark that is doubted", attacks: "P4, L3",
		edits: []edit{{markFile, "\t\tif word&stateMask == isSet {\n\t\t\treturn false //", "\t\tif word&stateMask != isClear {\n\t\t\treturn false //"}},
		by:    []string{"a mark is cleared while a guard comes"},
	},
	{
		name: "a mark is set by load and store", attacks: "Scanned",
		edits: []edit{{markFile,
			"\t\tif m.word.CompareAndSwap(word, changed(word, isSet)) { // publishes (P4)\n\t\t\treturn word&stateMask == isClear\n\t\t}",
			"\t\tm.word.Store(changed(word, isSet)) // publishes (P4)\n\t\treturn word&stateMask == isClear"}},
		by: []string{"two scans clear a mark while guards come"},
	},
	{
		name: "marks are set from the top", attacks: "P4, L3",
		edits: []edit{{markFile,
			"\tfor k, level := range b.marks {\n\t\ti /= fan\n\t\tif level[i].raise() && k == 0 {",
			"\tfor k := len(b.marks) - 1; k >= 0; k-- {\n\t\tat := i\n\t\tfor range k + 1 {\n\t\t\tat /= fan\n\t\t}\n\t\tif b.marks[k][at].raise() && k == 0 {"}},
		by: []string{"marks of several levels"},
	},
	{
		name: "a pin sets the lowest mark alone", attacks: "P4, L3",
		edits: []edit{{markFile,
			"\t\tif level[i].raise() && k == 0 {\n\t\t\tb.groups.Add(1)\n\t\t}",
			"\t\tif k == 0 && level[i].raise() {\n\t\t\tb.groups.Add(1)\n\t\t}"}},
		by: []string{"marks of several levels"},
	},
	{
		name: "a scan clears a mark without a second look", attacks: "P5, L3",
		edits: []edit{{markFile, "!m.word.CompareAndSwap(word, doubt) || !s.visitBelow(b, level, i)", "!m.word.CompareAndSwap(word, doubt)"}},
		by:    []string{"a mark is cleared while a guard comes"},
	},
	{
		name: "a scan looks twice and then doubts a mark", attacks: "P5, L3",
		edits: []edit{{markFile, "!m.word.CompareAndSwap(word, doubt) || !s.visitBelow(b, level, i)", "!s.visitBelow(b, level, i) || !m.word.CompareAndSwap(word, doubt)"}},
		by:    []string{"a mark is cleared while a guard comes"},
	},
	{
		name: "a mark is cleared by a store", attacks: "P5, L3",
		edits: []edit{{markFile,
			"\tif !m.word.CompareAndSwap(doubt, changed(doubt, isClear)) { // publishes (P5)\n\t\treturn false\n\t}\n",
			"\tm.word.Store(changed(doubt, isClear)) // publishes (P5)\n"}},
		by: []string{"a mark is cleared while a guard comes"},
	},
	{
		name: "a mark's changes are not counted", attacks: "P5, L3",
		edits: []edit{{markFile, "return (word | stateMask) + 1 + state", "return state"}},
		by:    []string{"two scans clear a mark while guards come"},
	},
	{
		name: "a scan goes by a mark that is doubted", attacks: "P4, L3",
		edits: []edit{{markFile, "\tif word&stateMask == isClear {\n\t\treturn true //", "\tif word&stateMask != isSet {\n\t\treturn true //"}},
		by:    []string{"a mark is cleared while a guard comes"},
	},
	{
		name: "a mark is cleared although one below it is set", attacks: "P5, L3",
		edits: []edit{{markFile, "\t\tif !s.visitMark(b, level-1, k) {\n\t\t\tidle = false\n\t\t}", "\t\ts.visitMark(b, level-1, k)"}},
		by:    []string{"marks of several levels"},
	},
	{
		name: "a group's mark is cleared although a guard is pinned there", attacks: "P5, L3",
		edits: []edit{{markFile, "\t\t\ts.add(word)\n\t\t\tidle = false", "\t\t\ts.add(word)"}},
		by:    []string{"a mark is cleared while a guard comes"},
		quick: true,
	},
}
