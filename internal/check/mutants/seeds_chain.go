package main

// Seeds against chains: what a list is while somebody owns it.

const chainFile = "shard/chain.go"

var chainSeeds = []seed{
	{
		name: "a cut leaves the first slot where it was", attacks: "I3",
		edits: []edit{{chainFile, "\t\tc.first = Pack(Generation(a.slot(i).Word.Load()), i)\n", ""}},
		by:    []string{"FIFO: arrears are more than one call moves"},
		quick: true,
	},
	{
		name: "chains are put together without a link", attacks: "L4",
		edits: []edit{{chainFile, "\t\tc.link(Low(o.first))\n", ""}},
		by:    []string{"Trim of two queues"},
	},
	{
		name: "chains are put together and the second's end is forgotten", attacks: "L4", ends: panics,
		edits: []edit{{chainFile, "\t\tc.last, c.tail, c.next, c.n = o.last, o.tail, o.next, c.n+o.n\n", "\t\tc.n += o.n\n"}},
		by:    []string{"Trim of two queues"},
	},
	{
		name: "a slot is appended without a link", attacks: "L4",
		edits: []edit{{chainFile, "\t} else {\n\t\tc.link(i)\n\t}\n\tc.last, c.tail, c.next = slot, at, Low(word)\n", "\t}\n\tc.last, c.tail, c.next = slot, at, Low(word)\n"}},
		by:    []string{"a slot is parked while its last Ref goes"},
	},
	{
		name: "a chain takes its newest slot for its last", attacks: "I3",
		edits: []edit{{chainFile, "\tif c.n == 0 {\n\t\tc.last, c.tail, c.next = slot, at, Low(word)\n\t}\n\tc.first = at\n", "\tc.last, c.tail, c.next = slot, at, Low(word)\n\tc.first = at\n"}},
		by:    []string{"chains and single slots come to one limbo"},
		quick: true,
	},
	{
		name: "a chain forgets what its last slot links to", attacks: "I3",
		edits: []edit{{chainFile, "\t\tc.next = i\n", ""}},
		by:    []string{"chains and single slots come to one limbo"},
	},
	{
		name: "a chain that was retired is used on", attacks: "I3",
		edits: []edit{{limboFile, "\tr.chain = chain[T]{}\n", ""}},
		by:    []string{"chains and single slots come to one limbo"},
	},
}
