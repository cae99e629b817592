package main

// Seeds against the search for a vacant slot: where it looks, and what it is sure of
// before it refuses.

const (
	claimFile   = "shard/claim.go"
	quiesceFile = "shard/quiesce.go"
)

var claimSeeds = []seed{
	{
		name: "nothing is wrung before a refusal", row: 13, attacks: "ErrFull", ends: stuck,
		edits: []edit{{claimFile, "more := o.waiting() > 0 || o.list.keepsTooMuch(); more;", "more := false; more;"}, {claimFile, "blocked && a.Domain.Held()", "blocked"}},
		by:    []string{"a pool that was full and stalled fills again"},
		quick: true,
	},
	{
		name: "a wringing passes the first shard over", row: 13, attacks: "ErrFull",
		edits: []edit{{claimFile, "\tfor k := range a.shards {\n\t\to := a.next(s, k)\n\t\tfor more := o.waiting()", "\tfor k := 1; k < len(a.shards); k++ {\n\t\to := a.next(s, k)\n\t\tfor more := o.waiting()"}, {claimFile, "blocked && a.Domain.Held()", "true"}},
		by:    []string{"a pool that was full and stalled fills again"},
	},
	{
		name: "a search does not look at its own stack again", attacks: "ErrFull", ends: stuck,
		edits: []edit{{claimFile,
			"\tif slot, h := s.Pop(); slot != nil { // it may have some again\n\t\treturn slot, h\n\t}\n",
			"\tif s.fifo {\n\t\tif slot, h := s.Pop(); slot != nil {\n\t\t\treturn slot, h\n\t\t}\n\t}\n"}},
		by: []string{"an insertion meets a reclaimer that was preempted"},
	},
	{
		name: "a search passes its own queue over", attacks: "ErrFull", ends: stuck,
		edits: []edit{{claimFile, "\tif slot, h := s.Pop(); slot != nil { // it may have some again\n\t\treturn slot, h\n\t}\n", ""}},
		by:    []string{"FIFO: enqueue and dequeue"},
	},
	{
		name: "a shard that keeps too much counts as bare", attacks: "I9, ErrFull",
		edits: []edit{{queueFile, " && !q.keepsTooMuch() //", " //"}},
		by:    []string{"FIFO: what another shard keeps back stands in for a worn slot"},
	},
	{
		name: "nobody takes what a shard keeps too much of", attacks: "I9, ErrFull", ends: stuck,
		edits: []edit{
			{claimFile, "o.waiting() > 0 || o.list.keepsTooMuch()", "o.waiting() > 0"},
			{claimFile, " || e == effortAll && o.list.keepsTooMuch()", ""},
		},
		by: []string{"FIFO: what another shard keeps back stands in for a worn slot"},
	},
	{
		name: "a shard that keeps too much reclaims and keeps it", attacks: "I9, ErrFull", ends: stuck,
		edits: []edit{{reclaimFile, "more = e >= effortAll && s.list.keepLess()", "more = false"}},
		by:    []string{"FIFO: what another shard keeps back stands in for a worn slot"},
	},
	{
		name: "a refusal does not ask for Trim again", attacks: "ErrFull",
		edits: []edit{{claimFile, "err != nil && a.settled(trims) {", "err != nil {"}},
		by:    []string{"Trim takes what an insertion has reclaimed"},
	},
	{
		name: "Synchronize does not wait for what is in limbo", attacks: "Synchronize",
		edits: []edit{{quiesceFile, "\tknown = s.sealNow()\n", "\tknown = true\n"}},
		by:    []string{"Synchronize while more waits than can be sealed"},
		quick: true,
	},
	{
		name: "Synchronize does not wait for room to seal", attacks: "Synchronize",
		edits: []edit{{quiesceFile, "return s.seals.Load(), known", "return s.seals.Load(), true"}},
		by:    []string{"Synchronize while more waits than can be sealed"},
	},
	{
		name: "Synchronize does not wait for batches in others' hands", attacks: "Synchronize",
		edits: []edit{{batchFile, "if word == claimed || isSealed", "if isSealed"}},
		by:    []string{"Synchronize beside a reclaimer"},
	},
	{
		name: "a seal is numbered after it took what waits", attacks: "Synchronize",
		edits: []edit{
			{batchFile, "\tb.number = s.seals.Add(1)\n", ""},
			{batchFile, "\tif b.n != 1 {\n", "\tb.number = s.seals.Add(1)\n\tif b.n != 1 {\n"},
		},
		by: []string{"Synchronize beside a seal"},
	},
}
