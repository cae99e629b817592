package main

// Seeds against magazines: what only one goroutine sees, until it gives it back. Those
// that show only in a magazine of full size are for package shard's tests.

const (
	magazineFile = "shard/magazine.go"
	bagFile      = "shard/bag.go"
)

var magazineSeeds = []seed{
	{
		name: "Take reads the value by the table from before the removal", attacks: "L7",
		edits: []edit{
			{magazineFile, "\tremoved, ok := m.Remove(h)\n", "\tm.refresh()\n\tif Low(h) >= m.pages.Limit {\n\t\treturn v, false\n\t}\n\tslot := At[T](&m.pages, Low(h))\n\tremoved, ok := m.Remove(h)\n"},
			{magazineFile, "\t\tv = m.bag[len(m.bag)-1].slot.Value\n", "\t\tv = slot.Value\n"},
		},
		by: []string{"a Worker takes what lives where another page was"},
	},
	{
		name: "Take reads the value of the bag's first slot", attacks: "Take",
		edits: []edit{{magazineFile, "v = m.bag[len(m.bag)-1].slot.Value", "v = m.bag[m.from].slot.Value"}},
		by:    []string{"a guard is pinned between two removals of a Worker"},
		quick: true,
	},
	{
		name: "a magazine removes by load and store", row: 8, attacks: "I1",
		edits: []edit{{magazineFile,
			"\tif !slot.vacate(h, m.top) {\n\t\treturn false, true\n\t}\n",
			"\tif slot.Word.Load() != h {\n\t\treturn false, true\n\t}\n\tslot.Word.Store(Vacated(h, m.top))\n"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
		quick: true,
	},
	{
		name: "a bag goes round one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{bagFile, "!d.Over(m.seals[k-1].tag)", "m.seals[k-1].tag > d.Frontier()"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
		quick: true,
	},
	{
		name: "a sealed part goes round one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{bagFile, "m.seals[k].tag < d.Safe()", "m.seals[k].tag <= d.Safe()"}},
		by:    []string{"a guard is pinned between two removals of a Worker"},
	},
	{
		name: "all sealed parts go round when the first may", attacks: "I8",
		edits: []edit{{bagFile,
			"\t\tfor k = 0; k < len(m.seals) && m.seals[k].tag < d.Safe(); k++ {\n\t\t}\n",
			"\t\tif m.seals[0].tag >= d.Safe() {\n\t\t\tk = 0\n\t\t}\n"}},
		by: []string{"a guard is pinned between two removals of a Worker"},
	},
	{
		name: "a removal's tag is taken before the unlinking", attacks: "I6",
		edits: []edit{
			{magazineFile, "\tif m.exact {\n\t\tm.tag = m.arena.Domain.Stamp()\n\t}\n", ""},
			{magazineFile, "\tif !slot.vacate(h, m.top) {\n", "\tif m.exact {\n\t\tm.tag = m.arena.Domain.Stamp()\n\t}\n\tif !slot.vacate(h, m.top) {\n"},
		},
		by: []string{"a guard is pinned between two removals of a Worker"},
	},
	{
		name: "a seal has the epoch of the part's first removal", in: shardPackage, attacks: "I6",
		edits: []edit{
			{bagFile, "\ttag := m.tag\n\tif !m.exact {\n\t\ttag = m.arena.Domain.Epoch()\n\t}\n", "\ttag := m.tag\n"},
			{magazineFile, "\tif m.exact {\n\t\tm.tag = m.arena.Domain.Stamp()\n\t}\n", "\tif m.exact {\n\t\tm.tag = m.arena.Domain.Stamp()\n\t} else if m.open == len(m.bag)-1 {\n\t\tm.tag = m.arena.Domain.Epoch()\n\t}\n"},
		},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a bag that is parted by a guard is not sealed", in: shardPackage, attacks: "L10",
		edits: []edit{{magazineFile, "\t\t\tm.seal() // what comes now may have to wait for longer\n", ""}},
		tests: []string{"TestMagazineKeepsNothingFromItself"},
	},
	{
		name: "the ends of seals stay where they were", in: shardPackage, attacks: "I8, L4",
		edits: []edit{{bagFile, "\t\tfor k := range m.seals {\n\t\t\tm.seals[k].end -= n\n\t\t}\n", ""}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "the open part stays where it was", in: shardPackage, attacks: "I8",
		edits: []edit{{bagFile, "m.from, m.open = 0, m.open-n", "m.from = 0"}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a seal too many is dropped", in: shardPackage, attacks: "L4",
		edits: []edit{{bagFile, "\t} else {\n\t\tm.seals[k-1] = seal{m.open, tag}\n\t}\n", "\t}\n"}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a seal too many keeps the tag of the last", in: shardPackage, attacks: "I6",
		edits: []edit{{bagFile, "\t\tm.seals[k-1] = seal{m.open, tag}\n", "\t\tm.seals[k-1].end = m.open\n"}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a bag goes to limbo with its first tag", in: shardPackage, attacks: "I6",
		edits: []edit{{bagFile, "\t\t}, s.tag}\n", "\t\t}, m.seals[0].tag}\n"}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a bag becomes the ready slots although some of it waits", in: shardPackage, attacks: "L4",
		edits: []edit{{bagFile, "whole := m.from == 0 && end == len(m.bag) && len(m.ready) == 0", "whole := m.from == 0 && len(m.ready) == 0"}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a bag goes round without a new life", row: 11, attacks: "I2",
		edits: []edit{{bagFile, "\t\tpassed[i].h = Reborn(passed[i].h)\n", "\t\t_ = passed[i]\n"}},
		by:    []string{"a whole batch meets what a Worker gives back"},
		quick: true,
	},
	{
		name: "a bag goes round uncleaned", attacks: "I1",
		edits: []edit{{bagFile, "\tif a.Pointers {\n", "\tif a.Pointers && len(passed) == 0 {\n"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
	},
	{
		name: "a bag takes a slot without another life", attacks: "I2",
		edits: []edit{
			{magazineFile, "m.pages.Limit || h >= lastLife ||", "m.pages.Limit ||"},
			{magazineFile, "len(m.bag) >= m.room || h >= lastLife {", "len(m.bag) >= m.room {"},
			{magazineFile, " != nil || LastLife(h) {", " != nil {"},
		},
		by: []string{"a Worker removes last lives"},
	},
	{
		name: "a bag goes to limbo the wrong way round", attacks: "L4",
		edits: []edit{{bagFile, "first, last := part[len(part)-1], part[0]", "first, last := part[0], part[len(part)-1]"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
	},
	{
		name: "what a bag's first slot links to is not looked at", attacks: "I3",
		edits: []edit{{bagFile, "next: Low(last.slot.Word.Load())", "next: None"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
	},
	{
		name: "a Reset that fails loses the rest of a bag", in: shardPackage, attacks: "L4",
		edits: []edit{{bagFile, "\t\t\tdue = after &^ (Batch - 1)\n", "\t\t\ts.reclaimDue(after &^ (Batch - 1))\n"}},
		tests: []string{"TestMagazineLosesNoSlot"},
	},
	{
		name: "a range is overwritten that a Reset brought", in: shardPackage, attacks: "L4",
		edits: []edit{{magazineFile, "\t\tif m.next < m.end {\n\t\t\treturn m.Claim()\n\t\t}\n", ""}},
		tests: []string{"TestResetMayFillItsMagazine"},
	},
	{
		name: "what a Reset made ready is overwritten", in: shardPackage, attacks: "L4",
		edits: []edit{{magazineFile, "\t\tif slot, h := m.Next(); slot != nil {\n\t\t\treturn slot, h, nil\n\t\t}\n", ""}},
		tests: []string{"TestResetMayFillItsMagazine"},
	},
	{
		name: "a removal goes by the table from before a Reset", in: shardPackage, attacks: "Remove",
		edits: []edit{
			{magazineFile, "\ta := m.arena\n\tfor {\n", "\ta := m.arena\n\tm.refresh()\n\tfor {\n"},
			{magazineFile, "\t\t// After turn: a Reset may also have flushed it, and with it the table at hand.\n\t\tif m.refresh(); Low(h)", "\t\tif Low(h)"},
		},
		tests: []string{"TestResetMayGiveItsMagazineBack"},
	},
	{
		name: "a claim goes on although a Reset has closed the magazine", in: shardPackage, attacks: "Close",
		edits: []edit{{magazineFile, "\t\tif m.turn(); m.arena == nil {\n\t\t\treturn nil, 0, nil\n\t\t}\n", "\t\tm.turn()\n"}},
		tests: []string{"TestResetMayGiveItsMagazineBack"},
	},
	{
		name: "a magazine keeps its bag from itself", in: shardPackage, attacks: "ErrFull",
		edits: []edit{{magazineFile, "\tif err != nil && len(m.bag) > m.from {\n", "\tif false {\n"}},
		tests: []string{"TestMagazineKeepsNothingFromItself"},
	},
	{
		name: "a reach grows past the most", in: shardPackage, attacks: "MaxReach",
		edits: []edit{{magazineFile, "m.setReach(min(2*m.reach, m.most))", "m.setReach(2 * m.reach)"}},
		tests: []string{"TestMagazineKeepsItsReach"},
	},
	{
		name: "a magazine that is full keeps more", in: shardPackage, attacks: "MaxReach",
		edits: []edit{
			{bagFile, "a.Reset != nil || len(m.ready)+int(m.end-m.next)+waits > m.reach-m.batch {\n", "a.Reset != nil {\n\t\t_ = waits\n"},
			{bagFile, "m.room = min(m.open+m.batch, m.from+m.reach-len(m.ready)-int(m.end-m.next))", "m.room = m.open + m.batch"},
		},
		tests: []string{"TestMagazineKeepsItsReach"},
	},
	{
		name: "a magazine gives back more than it has", in: shardPackage, attacks: "L4", ends: panics,
		edits: []edit{{bagFile, "\tm.low = min(m.low, len(m.ready))\n", ""}},
		tests: []string{"TestMagazineKeepsItsReach"},
	},
	{
		name: "an idle magazine keeps its reach", in: shardPackage, attacks: "MaxReach",
		edits: []edit{{bagFile, "\tif m.low > m.batch {\n", "\tif false {\n"}},
		tests: []string{"TestMagazineKeepsItsReach"},
	},
	{
		name: "what a magazine gives back it keeps as well", attacks: "I3",
		edits: []edit{{bagFile, "\tm.ready = slices.Delete(m.ready, 0, n)\n", ""}},
		by:    []string{"a Worker takes from the freelist and gives back", "a Worker refills, turns its bag and flushes"},
	},
	{
		name: "a dropped Worker loses its bag", attacks: "L4",
		edits: []edit{{magazineFile, "\tfor i := range lots {\n\t\tm.shard.pushLimbo(&lots[i].chain, lots[i].tag)\n\t}\n", "\t_ = lots\n"}},
		by:    []string{"a Worker is dropped"},
		quick: true,
	},
	{
		name: "a magazine forgets its range", in: shardPackage, attacks: "L4",
		edits: []edit{{magazineFile, "\t\tunused.append(slot, m.next, word)\n", ""}},
		tests: []string{"TestResetMayFillItsMagazine"},
	},
}
