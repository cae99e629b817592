package pool

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"

	"coatcheck/internal/pointers"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Options configure a pool. The zero value has the defaults.
type Options[T any] struct {
	// Capacity is the greatest number of slots in use. 0 means MaxCapacity. Live values count, and
	// so do removed ones that wait for guards or Refs, and slots that Workers keep.
	Capacity int

	// Preallocate makes New allocate all memory for Capacity, which must be set. Later calls
	// allocate only what they return, goroutines, timers, and cells for more than 256 guards.
	Preallocate bool

	// Reuse is the order in which removed slots are reused.
	Reuse Reuse

	// MaxLimbo bounds what a forgotten guard costs. While so many removed slots wait for guards or
	// Refs, an insertion that needs new memory returns ErrStalled. 0 means 1,000,000, or twice the
	// number of live values if that is more.
	MaxLimbo int

	// Shards is the number of shards, at most 65,536. Goroutines that use different shards do not
	// contend. 0 means that the pool makes them where goroutines meet, up to four times GOMAXPROCS.
	Shards int

	// Reset, if not nil, is called for a removed value instead of zeroing it, once no guard or Ref
	// has it any more. InsertFunc and Reserve find the value as Reset left it, with its buffers.
	// Reset may also end what a value has, such as a file (docs/cookbook.md).
	//
	//   - Who runs it: an insertion that finds no vacant slot, for at most 16 slots; Synchronize
	//     and Trim, for all that are due. They do so before they return, perhaps several at
	//     once.
	//   - Who never does: removals, Unpin, Release, a Worker's Flush and Close, the garbage
	//     collector.
	//   - It is also run for what a failed constructor or a cancelled Reservation has built.
	//   - It is not run for what Take or Drain has moved out, nor for what Trim gives up or an
	//     unreachable pool has left.
	//   - It may use the pool, and the Worker whose call runs it. If it panics, its slot is
	//     zeroed and free, and the panic continues.
	//
	// Use a copy that Get returns only under a guard that was pinned before, under a Ref, or where
	// no other goroutine can remove the value.
	Reset func(*T)

	// OnInsert and OnRemove, if not nil, are called once for each life, in the call that begins or
	// ends it, before it returns, and under no lock of the pool. They may use the pool, and the
	// Worker whose call runs them. Their slot is in use until they return.
	//
	// OnInsert is called just before h goes live, and may write v. If it panics or exits, h never
	// goes live and the slot goes back. It is not called for what [ReadFrom] or Clone brings.
	//
	// OnRemove is called just after h has gone. It may read v, but not write it, since a guard or a
	// Ref may still read it. If it panics or exits, the value stays removed; RemoveBatch, Clear,
	// DeleteFunc and Drain stop there, and Take returns no copy. It is not called for what an
	// unreachable pool has left.
	OnInsert, OnRemove func(h Handle[T], v *T)

	// Origin is the first generation of every slot; an even number is raised by one. 0 means that
	// each slot begins with a generation of its own, and each pool with others, so that a pool
	// refuses the handles of others; [ReadFrom] keeps the snapshot's, and Clone the original's. Set
	// Origin, and Shards to 1, for replays: one goroutine that makes the same calls then gets the
	// same handles (docs/cookbook.md).
	Origin uint32

	// TraceGuards finds who forgot an Unpin or a Release. The pool records the stack of one pin and
	// one Hold in so many, at random. ExplainOpen and the profile [ProfileName] show those that are
	// open. 0 records none and costs nothing. Otherwise a pin with its Unpin takes about three times
	// as long, and a recorded one some microseconds more.
	TraceGuards int
}

// Reuse is an order in which removed slots are reused.
type Reuse uint8

const (
	// LIFO first reuses the slots that were reclaimed last. It is the default, for the cache.
	LIFO Reuse = iota

	// FIFO reuses the slot that was removed longest ago, after those that were never used. Each
	// shard has its own order, so set Shards to 1 if slots must wear evenly. FIFO costs cache
	// misses.
	FIFO
)

// MaxCapacity is the greatest number of slots: 2^32 − 1024, or less on 32-bit platforms.
const MaxCapacity = min(1<<32-1024, math.MaxInt)

const (
	maxShards = 1 << 16

	// preallocatedGuards is the number of guards of a pool with Preallocate that can be
	// pinned at once without allocating. More guards allocate.
	preallocatedGuards = 256

	// shardsPerProc makes it unlikely that two running goroutines share a shard by chance.
	// A shard may keep about 2·shard.Batch slots for itself, and up to 32 KiB of slots that
	// others could have used.
	shardsPerProc = 4

	// slotsPerShard is the least number of slots of a bounded pool for each shard.
	slotsPerShard = 2
)

