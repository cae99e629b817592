package main

// Seeds against dense.Store: phases, the marks of the dead, the claiming of positions,
// and the closing up, which is not a matter of schedules.

const (
	denseIn      = "pool/dense"
	densePhase   = "pool/dense/phase.go"
	denseMarks   = "pool/dense/marks.go"
	denseCreate  = "pool/dense/create.go"
	denseRoom    = "pool/dense/room.go"
	denseSlot    = "pool/dense/slot.go"
	denseCloseUp = "pool/dense/closeup.go"
	denseRefresh = "pool/dense/refresh.go"
)

var denseSeeds = []seed{
	{
		name: "a call looks for a Refresh when it begins alone", in: denseIn, attacks: "phase",
		edits: []edit{{densePhase, "if p.word.Load() != w {", "if false {"}},
		by:    []string{"Refresh over look-ups", "Refresh over a killer"},
		quick: true,
	},
	{
		name: "a call looks for a Refresh when it ends alone", in: denseIn, attacks: "phase",
		edits: []edit{{densePhase, "\tif w&1 == 0 {\n\t\tp.refuse(op)\n\t}\n\treturn w", "\treturn w"}},
		by:    []string{"Refresh over look-ups", "Refresh over a killer"},
		quick: true,
	},
	{
		name: "a Refresh begins whoever has begun before", in: denseIn, attacks: "phase",
		edits: []edit{{densePhase, "!p.word.CompareAndSwap(w, w+1)", "p.word.Add(1) == 0"}},
		by:    []string{"two Refreshes"},
		quick: true,
	},
	{
		name: "a value is marked by load and store", in: denseIn, attacks: "marks",
		edits: []edit{{denseMarks, "before := word.Or(bit)", "before := word.Load()\n\tword.Store(before | bit)"}},
		by:    []string{"two killers of one value", "marks of neighbours and of others, three levels of them"},
		quick: true,
	},
	{
		name: "who marks a marked value has killed it as well", in: denseIn, attacks: "marks",
		edits: []edit{{denseMarks, "\treturn before&bit == 0\n", "\treturn true\n"}},
		by:    []string{"two killers of one value"},
	},
	{
		name: "the levels above a mark are not told", in: denseIn, attacks: "marks",
		edits: []edit{{denseMarks, "\t\tm.addAbove(uint(i) / 64)\n", "\t\t_ = m.addAbove\n"}},
		by:    []string{"marks of neighbours and of others, three levels of them"},
	},
	{
		name: "the levels above a mark are told of its neighbours alone", in: denseIn, attacks: "marks",
		edits: []edit{{denseMarks, "Or(1<<(i%64)) != 0 {", "Or(1<<(i%64)) == 0 {"}},
		by:    []string{"marks of neighbours and of others, three levels of them"},
	},
	{
		name: "a position is claimed by load and store", in: denseIn, attacks: "claiming",
		edits: []edit{{denseCreate, "n := s.tail.Add(1) - 1", "n := s.tail.Load()\n\ts.tail.Store(n + 1)"}},
		by:    []string{"three creators and one chunk", "two creators grow into chunks"},
		quick: true,
	},
	{
		name: "a position at the limit is claimed", in: denseIn, attacks: "claiming",
		edits: []edit{{denseCreate, "\tif n >= s.limit {", "\tif n > s.limit {"}},
		by:    []string{"creators at the limit"},
		ends:  panics,
	},
	{
		name: "a Create beyond the limit leaves its addition there", in: denseIn, attacks: "claiming",
		edits: []edit{{denseCreate, "\t\ts.tail.Add(^uint64(0))\n", ""}},
		by:    []string{"creators at the limit"},
	},
	{
		name: "a slot lives before it has its value", in: denseIn, attacks: "claiming",
		edits: []edit{{denseCreate,
			"\tc.values[at] = *v\n\th := c.handles[at]\n",
			"\th := c.handles[at]\n\tif h != 0 {\n\t\tp, k := d.find(h.Index())\n\t\tp.slots[k].begin(h.Generation(), i)\n\t\ts.tail.Load() // a step, before which others have theirs\n\t}\n\tc.values[at] = *v\n"}},
		by:    []string{"a slot is used again, under the eyes of its old handle and of a guess at its next"},
		quick: true,
	},
	{
		name: "a slot lives before it knows its value's position", in: denseIn, attacks: "claiming",
		edits: []edit{{denseSlot, "\tsl.at = at\n\tsl.generation.Store(generation)\n", "\tsl.generation.Store(generation)\n\tsl.generation.Load() // a step, before which others have theirs\n\tsl.at = at\n"}},
		by:    []string{"a slot is used again, under the eyes of its old handle and of a guess at its next"},
	},
	{
		name: "a chunk is made whoever has made it meanwhile", in: denseIn, attacks: "claiming",
		edits: []edit{{denseRoom, "\tif c == nil {\n\t\tmade", "\tif true {\n\t\tmade"}},
		by:    []string{"three creators and one chunk", "two creators grow into chunks"},
		quick: true,
	},
	{
		name: "a vacant slot's even generation is a name", in: denseIn, attacks: "stale",
		edits: []edit{{denseSlot, " && generation&1 != 0", ""}},
		tests: []string{"TestForeignHandles", "TestOperationsMatchModel"},
	},
	{
		name: "a slot does not end with its value", in: denseIn, attacks: "stale",
		edits: []edit{{denseSlot, "= generation + 1", "= generation"}},
		tests: []string{"TestKilledStaysUntilRefresh", "TestOperationsMatchModel"},
	},
	{
		name: "a slot is issued again under its old generation", in: denseIn, attacks: "stale",
		edits: []edit{{denseCloseUp, "handle.Next(h)", "h"}},
		tests: []string{"TestHandlesAreReproducible", "TestGenerationsRunOut", "TestOperationsMatchModel"},
	},
	{
		name: "the last generation is not the last", in: denseIn, attacks: "stale",
		edits: []edit{{denseCloseUp, "h.Generation() == handle.Last", "false"}},
		tests: []string{"TestGenerationsRunOut"},
	},
	{
		name: "slots behind a long run are not told of its move", in: denseIn, attacks: "closing up",
		edits: []edit{{denseCloseUp, "\t\tslots[h.Index()].at = uint32(to + i)\n", "\t\t_, _ = i, h\n"}},
		tests: []string{"TestOrderIsKept", "TestEveryShareOfTheDead", "TestOperationsMatchModel"},
	},
	{
		name: "slots behind a short run are not told of its move", in: denseIn, attacks: "closing up",
		edits: []edit{{denseCloseUp, "\t\t\tslots[h.Index()].at = uint32(to)\n", "\t\t\t_ = slots\n"}},
		tests: []string{"TestOrderIsKept", "TestEveryShareOfTheDead", "TestOperationsMatchModel"},
	},
	{
		name: "a gap is filled with a dead value", in: denseIn, attacks: "closing up",
		edits: []edit{{denseCloseUp, "from := c.dead.nextAbsent(c.from)", "from := c.from"}},
		tests: []string{"TestEveryShareOfTheDead", "TestOperationsMatchModel"},
	},
	{
		name: "what has left the array is still held", in: denseIn, attacks: "closing up",
		edits: []edit{{denseCloseUp, "\tclear(d.values[c.to:n])", "\t_ = d.values[c.to:n]"}},
		tests: []string{"TestDeadAreCollected", "TestOperationsMatchModel"},
	},
	{
		name: "marks outlive a Refresh", in: denseIn, attacks: "marks",
		edits: []edit{{denseCloseUp, "\td.dead.clear()\n", ""}},
		by:    []string{"two Refreshes"},
		tests: []string{"TestKilledStaysUntilRefresh", "TestOperationsMatchModel"},
	},
	{
		name: "the marks' upper levels are not cleared", in: denseIn, attacks: "marks",
		edits: []edit{{denseMarks, "\tif level > 0 {\n\t\tfor word := w.Load()", "\tif level > 1 {\n\t\tfor word := w.Load()"}},
		tests: []string{"TestMarksMatchMap"},
	},
	{
		name: "a Refresh goes by marks beyond what was created", in: denseIn, attacks: "marks",
		edits: []edit{{denseCloseUp, "\tif over := (i+1)*64 - c.n; over > 0 {", "\tif over := 0; over > 0 {"}},
		by:    []string{"Refresh over a killer of what it destroys"},
		ends:  panics,
	},
	{
		name: "handles that were issued once are forgotten", in: denseIn, attacks: "closing up",
		edits: []edit{{denseCloseUp, "\ts.fresh = max(s.fresh, n)\n", "\ts.fresh = n\n"}},
		tests: []string{"TestGenerationsRunOut", "TestHandlesAreReproducible", "TestOperationsMatchModel"},
	},
	{
		name: "places of exhausted slots are not closed", in: denseIn, attacks: "exhaustion",
		edits: []edit{{denseCloseUp, "\tcopy(d.handles[n-spent:], d.handles[n:s.fresh])\n", ""}},
		tests: []string{"TestGenerationsRunOut", "TestOperationsMatchModel"},
	},
	{
		name: "exhausted slots count towards the capacity", in: denseIn, attacks: "exhaustion",
		edits: []edit{{denseCloseUp, "\ts.limit -= uint64(spent)\n", ""}},
		tests: []string{"TestGenerationsRunOut", "TestOperationsMatchModel"},
	},
	{
		name: "a new slot takes an exhausted one's index", in: denseIn, attacks: "exhaustion",
		edits: []edit{{denseCreate, "i+uint32(s.exhausted)", "i"}},
		tests: []string{"TestGenerationsRunOut", "TestOperationsMatchModel"},
	},
	{
		name: "marks in chunks are lost when the array grows", in: denseIn, attacks: "growth",
		edits: []edit{{denseRoom, "\t\t\tto.dead.add(first + i)\n", "\t\t\t_ = i\n"}},
		tests: []string{"TestCreatedAndKilledNeverJoins", "TestOperationsMatchModel"},
	},
	{
		name: "slots are lost when the array grows", in: denseIn, attacks: "growth",
		edits: []edit{{denseRoom, "\t\tcopy(to.slots[first:used], c.slots)\n", ""}},
		tests: []string{"TestGrowthMovesNothingDuringAPhase", "TestOperationsMatchModel"},
	},
	{
		name: "a forged handle leads behind a chunk's end", in: denseIn, attacks: "growth",
		edits: []edit{{denseRoom, " && at < uint(len(c.values)) {", " {"}},
		tests: []string{"TestForeignHandles", "TestOperationsMatchModel"},
		ends:  panics,
	},
	{
		name: "the array grows by what is missing", in: denseIn, attacks: "growth",
		edits: []edit{{denseRefresh, "min(max(used, has+more, s.least), d.most)", "max(used, more-more)"}},
		tests: []string{"TestArrayGrowsBySteps"},
	},
	{
		name: "a panic in OnDestroy revives who was not shown", in: denseIn, attacks: "panics",
		edits: []edit{{denseRefresh, "\t\t\t\tc.dead.add(at)\n", "\t\t\t\t_ = at\n"}},
		tests: []string{"TestOnDestroyMayPanic"},
	},
	{
		name: "a panic in OnDestroy destroys who was not shown", in: denseIn, attacks: "panics",
		edits: []edit{{denseRefresh, "\t\t\td.dead.remove(i)\n", ""}},
		tests: []string{"TestOnDestroyMayPanic"},
	},
	{
		name: "OnDestroy is shown again what it panicked at", in: denseIn, attacks: "panics",
		edits: []edit{{denseRefresh,
			"\t\t\tseen = i + 1\n\t\t\ts.options.OnDestroy(d.handles[i], &d.values[i])",
			"\t\t\ts.options.OnDestroy(d.handles[i], &d.values[i])\n\t\t\tseen = i + 1"}},
		tests: []string{"TestOnDestroyMayPanic"},
	},
	{
		name: "a panic in OnDestroy ends all phases", in: denseIn, attacks: "panics",
		edits: []edit{{denseRefresh,
			"\ts.phase.begin(\"Refresh\")\n\tdefer s.phase.end()\n\treturn s.refresh()",
			"\ts.phase.begin(\"Refresh\")\n\tcreated, destroyed = s.refresh()\n\ts.phase.end()\n\treturn"}},
		tests: []string{"TestOnDestroyMayPanic"},
		ends:  panics,
	},
	{
		name: "who appends to Values writes where others create", in: denseIn, attacks: "values",
		edits: []edit{{"pool/dense/values.go", "d.values[:n:n]", "d.values[:n]"}},
		tests: []string{"TestAppendingToValuesCopies"},
	},
}
