package main

// Seeds against reclaiming: the claims, the seal and its tag, the way back to the
// freelist, and waiting for it.

const (
	batchFile   = "shard/batch.go"
	reclaimFile = "shard/reclaim.go"
	resetFile   = "shard/reset.go"
	shardFile   = "shard/shard.go"
	arenaFile   = "shard/arena.go"
)

var reclaimSeeds = []seed{
	{
		name: "a seal takes its tag before the swap", row: 1, attacks: "I6",
		edits: []edit{
			{batchFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.arena.Domain.Epoch()\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{batchFile, "\t\tb.tag = s.arena.Domain.Epoch()\n", "\t\tb.tag = tag\n"},
		},
		by:    []string{"another shard ends the epoch during a seal"},
		quick: true,
	},
	{
		name: "a seal ends its epoch before the swap", row: 1, attacks: "I6",
		edits: []edit{
			{batchFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.arena.Domain.Epoch()\n\tif !s.arena.exact && (e == effortKnown || s.guarded()) {\n\t\ttag = s.arena.Domain.Retire()\n\t}\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{batchFile, "\t\tb.tag = s.arena.Domain.Retire()\n", "\t\tb.tag = tag\n"},
		},
		by: []string{"a guard comes during a seal behind another"},
	},
	{
		name: "a batch is reclaimed one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{batchFile, "b.tag < d.Safe()", "b.tag <= d.Safe()"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "a batch is reclaimed without a look at the guards", attacks: "I8",
		edits: []edit{{batchFile, "e != effortKnown && d.Over(b.tag)", "e != effortKnown"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "an empty batch is claimed by load and store", attacks: "I3",
		edits: []edit{{batchFile, "\t\tif b.word.Load() == emptyList && b.word.CompareAndSwap(emptyList, claimed) { // observes (P9)\n", "\t\tif b.word.Load() == emptyList {\n\t\t\tb.word.Store(claimed)\n"}},
		by:    []string{"a guard is pinned between two removals of a small pool", "small pool: removals, guards and reclaimers"},
	},
	{
		name: "a sealed batch is claimed by load and store", attacks: "P9, I3",
		edits: []edit{{batchFile,
			"\t\tif first == nil || first.word.CompareAndSwap(word, claimed) { // observes (P9)\n\t\t\treturn first, busy\n",
			"\t\tif true {\n\t\t\tif first != nil {\n\t\t\t\tfirst.word.Store(claimed)\n\t\t\t}\n\t\t\treturn first, busy\n"}},
		by:    []string{"two Synchronize"},
		quick: true,
	},
	{
		name: "a batch is looked at before it is claimed", attacks: "I8",
		edits: []edit{{batchFile,
			"\t\tif first == nil || first.word.CompareAndSwap(word, claimed) { // observes (P9)\n\t\t\treturn first, busy\n",
			"\t\tif first == nil {\n\t\t\treturn nil, busy\n\t\t}\n\t\tover := first.over || s.arena.Domain.Over(first.tag)\n\t\tif w := first.word.Load(); isSealed(w) && first.word.CompareAndSwap(w, claimed) {\n\t\t\tfirst.over = over\n\t\t\treturn first, busy\n"}},
		by: []string{"small pool: removals, guards and reclaimers", "seal against frontier", "two shards, each sealed"},
	},
	{
		name: "a batch is left as over that was so before", attacks: "I8",
		edits: []edit{{batchFile, "b.top, b.n, b.over, b.turned, b.upright = Low(head), Generation(head), false, None, false", "b.top, b.n, b.turned, b.upright = Low(head), Generation(head), None, false"}},
		by:    []string{"two brief pins of one cell", "small pool: removals, guards and reclaimers"},
	},
	{
		name: "a batch in hand counts as none", attacks: "L11",
		edits: []edit{{reclaimFile, "\ts.left.Add(-n) // last: what waits has a place where an insertion looks\n", ""},
			{reclaimFile, "\tn := r.n\n\tr.visit()\n", "\tn := r.n\n\ts.left.Add(-n)\n\tr.visit()\n"}},
		by: []string{"an insertion meets a reclaimer that was preempted", "an insertion meets two reclaimers under FIFO"},
	},
	{
		name: "Synchronize forgets what a Reset that failed has left", attacks: "Synchronize",
		edits: []edit{{resetFile, "\t\t\ts.resets.failed.Add(1)\n", ""}},
		by:    []string{"a Reset fails beside Synchronize"},
	},
	{
		name: "Synchronize does not wait for Resets under way", attacks: "Synchronize",
		edits: []edit{{quiesceFile, "s.resets.flips.Load() + 3", "s.resets.flips.Load()"}},
		by:    []string{"Synchronize beside Resets", "Synchronize beside a queue's Resets"},
	},
	{
		name: "slots come to Reset uncounted", attacks: "Synchronize",
		edits: []edit{{resetFile, "\tr.under[phase%2].Add(n)\n", "\tr.under[phase%2].Add(0)\n"},
			{resetFile, "s.resets.under[phase%2].Add(-n)", "s.resets.under[phase%2].Add(-n + n)"}},
		by: []string{"Synchronize beside Resets", "Synchronize beside a queue's Resets"},
	},
	{
		name: "a stamped batch takes its tag before the swap", attacks: "I6",
		edits: []edit{
			{batchFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.latest.Load()\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{batchFile, "\t\tb.tag = s.latest.Load()\n", "\t\tb.tag = tag\n"},
		},
		by: []string{"small pool: removals, guards and reclaimers"},
	},
	{
		name: "a slot is pushed before its stamp is noted", attacks: "I6",
		edits: []edit{{limboFile, "\tfor old < tag && !s.latest.CompareAndSwap(old, tag) {\n\t\told = s.latest.Load() // another remover has raised it\n\t}\n", ""}},
		by:    []string{"small pool: removals, guards and reclaimers"},
	},
	{
		name: "a stamp is taken before the unlinking", attacks: "I6",
		edits: []edit{
			{limboFile, "\tif slot.Word.Load() != h {\n\t\treturn 0, false\n\t}\n\tseen = s.limbo.Load()\n", "\tif slot.Word.Load() != h {\n\t\treturn 0, false\n\t}\n\tif s.arena.exact {\n\t\ts.stamp(s.arena.tag())\n\t}\n\tseen = s.limbo.Load()\n"},
			{limboFile, "\ts.stamp(s.arena.tag())\n\tfor !s.limbo", "\tfor !s.limbo"},
		},
		by: []string{"a guard is pinned while a removal takes its stamp"},
	},
	{
		name: "what waits is not sealed before a guard's own comes", attacks: "L10",
		edits: []edit{{limboFile, "s.arena.Domain.Separates(old, tag) {", "s.arena.Domain.Separates(tag, old) {"}},
		by:    []string{"a guard delays only its own in a small pool"},
	},
	{
		name: "an insertion does not wait for a reclaimer before it is refused", attacks: "L11",
		edits: []edit{{batchFile, "if !busy || e < effortWait {", "if !busy || e <= effortWait {"},
			{claimFile, "blocked && a.Domain.Held()", "blocked"}},
		by:    []string{"an insertion meets a reclaimer that was preempted", "an insertion meets two reclaimers under FIFO"},
		quick: true,
	},
	{
		name: "a seal shows nothing while it takes", attacks: "L11",
		edits: []edit{
			{batchFile, "\ts.left.Add(1)                   // for an insertion that looks now: it must see that something waits\n", ""},
			{batchFile, "\tif b.n != 1 {\n\t\ts.left.Add(b.n - 1)\n", "\tif b.n != 0 {\n\t\ts.left.Add(b.n)\n"},
		},
		by:    []string{"an insertion meets a reclaimer that was preempted"},
		quick: true,
	},
	{
		name: "a look-up under way counts as a guard", attacks: "L11",
		edits: []edit{{claimFile, "blocked && a.Domain.Held()", "blocked"}},
		by:    []string{"a look-up is preempted in its pin"},
		quick: true,
	},
	{
		name: "pop follows a link that it has not checked", attacks: "L1",
		edits: []edit{{stackFile, "\t\tif Generation(word) != Generation(top) {\n\t\t\tcontinue // popped since: its link may lead outside t\n\t\t}\n", ""}},
		by:    []string{"an insertion is overtaken by growth"},
		ends:  panics,
		quick: true,
	},
	{
		name: "a whole batch is stored over the stack", attacks: "I3",
		edits: []edit{{stackFile,
			"\treturn l.free.CompareAndSwap(emptyList, Pack(Generation(word), b.top)) // publishes (P3)",
			"\tl.free.Store(Pack(Generation(word), b.top))\n\treturn true"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
	{
		name: "a whole batch takes the place of what is on the stack", in: shardPackage, attacks: "L4",
		edits: []edit{{stackFile,
			"\tif l.free.Load() != emptyList {\n\t\treturn false\n\t}\n\tword := l.arena.slot(b.top).Word.Load()\n\treturn l.free.CompareAndSwap(emptyList, Pack",
			"\ttop := l.free.Load()\n\tword := l.arena.slot(b.top).Word.Load()\n\treturn l.free.CompareAndSwap(top, Pack"}},
		tests: []string{"TestBatchWaitsForAnEmptyStack"},
	},
	{
		name: "a batch that has passed waits although the stack is empty", in: shardPackage, attacks: "L4",
		edits: []edit{{reclaimFile, "if r.to.list.splice(b) {", "if r.effort >= effortAll && r.to.list.splice(b) {"}},
		tests: []string{"TestBatchWaitsForAnEmptyStack"},
	},
	{
		name: "a batch that has passed waits although AutoTrim wants it", in: shardPackage, attacks: "AutoTrim",
		edits: []edit{{reclaimFile, " && !a.AutoTrim", ""}},
		tests: []string{"TestBatchWaitsForAnEmptyStack"},
	},
	{
		name: "a seal after which nobody scans has the epoch of now", in: shardPackage, attacks: "L10",
		edits: []edit{{batchFile, "case e == effortKnown || s.guarded():", "case s.guarded():"}},
		tests: []string{"TestLaterGuardHoldsNothingBack"},
	},
	{
		name: "a seal behind one that waits has the epoch of now", in: shardPackage, attacks: "L10",
		edits: []edit{{batchFile, "case e == effortKnown || s.guarded():", "case e == effortKnown:"}},
		tests: []string{"TestLaterGuardHoldsNothingBack"},
	},
	{
		name: "a whole batch goes back with slots used up", attacks: "I3",
		edits: []edit{{reclaimFile, " || a.worn() > 0", ""}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "used-up slots are counted before those retired", attacks: "I3",
		edits: []edit{{arenaFile,
			"\texhausted := a.exhausted.Load() // first: it never passes a spent that is read later\n\treturn a.spent.Load() - exhausted",
			"\tspent := a.spent.Load()\n\treturn spent - a.exhausted.Load()"}},
		by: []string{"plain values run out of generations in two shards"},
	},
	{
		name: "reclaiming sets generations back", row: 11, attacks: "I2",
		edits: []edit{{reclaimFile,
			"\t\t\tr.clean.append(slot, i, word)\n",
			"\t\t\tword = Pack(a.First-1, Low(word))\n\t\t\tslot.Word.Store(word)\n\t\t\tr.clean.append(slot, i, word)\n"}},
		by: []string{"two Synchronize"},
	},
	{
		name: "a slot whose generations are used up goes round", row: 11, attacks: "I2",
		edits: []edit{{reclaimFile, "\tif Generation(word) != Spent {\n", "\tif slot != nil {\n"}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "the rest of a large batch is forgotten", row: 13, attacks: "L4",
		edits: []edit{{reclaimFile, "\tb.top, b.n = r.top, b.n-n\n", "\tb.top, b.n = r.top, 0\n"}},
		by:    []string{"arrears are more than one call moves"},
		quick: true,
	},
	{
		name: "slots go to the freelist before they are cleaned", attacks: "P3",
		edits: []edit{
			{reclaimFile, "\t\tif zero || !fit {\n", "\t\tif !fit {\n"},
			{reclaimFile, "held, zero := a.held(), a.Pointers && a.Reset == nil", "held := a.held()"},
			{reclaimFile, "\tb.top, b.n = r.top, b.n-n\n\tr.deliver()\n",
				"\tb.top, b.n = r.top, b.n-n\n\tvar late []*Slot[T]\n\tfor k, i := uint32(0), Low(r.clean.first); k < r.clean.n; k++ {\n\t\tlate = append(late, a.slot(i))\n\t\ti = Low(a.slot(i).Word.Load())\n\t}\n" +
					"\tr.deliver()\n\tfor _, slot := range late {\n\t\ta.Table.Pages()\n\t\tclear1(&slot.Value)\n\t}\n"},
		},
		by:    []string{"two Synchronize"},
		quick: true,
	},
	{
		name: "marks of Take are set by load and store", attacks: "Reset",
		edits: []edit{{arenaFile,
			"\t\tm.taken[j/32].Or(1 << (j % 32))\n",
			"\t\tmarks := &m.taken[j/32]\n\t\tmarks.Store(marks.Load() | 1<<(j%32))\n"}},
		by: []string{"two Takes of neighbours that are Reset"},
	},
	{
		name: "a mark of Take is cleared with its neighbours", attacks: "Reset",
		edits: []edit{{arenaFile, ".And(^bit)&bit != 0", ".Swap(0)&bit != 0"}},
		by:    []string{"Take where slots are Reset"},
	},
}
