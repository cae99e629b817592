package main

// Seeds against reclaiming: the lock, the seal and its tag, the way back to the
// freelist, and waiting for it.

const (
	reclaimFile = "shard/reclaim.go"
	shardFile   = "shard/shard.go"
	arenaFile   = "shard/arena.go"
)

var reclaimSeeds = []seed{
	{
		name: "a seal takes its tag before the swap", row: 1, attacks: "I6",
		edits: []edit{
			{reclaimFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.arena.Domain.Epoch()\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{reclaimFile, "\t\tb.tag = s.arena.Domain.Epoch()\n", "\t\tb.tag = tag\n"},
		},
		by:    []string{"another shard ends the epoch during a seal"},
		quick: true,
	},
	{
		name: "a seal ends its epoch before the swap", row: 1, attacks: "I6",
		edits: []edit{
			{reclaimFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.arena.Domain.Epoch()\n\tif !s.arena.exact && (e == effortKnown || s.sealed.n > 0 && !s.ahead) {\n\t\ttag = s.arena.Domain.Retire()\n\t}\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{reclaimFile, "\t\tb.tag = s.arena.Domain.Retire()\n", "\t\tb.tag = tag\n"},
		},
		by: []string{"a guard comes during a seal behind another"},
	},
	{
		name: "a batch is reclaimed one epoch too early", row: 1, attacks: "I8",
		edits: []edit{{reclaimFile, "b.tag < d.Safe()", "b.tag <= d.Safe()"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "a batch is reclaimed without a look at the guards", attacks: "I8",
		edits: []edit{{reclaimFile, "scan && d.Over(b.tag)", "scan"}},
		by:    []string{"two brief pins of one cell"},
	},
	{
		name: "a batch is sealed without the lock", attacks: "I3",
		edits: []edit{{reclaimFile,
			"\tif !s.mu.TryLock() {\n\t\treturn\n\t}\n\ts.settle()\n",
			"\tif s.mu.TryLock() {\n\t\ts.mu.Unlock()\n\t}\n\ts.mu.Lock()\n\ts.mu.Unlock()\n\ts.settle()\n"},
			{reclaimFile, "\tif !s.sealed.full() {\n\t\ts.seal(effortKnown)\n\t}\n\ts.mu.Unlock()\n", "\tif !s.sealed.full() {\n\t\ts.seal(effortKnown)\n\t}\n"}},
		by: []string{"a guard is pinned between two removals of a small pool", "small pool: removals, guards and reclaimers"},
	},
	{
		name: "a stamped batch takes its tag before the swap", attacks: "I6",
		edits: []edit{
			{reclaimFile, "\thead := s.limbo.Swap(emptyList) // observes (P7)\n", "\ttag := s.latest.Load()\n\thead := s.limbo.Swap(emptyList) // observes (P7)\n"},
			{reclaimFile, "\t\tb.tag = s.latest.Load()\n", "\t\tb.tag = tag\n"},
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
		edits: []edit{{reclaimFile, "\t\tif e == effortWait {\n\t\t\ts.mu.Lock()\n\t\t} else if !s.mu.TryLock() {", "\t\tif !s.mu.TryLock() {"},
			{claimFile, "blocked && a.Domain.Held()", "blocked"}},
		by:    []string{"an insertion meets a reclaimer that was preempted", "an insertion meets two reclaimers under FIFO"},
		quick: true,
	},
	{
		name: "a seal shows nothing while it takes", attacks: "L11",
		edits: []edit{
			{reclaimFile, "\ts.left.Add(1)                   // for an insertion that looks now: it must see that something waits\n", ""},
			{reclaimFile, "s.left.Add(b.n - 1)", "s.left.Add(b.n)"},
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
		name: "a seal that finds nothing does not count", attacks: "Synchronize",
		edits: []edit{{reclaimFile,
			"\tnumber := s.seals.Add(1)\n\tif Low(s.limbo.Load()) == None {\n\t\ts.settle()\n\t\treturn\n\t}\n",
			"\tif Low(s.limbo.Load()) == None {\n\t\treturn\n\t}\n\tnumber := s.seals.Add(1)\n"}},
		by: []string{"two Synchronize"},
	},
	{
		name: "a whole batch is stored over the stack", attacks: "I3",
		edits: []edit{{reclaimFile,
			"\treturn to.free.CompareAndSwap(emptyList, Pack(Generation(word), b.top)) // publishes (P3)",
			"\tto.free.Store(Pack(Generation(word), b.top))\n\treturn true"}},
		by: []string{"a whole batch meets what a Worker gives back"},
	},
	{
		name: "a whole batch takes the place of what is on the stack", in: shardPackage, attacks: "L4",
		edits: []edit{{reclaimFile,
			"\tif to.free.Load() != emptyList {\n\t\treturn false\n\t}\n\tword := s.arena.slot(b.top).Word.Load()\n\treturn to.free.CompareAndSwap(emptyList, Pack",
			"\ttop := to.free.Load()\n\tword := s.arena.slot(b.top).Word.Load()\n\treturn to.free.CompareAndSwap(top, Pack"}},
		tests: []string{"TestBatchWaitsForAnEmptyStack"},
	},
	{
		name: "a batch that has passed waits although the stack is empty", in: shardPackage, attacks: "L4",
		edits: []edit{{reclaimFile, "case !visit && s.splice(b, to):", "case !visit && e >= effortAll && s.splice(b, to):"}},
		tests: []string{"TestBatchWaitsForAnEmptyStack"},
	},
	{
		name: "a batch that has passed waits although AutoTrim wants it", in: shardPackage, attacks: "AutoTrim",
		edits: []edit{{reclaimFile, " && !s.arena.AutoTrim", ""}},
		tests: []string{"TestBatchWaitsForAnEmptyStack"},
	},
	{
		name: "a seal after which nobody scans has the epoch of now", in: shardPackage, attacks: "L10",
		edits: []edit{{reclaimFile, "case e == effortKnown || s.sealed.n", "case s.sealed.n"}},
		tests: []string{"TestLaterGuardHoldsNothingBack"},
	},
	{
		name: "a seal behind one that waits has the epoch of now", in: shardPackage, attacks: "L10",
		edits: []edit{{reclaimFile, "case e == effortKnown || s.sealed.n > 0 && !s.ahead:", "case e == effortKnown:"}},
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
			"\t\tc.append(slot, i, word)\n",
			"\t\tword = Pack(a.First-1, Low(word))\n\t\tslot.Word.Store(word)\n\t\tc.append(slot, i, word)\n"}},
		by: []string{"two Synchronize"},
	},
	{
		name: "a slot whose generations are used up goes round", row: 11, attacks: "I2",
		edits: []edit{{reclaimFile, "\tif Generation(word) != Spent {\n", "\tif slot != nil {\n"}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "the rest of a large batch is forgotten", row: 13, attacks: "L4",
		edits: []edit{{reclaimFile,
			"\treturn s.release(&c, to)\n",
			"\tb.n = 0\n\treturn s.release(&c, to)\n"}},
		by:    []string{"arrears are more than one call moves"},
		quick: true,
	},
	{
		name: "slots go to the freelist before they are cleaned", attacks: "P3",
		edits: []edit{
			{reclaimFile, "\tvar c chain[T]\n", "\tvar c chain[T]\n\tvar late []*Slot[T]\n"},
			{reclaimFile, "\t\tcase a.Pointers:\n\t\t\tclear1(&slot.Value)\n", "\t\tcase a.Pointers:\n\t\t\tlate = append(late, slot)\n"},
			{reclaimFile, "\treturn s.release(&c, to)\n",
				"\tn := s.release(&c, to)\n\tfor _, slot := range late {\n\t\ta.Table.Pages()\n\t\tclear1(&slot.Value)\n\t}\n\treturn n\n"},
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
