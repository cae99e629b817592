package shard

import (
	"coatcheck/epoch"
	"coatcheck/internal/atom"
)

// Arena owns the slots of one pool, from vacant to vacant. It hands slots out (Claim), makes them
// live (Publish), ends their lives (Remove, Removals, Abandon, and Take of its shards) and
// reclaims them. Package pool adds the verbs, guards, loops and options that users see.
//
// Call Init before all else: the zero Arena is not ready. All other methods are safe for
// concurrent use, except those of snapshot.go that fill an Arena.
type Arena struct {
	Config

	// Table has the pages. Only this package uses its fields, except Current, by which look-ups
	// find slots.
	Table Table

	affinity

	stampPerSlot bool   // slots that were removed before a guard was pinned must not wait for it (L10)
	mostOwned    uint32 // the most slots that an operation owns at a time
	fastBelow    uint64 // removals of handles below it have nothing to note: lastLife, or 0 if stampPerSlot
	plainBelow   uint64 // fastBelow, or 0 if there is a Reset

	// skips is nil in a pool that was not restored (skip.go).
	//
	//	writers  makeSkips and RetireUnborn, before another goroutine sees the arena; skip, which makes it nil
	//	readers  skip and those who ask whether it is needed; Skips
	skips atom.Pointer[skips]

	_ [64]byte // all operations read the fields above, and few write those below

	exhaustion
	holds
	verdicts verdicts
	refusals refusals
	running  atom.Int64 // how many runs of Resets are under way; written by take and end, read by resetsPaid
	magazines

	_       [56]byte // removals read this line, which is seldom written; a word of 8 bytes comes before
	waiters waiters
	_       [64]byte // a pool's clock follows
}

// Zero is the text of panics on use of a zero Arena, which is a zero Pool's.
const Zero = "pool: use of a zero Pool; make one with New or Must"

// Closed is the text of panics on use of a closed Magazine, which is a Worker's.
const Closed = "pool: use of a Worker that is closed, or not from Pool.Worker"

// Shared is the text of panics where two goroutines use a Magazine, which is a Worker's, at once.
const Shared = "pool: two goroutines use a Worker at once"

// Config has the properties of an Arena.
type Config struct {
	Layout
	Domain *epoch.Domain

	Slots           uint64 // the most slots that there may ever be
	Pages           PageSizes
	Shards          int    // the most shards that there may be
	Capacity        uint64 // the most slots in use, or 0 for Slots
	MaxLimbo        int64  // the most slots that wait before the arena stops growing; 0: a default
	FirstGeneration uint32 // the least live generation of any slot; odd
	FreshGeneration uint32 // the first live generation of slots that were never used, if it is above First
	AllShards       bool   // all are made at once; without it, where goroutines meet
	FIFO            bool   // shards hand out the slot that was removed first
	Fixed           bool   // all memory is allocated from the start, and kept
	Replays         bool   // what a call does must not depend on how many guards there once were

	// Name returns what the texts of refusals call the pool. It may be nil.
	Name func() string
}

// Init makes an empty arena. Call Preallocate after it, or what fills the arena from a snapshot.
func (a *Arena) Init(c Config) {
	a.Config = c
	a.stampPerSlot = c.Capacity > 0 || c.MaxLimbo > 0
	if !a.stampPerSlot {
		a.fastBelow = lastLife
	}
	if c.Reset == nil {
		a.plainBelow = a.fastBelow
	}
	a.mostOwned = Batch
	if c.Capacity > 0 {
		// Thirty-two operations leave half of the slots to others.
		a.mostOwned = uint32(min(max(c.Capacity/64, 1), Batch))
	}
	a.Table.Init(Setup{
		Layout: c.Layout, Slots: c.Slots, Capacity: c.Capacity, Pages: c.Pages,
		FirstGeneration: c.FirstGeneration, FreshGeneration: c.FreshGeneration, Fixed: c.Fixed, Stamps: a.stampPerSlot,
	})
	if c.AllShards {
		a.start(c.Shards)
	} else {
		a.start(1)
	}
}

// Preallocate allocates everything, if Fixed asks for it.
func (a *Arena) Preallocate() {
	if a.Fixed {
		a.Table.Provide(a.Capacity)
		a.Table.Pages().makeCounts()
		a.waiters.queueOf()
	}
}

// Grow gives memory to n slots beyond those that were handed out, and to what shards may have taken
// ahead when the last of n insertions comes. These are no more shards than insertions came before it.
//
// The wrong version gives memory for all shards that there may be, whatever n is: 2.3 MB for one value
// of 4 KB where two processors have eight shards, and 258 MB with 1,024.
func (a *Arena) Grow(n uint64) {
	if n == 0 {
		return
	}
	ahead := min(n-1, uint64(a.Config.Shards)-1) * (Batch - 1)
	for a.Table.provide(n + ahead) {
	}
}

// Find returns the slot that h may name. It returns nil if that slot has no memory, or if the
// Arena is zero. The slot need not be live with h; Remove, Take and Hold check that.
func (a *Arena) Find(h uint64) *Hook {
	if t := a.Table.Current.Load(); t != nil && Low(h) < t.Limit {
		return t.At(Low(h))
	}
	return nil
}

// Waiting returns about how many slots wait for their grace period, or for holds.
func (a *Arena) Waiting() int { return int(a.parked.Load()) + a.shards().pending() }
