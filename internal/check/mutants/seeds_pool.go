package main

// Seeds against the verbs of package pool.

const (
	claimFile   = "pool/claim.go"
	insertFile  = "pool/insert.go"
	iterateFile = "pool/iterate.go"
	lookupFile  = "pool/lookup.go"
	reserveFile = "pool/reserve.go"
)

var poolSeeds = []seed{
	{
		name: "Get looks at the generation before its pin", row: 2, attacks: "P4",
		edits: []edit{
			{"pool/get.go", "\tg := p.domain.PinBrief()\n", "\tt := p.space.Table.Current.Load()\n\tok = h.Index() < t.Limit && shard.At[T](t, h.Index()).Word.Load() == uint64(h)\n\tg := p.domain.PinBrief()\n"},
			{"pool/get.go", "\tif t := p.space.Table.Current.Load(); h.Index() < t.Limit {\n\t\tif slot := shard.At[T](t, h.Index()); slot.Word.Load() == uint64(h) { // observes (P1)\n\t\t\tv, ok = slot.Value, true\n\t\t}\n\t}\n",
				"\tif ok {\n\t\tv = shard.At[T](t, h.Index()).Value\n\t}\n"},
		},
		by:    []string{"Clear against Get"},
		quick: true,
	},
	{
		name: "Get does not look again", row: 15, attacks: "L12",
		edits: []edit{{lookupFile,
			"\t\t\tif s.Word.Load() == uint64(h) {\n\t\t\t\treturn v, true\n\t\t\t}\n\t\t\tvar zero T\n\t\t\treturn zero, false\n",
			"\t\t\treturn v, true\n"}},
		by:    []string{"a copy is overtaken by a removal and an insertion"},
		quick: true,
	},
	{
		name: "Get looks again only whether the slot is live", row: 15, attacks: "L12",
		edits: []edit{{lookupFile, "if s.Word.Load() == uint64(h) {\n\t\t\t\treturn v, true\n", "if shard.IsLive(s.Word.Load()) {\n\t\t\t\treturn v, true\n"}},
		by:    []string{"a copy is overtaken by a removal and an insertion"},
		quick: true,
	},
	{
		name: "Get looks again only at the index", row: 15, attacks: "L12",
		edits: []edit{{lookupFile, "if s.Word.Load() == uint64(h) {\n\t\t\t\treturn v, true\n", "if uint32(s.Word.Load()) == i {\n\t\t\t\treturn v, true\n"}},
		by:    []string{"a copy is overtaken by two lives of the slot"},
	},
	{
		name: "Get looks twice, and then copies", row: 15, attacks: "L12",
		edits: []edit{
			{lookupFile, "\t\t\tatom.Between()\n", "\t\t\tagain := s.Word.Load()\n\t\t\tatom.Between()\n"},
			{lookupFile, "if s.Word.Load() == uint64(h) {\n\t\t\t\treturn v, true\n", "if again == uint64(h) {\n\t\t\t\treturn v, true\n"},
		},
		by: []string{"a copy while a constructor builds, and fails"},
	},
	{
		name: "Get copies, and then looks twice", row: 15, attacks: "P1",
		edits: []edit{
			{lookupFile, "\t\t\tv = s.Value\n", ""},
			{lookupFile, "\t\tif s.Word.Load() == uint64(h) { // observes (P1)\n\t\t\tatom.Between()\n", "\t\tv = s.Value\n\t\tif s.Word.Load() == uint64(h) { // observes (P1)\n\t\t\tatom.Between()\n"},
			{lookupFile, "\treturn\n}\n\nconst pointerSize", "\tvar zero T\n\treturn zero, false\n}\n\nconst pointerSize"},
		},
		by: []string{"a copy of what is inserted meanwhile"},
	},
	{
		name: "Get shows a copy that it refuses", row: 15, attacks: "L12",
		edits: []edit{{lookupFile, "\t\t\tvar zero T\n\t\t\treturn zero, false\n", "\t\t\treturn v, false\n"}},
		by:    []string{"a copy is overtaken by Take"},
	},
	{
		name: "View looks at the generation before its pin", row: 2, attacks: "P4",
		edits: []edit{{"pool/get.go",
			"\tg := p.Pin()\n\tdefer g.Unpin()\n\tv, ok := g.Get(h)\n",
			"\tvar v *T\n\tok := p.Contains(h)\n\tif ok {\n\t\tv = &shard.At[T](p.pages(), h.Index()).Value\n\t}\n\tg := p.Pin()\n\tdefer g.Unpin()\n"}},
		by:    []string{"two Drains and a loop"},
		quick: true,
	},
	{
		name: "View unpins before it calls", attacks: "P5",
		edits: []edit{{"pool/get.go",
			"\tdefer g.Unpin()\n\tv, ok := g.Get(h)\n",
			"\tv, ok := g.Get(h)\n\tg.Unpin()\n"}},
		by:    []string{"two Drains and a loop"},
		quick: true,
	},
	{
		name: "two goroutines get one Reservation", attacks: "I1",
		edits: []edit{{"pool/reserver.go",
			"if i := s.taken.Add(1) - 1; i < blockCells {",
			"i := s.taken.Load()\n\t\t\ts.taken.Store(i + 1)\n\t\t\tif i < blockCells {"}},
		by: []string{"two take from a Reserver's block"},
	},
	{
		name: "a constructor runs when its value is live", attacks: "P1",
		edits: []edit{{insertFile,
			"\tinit(Handle[T](h), &slot.Value)\n\tslot.Publish(h)\n",
			"\tslot.Publish(h)\n\tinit(Handle[T](h), &slot.Value)\n"}},
		by:    []string{"the zero handle in a pool's first page"},
		quick: true,
	},
	{
		name: "a failed constructor pushes its slot straight back", row: 6, attacks: "I5",
		edits: []edit{{insertFile,
			"\t\t\ts.RetireChain(&c)\n",
			"\t\t\tvar zero T\n\t\t\tslot.Value = zero\n\t\t\ts.Return(slot, h-2<<32)\n\t\t\t_ = c\n"}},
		by:    []string{"three goroutines and a failing constructor in a tiny pool"},
		quick: true,
	},
	{
		name: "a constructor sees what plain values left", attacks: "Blank",
		edits: []edit{{insertFile, "\tp.space.Blank(slot)\n", ""}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "a cancelled reservation loses its slot", row: 10, attacks: "L4",
		edits: []edit{{reserveFile, "\ts.RetireChain(&c)\n", "\t_, _ = s, c\n"}},
		by:    []string{"a reservation is cancelled"},
		quick: true,
	},
	{
		name: "a dropped reservation loses its slot", row: 10, attacks: "L4",
		edits: []edit{{reserveFile, "\t\ts.AbandonChain(&c)\n", "\t\t_, _ = s, c\n"}},
		by:    []string{"a reservation is cancelled"},
		quick: true,
	},
	{
		name: "Clear sets generations back", row: 11, attacks: "I2",
		edits: []edit{{iterateFile,
			"\t\t\tif b.remove(&block[h.Index()-first], uint64(h)) && debugging {\n",
			"\t\t\tif slot := &block[h.Index()-first]; b.remove(slot, uint64(h)) {\n" +
				"\t\t\t\tslot.Word.Store(shard.Pack(h.Generation()-1, shard.Low(slot.Word.Load())))\n\t\t\t}\n\t\t\tif debugging {\n"}},
		by:    []string{"Clear against Get"},
		quick: true,
	},
	{
		name: "Drain yields what another has removed", attacks: "L2",
		edits: []edit{{iterateFile, "\t\t\t\tif ok && !yield(h, v) {\n", "\t\t\t\tif !yield(h, v) {\n"}},
		by:    []string{"two Drains and a loop"},
	},
	{
		name: "a loop's pin ends before the loop", attacks: "P5",
		edits: []edit{{iterateFile, "\t\tp.endLoop(l)\n", ""},
			{iterateFile, "\t\tl := p.beginLoop()\n", "\t\tp.endLoop(p.beginLoop())\n"}},
		by: []string{"a loop while values come and go"},
	},
	{
		name: "RemoveBatch forgets its last chain", attacks: "L4",
		edits: []edit{{"pool/batch.go", "func (b *remover[T]) flush() { b.s.RetireChain(&b.chain) }", "func (b *remover[T]) flush() {}"}},
		by:    []string{"chains and single slots come to one limbo"},
	},
	{
		name: "nothing is wrung before a refusal", row: 13, attacks: "ErrFull", ends: stuck,
		edits: []edit{{claimFile, "more := o.Waiting() > 0; more;", "more := false; more;"}, {claimFile, "blocked && p.domain.Held()", "blocked"}},
		by:    []string{"a pool that was full and stalled fills again"},
		quick: true,
	},
	{
		name: "a sweep passes the first shard over", row: 13, attacks: "ErrFull",
		edits: []edit{{claimFile, "\tfor k := range p.shards {\n\t\to := p.next(s, k)\n\t\tfor more := o.Waiting()", "\tfor k := 1; k < len(p.shards); k++ {\n\t\to := p.next(s, k)\n\t\tfor more := o.Waiting()"}, {claimFile, "blocked && p.domain.Held()", "true"}},
		by:    []string{"a pool that was full and stalled fills again"},
	},
}
