package main

// Seeds against FIFO: the queue, its dummy, and the credits that keep the reserve.

const queueFile = "shard/queue.go"

var queueSeeds = []seed{
	{
		name: "a credit is taken by load and store", attacks: "I9",
		edits: []edit{{queueFile,
			"\t\tif s.credit.CompareAndSwap(n, n-1) {\n",
			"\t\tif s.credit.Store(n - 1); true {\n"}},
		by:    []string{"FIFO: two shards lend each other slots"},
		quick: true,
	},
	{
		name: "a credit is given before its slot", attacks: "I9",
		edits: []edit{{reclaimFile,
			"\t\ts.GiveCredit(int64(s.appendRun(&r)))\n",
			"\t\ts.GiveCredit(int64(r.n))\n\t\ts.appendRun(&r)\n"}},
		by: []string{"FIFO: two shards lend each other slots"},
	},
	{
		name: "a range comes with a credit too many", attacks: "I9",
		edits: []edit{{freshFile, "s.GiveCredit(int64(hi - rest))", "s.GiveCredit(int64(hi - lo))"}},
		by:    []string{"FIFO: a range of slots"},
	},
	{
		name: "a used-up slot is made good and the reserve not charged", attacks: "I9",
		edits: []edit{{reclaimFile, "\tif s.fifo && s.space.wear() {", "\tif s.fifo {"}},
		by:    []string{"exhaustion, FIFO"},
	},
	{
		name: "the queue's end keeps the link that it had", attacks: "I3",
		edits: []edit{{queueFile, "\tr.link(None)\n", ""}},
		by:    []string{"FIFO: arrears are more than one call moves"},
	},
	{
		name: "the queue's tail stays where it was", attacks: "L4",
		edits: []edit{{queueFile, "Low(r.first)))\n\ts.tail = r.lastAt\n", "Low(r.first)))\n"}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
}
