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
		name: "a queue gets a batch that is turned round in part", attacks: "L4", ends: panics,
		edits: []edit{{queueFile, "return visited, b.upright", "return visited, true"}},
		by:    []string{"FIFO: arrears that come to a queue whole"},
	},
	{
		name: "a queue keeps a slot back too many", attacks: "I9", ends: stuck,
		edits: []edit{{queueFile, "\tkeeps := q.arena.keeps(q.at)\n\tif q.rest.n <= keeps {", "\tkeeps := q.arena.keeps(q.at) + 1\n\tif q.rest.n <= keeps {"}},
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
		name: "a queue is held for each append alone", attacks: "L14",
		edits: []edit{
			{reclaimFile, "\tr := run[T]{from: s, to: s.list.home(to)", "\ts.list.release()\n\tr := run[T]{from: s, to: s.list.home(to)"},
			{reclaimFile, "\tmore = e >= effortAll && s.list.keepLess()\n", "\ts.list.hold(true)\n\tmore = e >= effortAll && s.list.keepLess()\n"},
			{reclaimFile, "\tr.deliver()\n\ts.left", "\ts.list.hold(true)\n\tr.deliver()\n\ts.list.release()\n\ts.left"},
			{reclaimFile, "\t\tif r.to.list.splice(b) {", "\t\ts.list.hold(true)\n\t\tdone := r.to.list.splice(b)\n\t\ts.list.release()\n\t\tif done {"},
		},
		by:    []string{"FIFO: enqueue and dequeue"},
		quick: true,
	},
	{
		name: "a seal does not hold the queue", attacks: "L14",
		edits: []edit{{batchFile, "\tif !s.list.hold(false) {\n\t\treturn false\n\t}\n\tdefer s.list.release()\n\treturn s.seal(effortKnown)", "\treturn s.seal(effortKnown)"}},
		by:    []string{"FIFO: seals beside a reclaimer"},
	},
	{
		name: "a batch that is looked at is passed over", attacks: "L14",
		edits: []edit{{batchFile, "\ts.list.hold(true) // or a reclaimer of a queue would pass over a batch that is looked at\n\tdefer s.list.release()\n", ""}},
		by:    []string{"FIFO: Stats beside a reclaimer"},
	},
	{
		name: "a whole batch comes to a queue without its lock", attacks: "I3, L14",
		edits: []edit{{queueFile, "return q.mu.TryLock()\n}\n\nfunc (q *queue[T]) release() { q.mu.Unlock() }", "return true\n}\n\nfunc (q *queue[T]) release() {\n\tif q.mu.TryLock() {\n\t}\n\tq.mu.Unlock()\n}"}},
		by:    []string{"FIFO: whole batches come to a queue"},
	},
}
