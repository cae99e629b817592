package main

// Seeds against the verbs of package pool.

const (
	insertFile  = "pool/insert.go"
	iterateFile = "pool/iterate.go"
	lookupFile  = "pool/lookup.go"
	removeFile  = "pool/remove.go"
	reserveFile = "pool/reserve.go"
)

var poolSeeds = []seed{
	{
		name: "Get looks at the generation before its pin", row: 2, attacks: "P4",
		edits: []edit{
			{"pool/get.go", "\tg := p.domain.PinBrief()\n", "\tt := p.arena.Table.Current.Load()\n\tok = h.Index() < t.Limit && shard.At[T](t, h.Index()).Word.Load() == uint64(h)\n\tg := p.domain.PinBrief()\n"},
			{"pool/get.go", "\tif t := p.arena.Table.Current.Load(); h.Index() < t.Limit {\n\t\tif slot := shard.At[T](t, h.Index()); slot.Word.Load() == uint64(h) { // observes (P1)\n\t\t\tv, ok = slot.Value, true\n\t\t}\n\t}\n",
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
		edits: []edit{{limboFile,
			"\tc := a.abandoned(slot, h)\n\ta.Local().retireChain(&c, a.tag())\n",
			"\tclear1(&slot.Value)\n\tword := Pack(Generation(h)-1, None)\n\tslot.set(word)\n\tvar c chain[T]\n\tc.append(slot, Low(h), word)\n\ta.Local().push(&c)\n"}},
		by:    []string{"three goroutines and a failing constructor in a tiny pool"},
		quick: true,
	},
	{
		name: "a constructor sees what plain values left", attacks: "Blank",
		edits: []edit{{insertFile, "\tp.arena.Blank(slot)\n", ""}},
		by:    []string{"values without pointers that run out of generations"},
	},
	{
		name: "a cancelled reservation loses its slot", row: 10, attacks: "L4",
		edits: []edit{{reserveFile, "\tr.pool.arena.Abandon(slot, r.h)\n", "\t_ = slot\n"}},
		by:    []string{"a reservation is cancelled"},
		quick: true,
	},
	{
		name: "a dropped reservation loses its slot", row: 10, attacks: "L4",
		edits: []edit{{reserveFile, "\t\tr.pool.arena.AbandonQuietly(r.slot, r.h)\n", ""}},
		by:    []string{"a reservation is cancelled"},
		quick: true,
	},
	{
		name: "Clear sets generations back", row: 11, attacks: "I2",
		edits: []edit{{removeFile,
			"\t\t\tif r.Remove(&block[h.Index()-first], uint64(h)) {\n\t\t\t\tp.ended(h)\n\t\t\t}\n",
			"\t\t\tif slot := &block[h.Index()-first]; r.Remove(slot, uint64(h)) {\n" +
				"\t\t\t\tslot.Word.Store(shard.Pack(h.Generation()-1, shard.Low(slot.Word.Load())))\n\t\t\t}\n"}},
		by:    []string{"Clear against Get"},
		quick: true,
	},
	{
		name: "Drain yields what another has removed", attacks: "L2",
		edits: []edit{{removeFile,
			"\t\t\t\tif v, ok := p.takeFrom(&block[h.Index()-first], h); ok && !yield(h, v) {\n",
			"\t\t\t\tif v, _ := p.takeFrom(&block[h.Index()-first], h); !yield(h, v) {\n"}},
		by: []string{"two Drains and a loop"},
	},
	{
		name: "a loop's pin ends before the loop", attacks: "P5",
		edits: []edit{{iterateFile, "\t\tp.endLoop(l)\n", ""},
			{iterateFile, "\t\tl := p.beginLoop()\n", "\t\tp.endLoop(p.beginLoop())\n"}},
		by: []string{"a loop while values come and go"},
	},
	{
		name: "RemoveBatch forgets its last chain", attacks: "L4",
		edits: []edit{{removeFile, "\tdefer r.End()\n\tfor _, h := range hs {\n", "\tfor _, h := range hs {\n"}},
		by:    []string{"chains and single slots come to one limbo"},
	},
}
