package pool

import "coatcheck/pool/internal/snapshot"

// Pages in which nothing lives need no memory in a copy. WriteTo writes their stages without values, in
// records that have as many slots as they like. A page without memory takes one step, and a few bytes. In a
// pool that replays, pages that have memory have it in the copy too.

// vacantRuns is the vacant record that is being made.
type vacantRuns struct {
	first, slots uint32
	runs         []byte // but for the last one, of n slots
	n            uint64
	stage        uint32
}

// addVacant adds n slots that are at a stage.
func (sw *snapshotWriter) addVacant(first, n, stage uint32) error {
	g := &sw.gap
	if len(g.runs) > snapshot.FlushBytes {
		if err := sw.endVacant(); err != nil {
			return err
		}
	}
	if g.slots == 0 {
		g.first, g.stage = first, stage
	}
	if stage != g.stage {
		sw.endRun()
	}
	g.n, g.stage, g.slots = g.n+uint64(n), stage, g.slots+n
	return nil
}

// endRun appends the last run to the others.
func (sw *snapshotWriter) endRun() {
	g := &sw.gap
	g.runs = snapshot.AppendRun(g.runs, int(g.n), g.stage)
	g.n = 0
}

// endVacant writes the vacant record, if it has any slots.
func (sw *snapshotWriter) endVacant() error {
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
