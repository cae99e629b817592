package pool

import (
	"fmt"
	"slices"

	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// builder makes a pool of what a walker found: Clone has it at once, and ReadFrom from a snapshot.
type builder struct {
	plan     *plan
	core     *core // not shared yet
	restorer *shard.Restorer

	// refuse returns the error for input that makes no sense. No walker finds any.
	refuse func(format string, args ...any) error

	slots   uint64 // slots of the first look so far: the next begins there
	spent   uint64 // exhausted slots among them
	leftOut uint32 // the most lives that a slot skips which the copy leaves out
	jump    uint32 // how many lives all slots skip, unless Origin is set
	reuse   []byte // the order of reuse, if the pool replays
}

// begin adapts the plan to where generations of the original begin, and at which stage slots that it never used;
// and completes the core, but for its slots.
func (b *builder) begin(origin, fresh uint32) error {
	pl := b.plan
	switch {
	case pl.origin == 0:
		b.jump = newLine(origin, fresh, pl.random())
	case origin%2 == 0:
		return fmt.Errorf("pool: Options.Origin is %d; the original drew the generations at which it began", pl.origin)
	case pl.origin != origin:
		return fmt.Errorf("pool: Options.Origin is %d; the original began at %d", pl.origin, origin)
	}
	o := slots.OriginsOf(origin)
	pl.origin, pl.fresh = origin, uint32(min(uint64(fresh)+2*uint64(b.jump), uint64(o.LastStage())))
	b.core.frame(pl)
	b.restorer = shard.NewRestorer(&b.core.arena)
	return nil
}

// newLine makes of a number that was drawn how many lives all slots of a restored pool skip. One number serves all of them:
// slots that were never used need one anyhow. The more lives are left, the more numbers there are
// to draw from, so that two pools from one snapshot hardly draw neighbours. No slot loses more than
// 1/500 of its lives, and a pool can be restored some 6,000 times.
func newLine(origin, fresh, number uint32) uint32 {
	o := slots.OriginsOf(origin)
	lives, left := o.LastStage()/2+1, (o.LastStage()-fresh)/2+1 // of the slot that has the fewest
	maximum := min(max(2*shard.LeastSkip, left/1024), lives/shard.SkipShare)
	minimum := min(shard.LeastSkip, maximum)
	return minimum + number%(maximum-minimum+1)
}

// see counts slots that are new.
func (b *builder) see(first uint32, stages []uint32) {
	end := uint64(first) + uint64(len(stages))
	if end <= b.slots {
		return
	}
	b.slots = end
	o := b.core.arena.Table.Origins()
	last := o.LastStage() // no slot is exhausted at it
	for j, stage := range stages {
		// One just beyond the others takes no value's place, and another slot takes its own.
		if stage > last && stage == o.SpentStage(first+uint32(j)) && uint64(first)+uint64(j) <= b.limit() {
			b.spent++
		}
	}
}

// limit returns the index from which on the copy has no slots. A slot beyond the Capacity takes
// the place of an exhausted one, which comes before it.
func (b *builder) limit() uint64 {
	if b.plan.capacity == 0 {
		return b.plan.slots
	}
	return min(b.plan.slots, uint64(b.plan.capacity)+b.spent)
}

// vacate gets the slots from first to end-1, which are vacant at a stage and need no memory. It reports whether the
// table that has room for them is paid for.
func (b *builder) vacate(first, end uint64, stage uint32) (paid bool) {
	known := min(end, max(first, b.limit()))
	if known > first && !b.restorer.Vacant(first, known, stage) {
		return false
	}
	if known < end {
		b.core.arena.Outlive(uint32(known), stage, b.jump)
	}
	b.slots = end
	return true
}

// skip notes what the slots from index first on skip.
func (b *builder) skip(first uint32, lives []uint32) {
	for j, n := range lives {
		switch i := first + uint32(j); {
		case n == 0:
		case uint64(i) < b.limit():
			b.restorer.Skip(i, n)
		default:
			b.leftOut = max(b.leftOut, n)
		}
	}
}

// change gives later stages to the slots from index start on, of which the first look has seen those
// below seen.
func (b *builder) change(seen uint64, start uint32, stages []uint32) error {
	a, first := &b.core.arena, uint64(start)
	if known := min(first+uint64(len(stages)), b.limit()); first == seen && known > first {
		paid := false
		if slices.ContainsFunc(stages, b.core.needsMemoryVacant) {
			paid = b.restorer.Occupy(first, known)
		} else {
			paid = b.restorer.Vacant(first, known, 0)
		}
		if !paid {
			return b.unpaid(first)
		}
	}
	o := a.Table.Origins()
	for j, stage := range stages {
		i := start + uint32(j)
		if uint64(i) >= b.limit() {
			a.Outlive(i, stage, b.jump)
			continue
		}
		previous, exact := b.restorer.Stage(i)
		if stage < previous && (exact || previous%2 == 1) {
			return b.refuse("slot %d goes back from generation %d to %d", i, o.Generation(i, previous), o.Generation(i, stage))
		}
		if stage > previous && !b.restorer.Change(i, stage) {
			return b.unpaid(first)
		}
	}
	return nil
}

// needsMemoryVacant reports whether a slot needs memory in a copy in which the life ends that it has.
func (c *core) needsMemoryVacant(stage uint32) bool { return c.arena.NeedsMemory(stage + stage%2) }

// unpaid returns the error for slots that take more memory than the input has paid for.
func (b *builder) unpaid(first uint64) error {
	return b.refuse("slot %d takes more memory than so many bytes of a snapshot say", first)
}

// finish makes the lists of the slots that are vacant.
func (b *builder) finish() error {
	a := &b.core.arena
	if b.leftOut > 0 {
		a.Outlive(uint32(b.limit()), a.Table.FreshStage()-1, b.leftOut-1)
	}
	census, ordered := shard.Census{}, false
	if len(b.reuse) > 0 {
		census, ordered = b.restorer.RestoreOrder(b.reuse)
	}
	if !ordered {
		census = b.restorer.RetireUnborn(b.jump)
	}
	if a.Capacity > 0 && census.Live > a.Capacity {
		return b.tooSmall("there are %d values", census.Live)
	}
	if !ordered {
		b.restorer.FillFreelists(census)
	}
	a.Table.BeginCount()
	b.core.watch()
	return nil
}

// tooSmall returns an error that says why the values do not fit into Capacity.
func (b *builder) tooSmall(format string, args ...any) error {
	return snapshot.Full{Err: fmt.Errorf("%w: Options.Capacity is %d: %s", ErrFull, b.plan.capacity, fmt.Sprintf(format, args...))}
}
