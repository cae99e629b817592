package pool

import (
	"fmt"
	"math/rand/v2"
	"slices"

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

// begin adapts the plan to the original's generations, and completes the core, but for its slots.
func (b *builder) begin(first, fresh uint32) error {
	pl := b.plan
	if pl.origin != 0 && pl.origin != first {
		return fmt.Errorf("pool: Options.Origin is %d; the original began at %d", pl.origin, first)
	}
	if pl.origin == 0 {
		b.jump = newLine(first, fresh)
	}
	pl.origin, pl.fresh = first, uint32(min(uint64(fresh)+2*uint64(b.jump), slots.LastGeneration))
	b.core.frame(pl)
	b.restorer = shard.NewRestorer(&b.core.arena)
	return nil
}

// newLine draws how many lives all slots of a restored pool skip. One number serves all of them:
// slots that were never used need one anyhow. The more lives are left, the more numbers there are
// to draw from, so that two pools from one snapshot hardly draw neighbours. No slot loses more than
// 1/500 of its lives, and a pool can be restored some 6,000 times.
func newLine(first, fresh uint32) uint32 {
	lives, left := (slots.LastGeneration-first)/2+1, (slots.LastGeneration-fresh)/2+1
	maximum := min(max(2*shard.LeastSkip, left/1024), lives/shard.SkipShare)
	minimum := min(shard.LeastSkip, maximum)
	return minimum + rand.Uint32N(maximum-minimum+1)
}

// see counts slots that are new.
func (b *builder) see(first uint32, generations []uint32) {
	end := uint64(first) + uint64(len(generations))
	if end <= b.slots {
		return
	}
	b.slots = end
	for j, g := range generations {
		// One just beyond the others takes no value's place, and another slot takes its own.
		if g == slots.Spent && uint64(first)+uint64(j) <= b.limit() {
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

// vacate gets the slots from first to end-1, which are vacant with a generation and need no memory.
func (b *builder) vacate(first, end uint64, generation uint32) error {
	known := min(end, max(first, b.limit()))
	if known > first && !b.restorer.Vacant(first, known, generation) {
		return b.unpaid(first)
	}
	if known < end {
		b.core.arena.Outlive(uint32(known), generation, b.jump)
	}
	b.slots = end
	return nil
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

// change gives later generations to the slots from index start on, of which the first look has seen those
// below seen.
func (b *builder) change(seen uint64, start uint32, generations []uint32) error {
	a, first := &b.core.arena, uint64(start)
	if known := min(first+uint64(len(generations)), b.limit()); first == seen && known > first {
		paid := false
		if slices.ContainsFunc(generations, needsMemoryVacant) {
			paid = b.restorer.Occupy(first, known)
		} else {
			paid = b.restorer.Vacant(first, known, 0)
		}
		if !paid {
			return b.unpaid(first)
		}
	}
	for j, g := range generations {
		i := start + uint32(j)
		if uint64(i) >= b.limit() {
			a.Outlive(i, g, b.jump)
			continue
		}
		previous, exact := b.restorer.Generation(i)
		if g < previous && (exact || previous%2 == 1) {
			return b.refuse("slot %d goes back from generation %d to %d", i, previous, g)
		}
		if g > previous && !b.restorer.Change(i, g) {
			return b.unpaid(first)
		}
	}
	return nil
}

// needsMemoryVacant reports whether a slot needs memory in a copy in which the life ends that it has.
func needsMemoryVacant(generation uint32) bool { return shard.NeedsMemory(generation + generation%2) }

// unpaid returns the error for slots that take more memory than the input has paid for.
func (b *builder) unpaid(first uint64) error {
	return b.refuse("slot %d takes more memory than so many bytes of a snapshot say", first)
}

// finish makes the lists of the slots that are vacant.
func (b *builder) finish() error {
	a := &b.core.arena
	if b.leftOut > 0 {
		a.Outlive(uint32(b.limit()), a.FreshGeneration-1, b.leftOut-1)
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
	return fmt.Errorf("%w: Options.Capacity is %d: %s", ErrFull, b.plan.capacity, fmt.Sprintf(format, args...))
}
