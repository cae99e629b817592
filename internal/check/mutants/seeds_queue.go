package main

// Seeds against FIFO: the queue, its dummy, and the reserve behind it.

const queueFile = "shard/queue.go"

var queueSeeds = []seed{
	{
		name: "a queue keeps nothing back", attacks: "I9",
		edits: []edit{{queueFile, "\tkeeps := s.arena.keeps(s.at)\n\tready", "\tkeeps := uint32(0)\n\tready"}},
		by:    []string{"FIFO: enqueue and dequeue"},
		quick: true,
	},
	{
		name: "a queue gets a slot of the reserve", attacks: "I9",
		edits: []edit{{queueFile, "min(s.rest.n-keeps, reclaimMost)", "min(s.rest.n-keeps+1, s.rest.n, reclaimMost)"}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "a batch takes the place of more than it has", in: shardPackage, attacks: "I9",
		edits: []edit{{queueFile, "case c.n >= keeps:", "case c.n > 0:"}},
		tests: []string{"TestReserveIsNeverHandedOut"},
	},
	{
		name: "the greater parts of a reserve are spread evenly", in: shardPackage, attacks: "I9",
		edits: []edit{{arenaFile, "\tif i < n%parts {\n\t\treturn n/parts + 1\n\t}\n\treturn n / parts\n", "\treturn n*(i+1)/parts - n*i/parts\n"}},
		tests: []string{"TestCapacityOfAQueueIsExactWhileItWears"},
	},
	{
		name: "a batch comes to a queue the wrong way round", in: shardPackage, attacks: "FIFO",
		edits: []edit{{reclaimFile, "\t\t\tb.turn(slot, i, word)\n\t\t\tb.n++\n", "\t\t\tb.turned.append(slot, i, word)\n\t\t\tb.n++\n"}},
		tests: []string{"TestQueueHandsOutTheOldestFirst"},
	},
	{
		name: "a queue gets a batch that is turned round in part", in: shardPackage, attacks: "L4",
		edits: []edit{{reclaimFile, "\t\tif b.top != None {\n\t\t\treturn 0\n\t\t}\n", ""}},
		tests: []string{"TestReclaimIsBounded"},
	},
	{
		name: "a queue keeps a slot back too many", attacks: "I9", ends: stuck,
		edits: []edit{{queueFile, "if keeps := s.arena.keeps(s.at); s.rest.n > keeps {", "if keeps := s.arena.keeps(s.at) + 1; s.rest.n > keeps {"}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "an exhausted slot is not taken from the reserve", attacks: "I9",
		edits: []edit{{reclaimFile, "\tif s.fifo {\n\t\ta.wear() //", "\tif false {\n\t\ta.wear() //"}},
		by:    []string{"exhaustion, FIFO"},
	},
	{
		name: "the queue's end keeps the link that it had", attacks: "I3",
		edits: []edit{{queueFile, "\t\ts.seals.Add(1)\n\t\tc.link(None)\n", "\t\ts.seals.Add(1)\n"}},
		by:    []string{"FIFO: enqueue and dequeue"},
		quick: true,
	},
	{
		name: "the dummy keeps the link that it had", attacks: "I3",
		edits: []edit{{queueFile, "\t\tdummy.link(None)\n", ""}},
		by:    []string{"Trim under FIFO"},
	},
	{
		name: "the end of what is kept back keeps the link that it had", in: shardPackage, attacks: "I3",
		edits: []edit{{queueFile, "\tc.link(None)\n\tif s.tail == None", "\tif s.tail == None"}},
		tests: []string{"TestTrimKeepsTheOrderOfEachList"},
	},
	{
		name: "the queue's tail stays where it was", attacks: "L4",
		edits: []edit{{queueFile, "\t\ts.tail = Low(c.tail)\n", ""}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "a queue's new end is linked before it ends", attacks: "I3",
		edits: []edit{
			{queueFile, "\t\ts.seals.Add(1)\n\t\tc.link(None)\n", "\t\ts.seals.Add(1)\n"},
			{queueFile, "\t\ts.tail = Low(c.tail)\n", "\t\tc.link(None)\n\t\ts.tail = Low(c.tail)\n"},
		},
		by: []string{"FIFO: enqueue and dequeue"},
	},
}
