package main

// Seeds against the freelist: ABA, and whose a slot is.

const stackFile = "shard/stack.go"

var freelistSeeds = []seed{
	{
		name: "pop compares the head's index alone", row: 5, attacks: "L1",
		edits: []edit{{stackFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\treturn slot, top + generationStep",
			"\t\tif now := s.free.Load(); Low(now) == Low(top) && s.free.CompareAndSwap(now, rest) {\n\t\t\treturn slot, now + generationStep"}},
		by:    []string{"three goroutines and a failing constructor in a tiny pool"},
		quick: true,
	},
	{
		name: "pop takes the head by load and store", row: 5, attacks: "I3",
		edits: []edit{{stackFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\treturn slot, top + generationStep",
			"\t\tif s.free.Store(rest); true {\n\t\t\treturn slot, top + generationStep"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
	{
		name: "popRun takes a run by load and store", attacks: "I3",
		edits: []edit{{stackFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\tslices.Reverse",
			"\t\tif s.free.Store(rest); true {\n\t\t\tslices.Reverse"}},
		by: []string{"a Worker takes from the freelist and gives back"},
	},
	{
		name: "popRun compares the head's index alone", row: 5, attacks: "L1",
		edits: []edit{{stackFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\tslices.Reverse",
			"\t\tif now := s.free.Load(); Low(now) == Low(top) && s.free.CompareAndSwap(now, rest) {\n\t\t\tslices.Reverse"}},
		by: []string{"a run that a Worker takes comes back meanwhile"},
	},
	{
		name: "popRun follows links by a table from before", attacks: "P2, L7", ends: panics,
		edits: []edit{
			{stackFile, "\t\ti, n := Low(top), 0\n", "\t\tt := a.Table.Pages()\n\t\ti, n := Low(top), 0\n"},
			{stackFile, "\t\t\tslot := a.slot(i) // by a table that is newer than the link\n", "\t\t\tslot := At[T](t, i)\n"},
			{stackFile, "Pack(Generation(a.slot(i).Word.Load()), i)", "Pack(Generation(At[T](t, i).Word.Load()), i)"},
		},
		by: []string{"a Worker's run is overtaken by growth"},
	},
	{
		name: "what a Worker gives back keeps its generation", row: 5, attacks: "I5",
		edits: []edit{{bagFile, "word := Pack(g+1, None)", "word := Pack(g-1, None)"}},
		by:    []string{"a Worker takes from the freelist and gives back"},
		quick: true,
	},
	{
		name: "what a Worker gives back outlives its generations", attacks: "I2",
		edits: []edit{{bagFile, "g == LastGeneration {", "g == Spent {"}},
		by:    []string{"two Workers, one of them with nothing left to live"},
	},
	{
		name: "what is pushed on a stack is linked once, not at each try", row: 7, attacks: "I3",
		edits: []edit{{stackFile,
			"\tfor c.n > 0 {\n\t\ttop := s.free.Load()\n\t\tc.link(Low(top))\n",
			"\tif c.n > 0 {\n\t\tc.link(Low(s.free.Load()))\n\t}\n\tfor c.n > 0 {\n\t\ttop := s.free.Load()\n"}},
		by:    []string{"a whole batch meets what a Worker gives back"},
		quick: true,
	},
	{
		name: "a chain is pushed on a stack by a store", attacks: "I3",
		edits: []edit{{stackFile,
			"if s.free.CompareAndSwap(top, c.first) { // publishes (P3)",
			"if s.free.Store(c.first); true {"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
}
