package main

// Seeds against the freelist: ABA, and whose a slot is.

const freelistFile = "shard/freelist.go"

var freelistSeeds = []seed{
	{
		name: "Pop compares the head's index alone", row: 5, attacks: "L1",
		edits: []edit{{freelistFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\treturn slot, top + generationStep",
			"\t\tif now := s.free.Load(); Low(now) == Low(top) && s.free.CompareAndSwap(now, rest) {\n\t\t\treturn slot, now + generationStep"}},
		by:    []string{"three goroutines and a failing constructor in a tiny pool"},
		quick: true,
	},
	{
		name: "Insert compares the head's index alone", row: 5, attacks: "L1",
		edits: []edit{{freelistFile,
			"\t\tif s.free.CompareAndSwap(top, rest) { // as in Pop",
			"\t\tif now := s.free.Load(); Low(now) == Low(top) && s.free.CompareAndSwap(now, rest) {\n\t\t\ttop = now"}},
		by:    []string{"a Worker takes from the freelist and gives back"},
		quick: true,
	},
	{
		name: "Insert takes the head by load and store", row: 5, attacks: "I3",
		edits: []edit{{freelistFile,
			"\t\tif s.free.CompareAndSwap(top, rest) { // as in Pop",
			"\t\tif s.free.Store(rest); true {"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
	{
		name: "PopRun takes a run by load and store", attacks: "I3",
		edits: []edit{{freelistFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\treturn first, count",
			"\t\tif s.free.Store(rest); true {\n\t\t\treturn first, count"}},
		by: []string{"a Worker takes from the freelist and gives back"},
	},
	{
		name: "PopRun compares the head's index alone", row: 5, attacks: "L1",
		edits: []edit{{freelistFile,
			"\t\tif s.free.CompareAndSwap(top, rest) {\n\t\t\treturn first, count",
			"\t\tif now := s.free.Load(); Low(now) == first && s.free.CompareAndSwap(now, rest) {\n\t\t\treturn first, count"}},
		by: []string{"a run that a Worker takes comes back meanwhile"},
	},
	{
		name: "what a Worker gives back keeps its generation", row: 5, attacks: "I5",
		edits: []edit{{freelistFile,
			"s.pushOne(slot, Pack(Generation(h)+1, Low(h)))",
			"s.pushOne(slot, Pack(Generation(h)-1, Low(h)))"}},
		by:    []string{"a Worker takes from the freelist and gives back"},
		quick: true,
	},
	{
		name: "what a Worker gives back outlives its generations", attacks: "I2",
		edits: []edit{{freelistFile, "if Generation(h) != LastGeneration {", "if h != 0 {"}},
		by:    []string{"two Workers, one of them with nothing left to live"},
	},
	{
		name: "a run's tail is linked once, not at each try", row: 7, attacks: "I3",
		edits: []edit{{freelistFile,
			"\tfor {\n\t\ttop := s.free.Load()\n\t\tr.link(Low(top))\n",
			"\tr.link(Low(s.free.Load()))\n\tfor {\n\t\ttop := s.free.Load()\n"}},
		by:    []string{"a whole batch meets what a Worker gives back"},
		quick: true,
	},
	{
		name: "a run is pushed by a store", attacks: "I3",
		edits: []edit{{freelistFile,
			"if s.free.CompareAndSwap(top, r.first) { // publishes (P3)",
			"if s.free.Store(r.first); true {"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
}
