package main

// Seeds against command.Buffer and Apply: the rules of the cut, at the head of
// apply.go, and what a frame keeps, loses and gives back.

const (
	commandIn      = "pool/command"
	commandApply   = "pool/command/apply.go"
	commandBuffer  = "pool/command/buffer.go"
	commandDiscard = "pool/command/discard.go"
	commandPending = "pool/command/pending.go"
)

var commandSeeds = []seed{
	{
		name: "commands are taken one buffer after the other", in: commandIn, attacks: "the cut",
		edits: []edit{
			{commandApply,
				"\tfor _, b := range f.buffers {\n\t\tb.mu.Lock()\n\t}\n\tfor _, b := range buffers { // given a second time, it is empty\n\t\tf",
				"\tfor _, b := range buffers { // given a second time, it is empty\n\t\tb.mu.Lock()\n\t\tf"},
			{commandApply,
				"\t\t})\n\t}\n\tfor _, b := range f.buffers {\n\t\tb.mu.Unlock()\n\t}\n",
				"\t\t})\n\t\tb.mu.Unlock()\n\t}\n"},
		},
		by:    []string{"a recorder in two buffers against Apply", "two recorders of each other's insertions against Apply"},
		quick: true,
	},
	{
		name: "an Apply does not wait for an earlier one's insertions", in: commandIn, attacks: "the earlier cut",
		edits: []edit{
			{commandApply,
				"\t\tb.applying.Lock()\n",
				"\t\t_ = b\n"},
			{commandApply,
				"\t\tb.applying.Unlock()\n",
				"\t\t_ = b\n"},
		},
		by:    []string{"a recorder between two Applys", "Applys that have one buffer in common"},
		quick: true,
	},
	{
		name: "removals come before insertions", in: commandIn, attacks: "order",
		edits: []edit{
			{commandApply,
				"\tinserted = f.commit()\n",
				""},
			{commandApply,
				"\tremoved = f.remove()\n",
				"\tremoved = f.remove()\n\tinserted = f.commit()\n"},
		},
		by:    []string{"the stated order", "a recorder against Apply"},
		quick: true,
	},
	{
		name: "commands are done in the order of locking", in: commandIn, attacks: "order",
		edits: []edit{{commandApply, "for _, b := range buffers { // given", "for _, b := range f.buffers { // given"}},
		by:    []string{"the stated order"},
		tests: []string{"TestInsertionsGoLiveInStatedOrder"},
	},
	{
		name: "buffers are locked in the order given", in: commandIn, attacks: "locks",
		edits: []edit{
			{commandApply,
				"\tslices.SortFunc(f.buffers, func(a, b *Buffer[T]) int { return cmp.Compare(a.number, b.number) })\n",
				"\t_ = cmp.Compare[int]\n"},
		},
		by:    []string{"Apply against Apply, in the other order"},
		ends:  stuck,
		quick: true,
	},
	{
		name: "frames never overlap", in: commandIn, attacks: "locks",
		edits: []edit{
			{commandApply,
				"\tfor _, b := range f.buffers {\n\t\tb.applying.Unlock()\n\t}\n\tremoved = f.remove()\n",
				"\tremoved = f.remove()\n\tfor _, b := range f.buffers {\n\t\tb.applying.Unlock()\n\t}\n"},
		},
		by:    []string{"a Reset records and applies"},
		tests: []string{"TestResetMayRecordAndApply"},
		ends:  stuck,
		quick: true,
	},
	{
		name: "a buffer that is given twice is locked twice", in: commandIn, attacks: "locks",
		edits: []edit{{commandApply, "\tf.buffers = slices.Compact(f.buffers)\n", ""}},
		tests: []string{"TestBufferGivenTwiceIsAppliedOnce"},
		ends:  stuck,
	},
	{
		name: "settled reservations are held", in: commandIn, attacks: "memory",
		edits: []edit{{commandApply, "\tclear(insertions) //", "\t//"}},
		tests: []string{"TestAppliedBufferHoldsNothingBack", "TestBuffersAreCollectedAlone"},
	},
	{
		name: "a frame holds other buffers", in: commandIn, attacks: "memory",
		edits: []edit{{commandApply, "\tclear(f.buffers)\n", ""}},
		tests: []string{"TestBuffersAreCollectedAlone"},
	},
	{
		name: "a frame holds what it has taken", in: commandIn, attacks: "memory",
		edits: []edit{{commandApply, "\tclear(f.taken)\n", ""}},
		tests: []string{"TestAppliedBufferHoldsNothingBack", "TestBuffersAreCollectedAlone"},
	},
	{
		name: "a panic in Reset loses removals", in: commandIn, attacks: "panics",
		edits: []edit{{commandApply, "\t\t\tf.putBack(k)\n", ""}},
		tests: []string{"TestPanicInResetLosesNoCommand"},
	},
	{
		name: "a panic in Reset puts removals behind later ones", in: commandIn, attacks: "panics",
		edits: []edit{{commandApply, "append(t.removals, t.from.removals...)", "append(t.from.removals, t.removals...)"}},
		tests: []string{"TestPanicInResetLosesNoCommand"},
	},
	{
		name: "a panic in Reset records done removals again", in: commandIn, attacks: "panics",
		edits: []edit{{commandApply, "return !t.from.pool.Contains(h) })", "return false })"}},
		tests: []string{"TestPanicInResetLosesNoCommand"},
	},
	{
		name: "a panic in Reset loses its own buffer's removals", in: commandIn, attacks: "panics",
		edits: []edit{{commandApply, "range f.taken[k:] {", "range f.taken[k+1:] {"}},
		tests: []string{"TestPanicInResetLosesNoCommand"},
	},
	{
		name: "a panic in Discard loses insertions", in: commandIn, attacks: "panics",
		edits: []edit{{commandDiscard, "\t\t\tb.insertions = append(insertions[k:], b.insertions...)\n", ""}},
		tests: []string{"TestPanicInDiscardLosesNoSlot"},
	},
	{
		name: "Discard gives nothing back", in: commandIn, attacks: "Discard",
		edits: []edit{{commandDiscard, "\t\tr.Cancel()\n", "\t\t_ = r\n"}},
		by:    []string{"Discard against Discard", "Discard against Apply and a recorder"},
		tests: []string{"TestDiscardGivesEverythingBack"},
	},
	{
		name: "Discard takes in two steps", in: commandIn, attacks: "Discard",
		edits: []edit{{commandDiscard, "\tinsertions := take(&b.insertions, &b.spareInsertions)\n",
			"\tinsertions := b.insertions\n\tb.mu.Unlock()\n\tb.mu.Lock()\n\ttake(&b.insertions, &b.spareInsertions)\n"}},
		by:   []string{"Discard against Discard", "Discard against Apply and a recorder"},
		ends: panics,
	},
	{
		name: "an init that fails keeps its slot", in: commandIn, attacks: "Insert",
		edits: []edit{{commandBuffer, "\t\t\tr.Cancel()\n", ""}},
		tests: []string{"TestInitThatFailsRecordsNothing"},
	},
	{
		name: "an insertion is recorded before its value is written", in: commandIn, attacks: "Insert",
		edits: []edit{{commandBuffer, "\t*r.Value() = v\n\tb.record(r)\n", "\tb.record(r)\n\t*r.Value() = v\n"}},
		by:    []string{"loops over what is recorded while others record"},
	},
	{
		name: "an insertion is recorded in two steps", in: commandIn, attacks: "Insert",
		edits: []edit{{commandBuffer, "\tb.insertions = append(b.insertions, r)\n",
			"\tlist := b.insertions\n\tb.mu.Unlock()\n\tlist = append(list, r)\n\tb.mu.Lock()\n\tb.insertions = list\n"}},
		by: []string{"two recorders share a buffer", "a recorder against Apply"},
	},
	{
		name: "a removal is recorded in two steps", in: commandIn, attacks: "Remove",
		edits: []edit{{commandBuffer, "\tb.removals = append(b.removals, h)\n",
			"\tlist := b.removals\n\tb.mu.Unlock()\n\tlist = append(list, h)\n\tb.mu.Lock()\n\tb.removals = list\n"}},
		by: []string{"two recorders share a buffer", "a recorder against Apply"},
	},
	{
		name: "a list that was taken is given to two", in: commandIn, attacks: "recycling",
		edits: []edit{{commandApply, "\t\t*recorded, list = list, *recorded\n", "\t\t*recorded = list\n"}},
		tests: []string{"TestAppliedBufferHoldsNothingBack"},
	},
	{
		name: "what was taken stays in its buffer", in: commandIn, attacks: "recycling",
		edits: []edit{{commandApply, "\t*recorded, *spare = *spare, nil\n", ""}},
		by:    []string{"a recorder against Apply"},
		tests: []string{"TestOperationsMatchModel"},
		ends:  panics,
	},
	{
		name: "a list comes back over what was recorded meanwhile", in: commandIn, attacks: "recycling",
		edits: []edit{{commandApply, "len(*recorded) == 0 && cap(*recorded) < cap(list)", "cap(*recorded) < cap(list)"}},
		by:    []string{"a recorder against Apply"},
		tests: []string{"TestResetMayRecordAndApply"},
	},
	{
		name: "a copied Buffer is used", in: commandIn, attacks: "misuse",
		edits: []edit{{commandBuffer, "b == nil || b.self != b", "b == nil || b.self == nil"}},
		tests: []string{"TestMisuseIsNamed"},
	},
	{
		name: "a removal counts though it had no effect", in: commandIn, attacks: "counts",
		edits: []edit{
			{commandApply,
				"\t\t\tn += t.from.pool.RemoveBatch(t.removals)",
				"\t\t\tt.from.pool.RemoveBatch(t.removals)\n\t\t\tn += len(t.removals)"},
		},
		by:    []string{"two frames remove the same"},
		tests: []string{"TestRemovalThatTookNoEffectCountsNothing"},
	},
	{
		name: "removals go to the first buffer's pool", in: commandIn, attacks: "counts",
		edits: []edit{{commandApply, "n += t.from.pool.RemoveBatch", "n += f.home.pool.RemoveBatch"}},
		tests: []string{"TestBuffersOfDifferentPools"},
	},
	{
		name: "waiting removals are shown the wrong way round", in: commandIn, attacks: "loops",
		edits: []edit{
			{commandPending,
				"\tb.mu.Lock()\n\tif ok = i < len(b.removals); ok {\n\t\th = b.removals[i]\n\t}\n\tb.mu.Unlock()\n",
				"\tb.mu.Lock()\n\tif ok = i < len(b.removals); ok {\n\t\th = b.removals[len(b.removals)-1-i]\n\t}\n\tb.mu.Unlock()\n"},
		},
		tests: []string{"TestPendingCommandsAreShown"},
	},
	{
		name: "a loop looks at a reservation without the lock", in: commandIn, attacks: "loops",
		edits: []edit{
			{commandPending,
				"\t\tr := b.insertions[i]\n\t\th, v = r.Handle(), r.Value()\n\t}\n\tb.mu.Unlock()\n",
				"\t\tr := b.insertions[i]\n\t\tb.mu.Unlock()\n\t\treturn r.Handle(), r.Value(), true\n\t}\n\tb.mu.Unlock()\n"},
		},
		by:   []string{"a loop over what is recorded while others apply"},
		ends: panics,
	},
}
