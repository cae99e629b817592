package main

// Seeds against FIFO: the queue, its dummy, and the reserve behind it.

const queueFile = "shard/queue.go"

var queueSeeds = []seed{
	{
		name: "a queue keeps nothing back", attacks: "I9",
		edits: []edit{{queueFile, "\tkeeps := q.arena.keeps(q.at)\n\tready", "\tkeeps := uint32(0)\n\tready"}},
		by:    []string{"FIFO: enqueue and dequeue"},
		quick: true,
	},
	{
		name: "a queue gets a slot of the reserve", attacks: "I9",
		edits: []edit{{queueFile, "min(q.rest.n-keeps, reclaimMost)", "min(q.rest.n-keeps+1, q.rest.n, reclaimMost)"}},
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
		edits: []edit{{queueFile, "\tif b.turned == None && !b.upright {\n", "\tb.upright = true\n\tif b.turned == None && !b.upright {\n"}},
		tests: []string{"TestQueueHandsOutTheOldestFirst"},
	},
	{
		name: "a queue gets a batch that is turned round in part", attacks: "L4",
		edits: []edit{{queueFile, "return visited, b.upright", "return visited, true"}},
		by:    []string{"FIFO: arrears that come to a queue whole"},
	},
	{
		name: "a queue keeps a slot back too many", attacks: "I9", ends: stuck,
		edits: []edit{{queueFile, "if keeps := q.arena.keeps(q.at); q.rest.n > keeps {", "if keeps := q.arena.keeps(q.at) + 1; q.rest.n > keeps {"}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "an exhausted slot is not taken from the reserve", attacks: "I9",
		edits: []edit{{reclaimFile, "\ta.wear() // first", "\t// first"}},
		by:    []string{"exhaustion, FIFO"},
	},
	{
		name: "the queue's end keeps the link that it had", attacks: "I3",
		edits: []edit{{queueFile, "\t\tq.seals.Add(1)\n\t\tc.link(None)\n", "\t\tq.seals.Add(1)\n"}},
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
		edits: []edit{{queueFile, "\tc.link(None)\n\tif q.tail == None", "\tif q.tail == None"}},
		tests: []string{"TestTrimKeepsTheOrderOfEachList"},
	},
	{
		name: "the queue's tail stays where it was", attacks: "L4",
		edits: []edit{{queueFile, "\t\tq.tail = Low(c.tail)\n", ""}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "a queue's new end is linked before it ends", attacks: "I3",
		edits: []edit{
			{queueFile, "\t\tq.seals.Add(1)\n\t\tc.link(None)\n", "\t\tq.seals.Add(1)\n"},
			{queueFile, "\t\tq.tail = Low(c.tail)\n", "\t\tc.link(None)\n\t\tq.tail = Low(c.tail)\n"},
		},
		by: []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "what a queue refuses is forgotten", attacks: "L4",
		edits: []edit{{reclaimFile, "\tif !done { // they wait", "\tif false { // they wait"}},
		by:    []string{"FIFO: two shards lend each other slots", "FIFO: arrears are more than one call moves"},
	},
	{
		name: "what a queue refuses keeps the link that it had", attacks: "L4",
		edits: []edit{{reclaimFile, "\t\tc.link(b.top)\n", "\t\tc.link(None)\n"}},
		by:    []string{"FIFO: arrears are more than one call moves"},
	},
	{
		name: "a whole batch comes to a queue without its lock", attacks: "I3",
		edits: []edit{{queueFile, "\treturn q.put(chain[T]{\n", "\tc := chain[T]{\n"},
			{queueFile, "\t}, wait)\n", "\t}\n\tq.enqueue(&c)\n\treturn true\n"}},
		by: []string{"FIFO: whole batches come to a queue"},
	},
}