// plan is Options without its T, with the defaults filled in, and what follows from them.
type plan struct {
	capacity    int
	preallocate bool
	reuse       Reuse
	maxLimbo    int
	shards      int    // the most that there may be
	allShards   bool   // they are made at once
	origin      uint32 // Options.Origin, or where generations begin once that is known (slots.OriginsOf)
	traceGuards int
	fresh       uint32 // the first live stage of slots that were never used, if it is above 1
	replays     bool   // Origin was set, and there is one shard
	ordered     bool   // Origin was set

	value  reflect.Type // T
	name   func() string
	layout slots.Layout // of its slots
	events shard.Events
	slots  uint64 // the greatest number that there may ever be
	pages  slots.PageSizes
	random func() uint32 // draws a number
}

// plan returns the plan of a pool of T, or an error if an option is invalid.
func (o *Options[T]) plan() (*plan, error) {
	if o == nil {
		o = new(Options[T])
	}
	pl := &plan{
		capacity:    o.Capacity,
		preallocate: o.Preallocate,
		reuse:       o.Reuse,
		maxLimbo:    o.MaxLimbo,
		shards:      o.Shards,
		allShards:   o.Shards > 0 || o.Preallocate,
		origin:      o.Origin,
		traceGuards: o.TraceGuards,
		value:       reflect.TypeFor[T](),
		name:        nameOf[T],
		random:      rand.Uint32,
	}
	pl.layout = slots.LayoutOf(pointers.In(pl.value), o.Reset)
	pl.events = shard.Events{OnInsert: event(o.OnInsert), OnRemove: event(o.OnRemove)}
	return pl, pl.complete()
}

// event returns f for slots of T, or nil.
func event[T any](f func(Handle[T], *T)) func(*slots.Hook, uint64) {
	if f == nil {
		return nil
	}
	return func(slot *slots.Hook, h uint64) { f(Handle[T](h), slots.ValueOf[T](slot)) }
}

// nameOf returns what errors call a pool of T.
func nameOf[T any]() string { return "Pool[" + reflect.TypeFor[T]().String() + "]" }

// complete fills in the defaults and what follows, or returns an error if an option is invalid.
func (pl *plan) complete() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("pool: Options."+format, args...)
	}
	switch {
	case pl.capacity < 0:
		return fail("Capacity is %d; want 0 (no limit) or more", pl.capacity)
	case uint64(pl.capacity) > MaxCapacity:
		return fail("Capacity is %d; the limit is %d", pl.capacity, uint64(MaxCapacity))
	case pl.preallocate && pl.capacity == 0:
		return fail("Preallocate needs a Capacity")
	case pl.reuse > FIFO:
		return fail("Reuse is %d; want LIFO or FIFO", pl.reuse)
	case pl.maxLimbo < 0:
		return fail("MaxLimbo is %d; want 0 (the default) or more", pl.maxLimbo)
	case pl.shards < 0 || pl.shards > maxShards:
		return fail("Shards is %d; want 0 (the default) to %d", pl.shards, maxShards)
	case pl.traceGuards < 0 || uint64(pl.traceGuards) > math.MaxUint32:
		return fail("TraceGuards is %d; want 0 (none), or to record one in so many", pl.traceGuards)
	case pl.origin|1 > slots.LastGeneration:
		return fail("Origin is %d; the last generation is %d", pl.origin, uint32(slots.LastGeneration))
	}
	if pl.ordered = pl.origin != 0; pl.ordered {
		pl.origin |= 1 // or it is chosen by build, or comes with a snapshot
	}
	pl.shards = cmp.Or(pl.shards, min(shardsPerProc*runtime.GOMAXPROCS(0), maxShards))
	pl.slots = slots.MaxSlots
	if pl.capacity > 0 {
		pl.shards = min(pl.shards, max(1, pl.capacity/slotsPerShard))
	}
	pl.replays = pl.origin != 0 && pl.shards == 1
	size := pl.layout.Size
	if pl.preallocate && !slots.Fits(uint64(pl.capacity), size) {
		return fail("Preallocate: %d slots of %d bytes do not fit into the address space", pl.capacity, size)
	}
	pl.pages = slots.PagesOf(size, uint64(pl.capacity))
	return nil
}
