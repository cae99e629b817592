package main

// Seeds against Workers: what only one goroutine sees, until it gives it back.

const workerFile = "pool/worker.go"

var workerSeeds = []seed{
	{
		name: "Take reads the value by the table from before the removal", attacks: "L7",
		edits: []edit{
			{workerFile, "\t} else if ok = w.Remove(h); ok {\n", "\t} else if w.refresh(); h.Index() >= w.pages.Limit {\n\t\treturn v, false\n\t} else if slot := shard.At[T](&w.pages, h.Index()); w.Remove(h) {\n\t\tok = true\n"},
			{workerFile, "\t\tv = w.bag[len(w.bag)-1].slot.Value\n", "\t\tv = slot.Value\n"},
		},
		by: []string{"a Worker takes what lives where another page was"},
	},
	{
		name: "a Worker removes by load and store", row: 8, attacks: "I1",
		edits: []edit{{workerFile,
			"\tok := slot.Word.CompareAndSwap(uint64(h), shard.Vacated(uint64(h), w.bagTop))\n",
			"\tok := slot.Word.Load() == uint64(h)\n\tif ok {\n\t\tslot.Word.Store(shard.Vacated(uint64(h), w.bagTop))\n\t}\n"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
		quick: true,
	},
	{
		name: "a bag goes round one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{workerFile, "!sp.Domain.Over(w.sealTag())", "w.sealTag() > sp.Domain.Frontier()"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
		quick: true,
	},
	{
		name: "a bag goes round without a new life", row: 11, attacks: "I2",
		edits: []edit{{workerFile, "\t\tw.bag[i].h = shard.Reborn(w.bag[i].h)\n", "\t\t_ = w.bag[i]\n"}},
		by:    []string{"a whole batch meets what a Worker gives back"},
		quick: true,
	},
	{
		name: "a bag goes round uncleaned", attacks: "I1",
		edits: []edit{{workerFile, "\tif sp.Zero {\n", "\tif sp.Zero && len(w.bag) == 0 {\n"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
	},
	{
		name: "a bag takes a slot without another life", attacks: "I2",
		edits: []edit{{workerFile,
			"h.Index() >= w.pages.Limit || shard.LastLife(uint64(h)) ||",
			"h.Index() >= w.pages.Limit ||"},
			{workerFile, " != nil || shard.LastLife(uint64(h)) {", " != nil {"}},
		by: []string{"a Worker removes last lives"},
	},
	{
		name: "a bag goes to limbo the wrong way round", attacks: "L4",
		edits: []edit{{workerFile, "shard.ChainOf(w.bag[0].h, w.bag[n-1].h, n)", "shard.ChainOf(w.bag[n-1].h, w.bag[0].h, n)"}},
		by:    []string{"a Worker refills, turns its bag and flushes"},
	},
	{
		name: "a dropped Worker loses its bag", attacks: "L4",
		edits: []edit{{workerFile, "\tc := w.emptyBag()\n\tw.shard.AbandonChain(&c)\n", "\tw.emptyBag()\n"}},
		by:    []string{"a Worker is dropped"},
		quick: true,
	},
	{
		name: "a Worker forgets its range", attacks: "L4",
		edits: []edit{{workerFile, "\t\tw.shard.ReturnFresh(w.next)\n", ""}},
		by:    []string{"a Worker takes a range and gives the rest back"},
	},
}
