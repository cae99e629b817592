package pool

import (
	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Pages in which nothing lives need no memory in a copy. WriteTo writes their generations without values, in
// records that have as many slots as they like. A page without memory takes one step, and a few bytes. In a
// pool that replays, pages that have memory have it in the copy too.

// vacantRuns is the vacant record that is being made.
type vacantRuns struct {
	first, slots uint32
	runs         []byte // but for the last one, of n slots
	n            uint64
	generation   uint32
}

// vacant adds the slots of a page in which nothing lives, from index first on, to the vacant record. It returns
// how many these are: 0 if their values must be written. All slots below handed were handed out.
func (sw *snapshotWriter) vacant(first uint32, handed uint64) (uint64, error) {
	t := sw.core.pages()
	m, j := t.Meta(first)
	end := uint64(m.FirstSlot) + uint64(m.N)
	if end > handed {
		return 0, nil // slots that were never used are left, and they have memory
	}
	n := m.N - j
	if m.Floor != 0 {
		if shard.NeedsMemory(m.Floor) {
			return 0, nil // a pool that was restored has such floors
		}
		sw.looks = append(sw.looks, lookAtFloor(n, m.Floor))
		return uint64(n), sw.addVacant(first, n, m.Floor)
	}
	if sw.core.replays || j > 0 || !sw.isVacant(t, m) {
		return 0, nil
	}
	for i := first; uint64(i) < end; {
		k := sw.see(t, i, int(end-uint64(i)))
		l := lookAt(sw.generations)
		for j, g := range sw.generations {
			if g += g % 2; shard.NeedsMemory(g) { // it has grown too old since isVacant
				g, l.sum = shard.OldFloor, neverSeen
			}
			// A life that began since isVacant ends in the copy, as one that begins after the first look.
			if err := sw.addVacant(i+uint32(j), 1, g); err != nil {
				return 0, err
			}
		}
		sw.looks = append(sw.looks, l)
		i += uint32(k)
	}
	return uint64(n), nil
}

// isVacant reports whether no slot of m's page needs memory in a copy.
func (sw *snapshotWriter) isVacant(t *slots.PageTable, m *slots.PageMeta) bool {
	part := t.Strip(m.FirstSlot, m.FirstSlot+m.N)
	for j := range part.N {
		if shard.NeedsMemory(sw.core.arena.Table.Vacant(part.Slot(j).Word.Load())) {
			return false
		}
	}
	return true
}

// addVacant adds n slots that have a generation.
func (sw *snapshotWriter) addVacant(first, n, generation uint32) error {
	g := &sw.gap
	if len(g.runs) > snapshot.FlushBytes {
		if err := sw.endGap(); err != nil {
			return err
		}
	}
	if g.slots == 0 {
		g.first, g.generation = first, generation
	}
	if generation != g.generation {
		sw.endRun()
	}
	g.n, g.generation, g.slots = g.n+uint64(n), generation, g.slots+n
	return nil
}

// endRun appends the last run to the others.
func (sw *snapshotWriter) endRun() {
	g := &sw.gap
	g.runs = snapshot.AppendRun(g.runs, int(g.n), g.generation, sw.core.arena.FirstGeneration)
	g.n = 0
}

// endGap writes the vacant record, if it has any slots.
func (sw *snapshotWriter) endGap() error {
	g := &sw.gap
	if g.slots == 0 {
		return nil
	}
	sw.endRun()
	if err := sw.Pay(sw.memory.Table(uint64(g.first), uint64(g.first)+uint64(g.slots))); err != nil {
		return err
	}
	sw.Begin(snapshot.Vacant, g.first, int(g.slots))
	sw.Record = append(sw.Record, g.runs...)
	*g = vacantRuns{runs: g.runs[:0]}
	return sw.Flush()
}
