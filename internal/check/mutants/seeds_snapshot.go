package main

// Seeds against snapshots: that a copy brings no handle to life which was known when
// the snapshot was taken.

const (
	restoreFile  = "shard/snapshot.go"
	snapshotFile = "pool/snapshot_write.go"
)

var snapshotSeeds = []seed{
	{
		name: "a copy's vacant slots are as old as the original's", row: 11, attacks: "L8",
		edits: []edit{{restoreFile, "slot.set(Pack(g+2, None))", "slot.set(Pack(g, None))"}},
		by:    []string{"WriteTo beside a reservation"},
		quick: true,
	},
	{
		name: "a snapshot looks once at each slot", attacks: "L8",
		edits: []edit{{snapshotFile, "\t\tif sw.again(uint32(first), int(was.slots)) != was {", "\t\tif sw.again(uint32(first), int(was.slots)) != was && false {"}},
		by:    []string{"WriteTo against slots that come back", "WriteTo against a Worker that gives back what it had"},
		quick: true,
	},
	{
		name: "a snapshot's second look ends where the first did", attacks: "L8",
		edits: []edit{{snapshotFile, "\tlast := a.Handed()\n", "\tlast := handed\n"}},
		by:    []string{"WriteTo against a growing pool"},
	},
	{
		name: "a restored pool forgets its reserve", attacks: "I9",
		edits: []edit{{restoreFile, "\ta.reserve.Store(int64(reserve))\n", ""}},
		by:    []string{"WriteTo beside a reservation"},
	},
	{
		name: "a snapshot takes a page without memory for a new one", row: 11, attacks: "I11, L8",
		edits: []edit{{restoreFile, "if floor, gone := t.Floor(first); gone {", "if floor, gone := t.Floor(first); gone && false {"}},
		by:    []string{"WriteTo against Trim"},
		quick: true,
	},
}
