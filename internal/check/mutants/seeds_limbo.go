package main

// Seeds against limbo: who has removed a slot, and where it goes.

const limboFile = "shard/limbo.go"

var limboSeeds = []seed{
	{
		name: "Remove by load and store", row: 8, attacks: "I1",
		edits: []edit{{limboFile,
			"\treturn seen, slot.vacate(h, Low(seen))",
			"\tslot.Word.Store(Vacated(h, Low(seen)))\n\treturn seen, true"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
		quick: true,
	},
	{
		name: "RemoveBatch by load and store", row: 8, attacks: "I1",
		edits: []edit{{limboFile,
			"\tif !slot.vacate(h, top) {\n\t\treturn false\n\t}\n",
			"\tif slot.Word.Load() != h {\n\t\treturn false\n\t}\n\tslot.Word.Store(Vacated(h, top))\n"}},
		by:    []string{"Clear against Get"},
		quick: true,
	},
	{
		name: "a remover looks at limbo before the slot", attacks: "I4",
		edits: []edit{{limboFile, "\tif slot.Word.Load() != h {\n\t\treturn 0, false\n\t}\n", ""}},
		by:    []string{"a handle is guessed before its time"},
		quick: true,
	},
	{
		name: "a removed slot goes straight to the freelist", row: 6, attacks: "I8",
		edits: []edit{{limboFile,
			"\tseen, ok := s.unlink(slot, h)\n\tif !ok {\n\t\treturn false\n\t}\n",
			"\tseen, ok := s.unlink(slot, h)\n\tif !ok {\n\t\treturn false\n\t}\n" +
				"\tif h < lastLife && !s.fifo {\n\t\tclear1(&slot.Value)\n\t\tvar c chain[T]\n" +
				"\t\tc.append(slot, Low(h), Vacated(h, Low(seen)))\n\t\ts.push(&c)\n\t\treturn true\n\t}\n"}},
		by:    []string{"seal against frontier"},
		quick: true,
	},
	{
		name: "Take moves the value out after the slot has gone", attacks: "I1",
		edits: []edit{
			{limboFile, "\t\tv = slot.Value\n", ""},
			{limboFile, "\t\ts.retire(slot, h, seen)\n\t}\n\treturn v, ok", "\t\ts.retire(slot, h, seen)\n\t\tv = slot.Value\n\t}\n\treturn v, ok"},
		},
		by: []string{"exhaustion"},
	},
	{
		name: "Take zeroes what guards still read", attacks: "I8",
		edits: []edit{{limboFile, "\t\tv = slot.Value\n", "\t\tv = slot.Value\n\t\tclear1(&slot.Value)\n"}},
		by:    []string{"two removers of one handle"},
	},
	{
		name: "Take marks the slot after it has gone", attacks: "Reset",
		edits: []edit{{limboFile,
			"\t\ts.arena.markTaken(Low(h))\n\t\ts.retire(slot, h, seen)\n",
			"\t\ts.retire(slot, h, seen)\n\t\ts.arena.markTaken(Low(h))\n"}},
		by: []string{"Take where slots are Reset"},
	},
	{
		name: "a life that never began is not burnt", row: 5, attacks: "I2, I5",
		edits: []edit{{limboFile,
			"\tword := Vacated(h, None)\n",
			"\th -= 2 * generationStep\n\tword := Vacated(h, None)\n"}},
		by:    []string{"three goroutines and a failing constructor in a tiny pool"},
		quick: true,
	},
	{
		name: "a burnt last life is not counted", attacks: "I3",
		edits: []edit{{limboFile,
			"\tslot.set(word)\n\tif h >= lastLife {\n\t\ta.spent.Add(1)\n\t}\n",
			"\tslot.set(word)\n"}},
		by: []string{"values without pointers that run out of generations"},
	},
	{
		name: "a last life is counted after the slot is in limbo", attacks: "I3",
		edits: []edit{
			{limboFile, "h, seen uint64) {\n\tif h >= lastLife {\n\t\ts.arena.spent.Add(1)\n\t}\n", "h, seen uint64) {\n"},
			{limboFile, "\tif n := Generation(seen) + 1;", "\tif h >= lastLife {\n\t\ts.arena.spent.Add(1)\n\t}\n\tif n := Generation(seen) + 1;"},
		},
		by: []string{"a plain value's last life among others"},
	},
	{
		name: "a removed slot is linked once, not at each try", row: 7, attacks: "I3",
		edits: []edit{{limboFile,
			"\t\tseen = s.limbo.Load()\n\t\tslot.set(Vacated(h, Low(seen)))\n",
			"\t\tseen = s.limbo.Load()\n"}},
		by:    []string{"exhaustion"},
		quick: true,
	},
	{
		name: "a chain's tail is linked once, not at each try", row: 7, attacks: "I3",
		edits: []edit{{limboFile,
			"\tfor {\n\t\tseen := s.limbo.Load()\n\t\tc.link(Low(seen))                                                  // anew at each try\n",
			"\tc.link(Low(s.limbo.Load()))\n\tfor {\n\t\tseen := s.limbo.Load()\n"}},
		by:    []string{"three goroutines and a failing constructor in a tiny pool"},
		quick: true,
	},
	{
		name: "limbo is pushed to by a store", attacks: "I3, P7",
		edits: []edit{{limboFile,
			"\tfor !s.limbo.CompareAndSwap(seen, pushed(seen, Low(h), 1)) { // publishes (P7)",
			"\tfor s.limbo.Store(pushed(seen, Low(h), 1)); false; {"}},
		by:    []string{"exhaustion"},
		quick: true,
	},
	{
		name: "a chain holds a slot whose generations are used up", attacks: "I3",
		edits: []edit{{limboFile,
			"\tif h >= lastLife {\n\t\tr.End() // Remove may run a Reset\n\t\tif !r.shard.Remove(slot, h) {\n\t\t\treturn false\n\t\t}\n\t\tr.N++\n\t\treturn true\n\t}\n", ""}},
		by: []string{"many last lives are removed at once"},
	},
	{
		name: "a Reset runs while a chain is gathered", in: shardPackage, attacks: "Reset",
		edits: []edit{{limboFile, "\t\tr.End() // Remove may run a Reset\n", ""}},
		tests: []string{"TestResetFindsNoChain"},
	},
}
