package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// core is a pool without its T: all that works on words. [Pool] adds the verbs that read or
// write a value. A program with pools of many types has the code of core once, and that of
// Pool for each type.
//
// A core is the part of its Pool, so a reference to it keeps the Pool. Weak references to a
// pool are to its core.
type core struct {
	arena  shard.Arena  // owns the slots
	domain tracedDomain // an epoch.Domain: the arena's clock

	records records
	tracer  *tracer // nil without Options.TraceGuards

	// replays says that snapshots have the order of reuse: Origin was set, and there is one shard.
	replays bool

	// workers counts open Workers, reserved open Reservations, and collected those of
	// both that were dropped.
	workers   atom.Int64
	reserved  atom.Int64
	collected atom.Int64

	// supply refers to the block that Reservations are taken from. It is nil at first.
	//
	//	writers  cellSlow, by compare-and-swap, which publishes the block
	//	readers  cell
	supply atom.Pointer[supply]
}

// build completes a zero core after pl.
func (c *core) build(pl *plan) {
	if pl.origin == 0 {
		pl.origin = slots.DrawOrigin(pl.random())
	}
	c.frame(pl)
	c.arena.Preallocate()
	c.watch()
}

// frame completes a zero core, but for its slots.
func (c *core) frame(pl *plan) {
	guards := 0
	if pl.preallocate {
		guards = preallocatedGuards
	}
	c.domain.Init(guards)
	c.record()
	c.trace(pl.traceGuards)
	c.replays = pl.replays
	c.arena.Events = pl.events
	c.arena.Init(shard.Config{
		Layout:     pl.layout,
		Domain:     clock(&c.domain),
		Slots:      pl.slots,
		Pages:      pl.pages,
		Shards:     pl.shards,
		AllShards:  pl.allShards,
		Capacity:   uint64(pl.capacity),
		MaxLimbo:   int64(pl.maxLimbo),
		Origin:     pl.origin,
		FreshStage: pl.fresh,
		FIFO:       pl.reuse == FIFO,
		Fixed:      pl.preallocate,
		Replays:    pl.replays,
		Name:       pl.name,
	})
	if slots.Poisons && !pl.ordered {
		shard.OpenQuarantine(&c.arena)
	}
}

// pages returns the current table of pages. It panics for a zero Pool, which has none.
func (c *core) pages() *slots.PageTable {
	t := c.arena.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	return t
}

// capacity is Pool.Cap.
func (c *core) capacity() int {
	c.pages()
	if c.arena.Capacity == 0 {
		return MaxCapacity
	}
	return int(c.arena.Capacity)
}

// ended records that h was removed, if ok. If not, h is a handle that was refused. It returns ok.
func (c *core) ended(h uint64, ok bool) bool {
	if debugging {
		if ok {
			c.records.lives.Ended(h, "removed")
		} else {
			c.refused(h)
		}
	}
	return ok
}
