package pool

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"runtime"

	"coatcheck/internal/pointers"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Options configure a pool. The zero value has the defaults.
type Options[T any] struct {
	// Capacity is the greatest number of slots in use, and so of live values. 0 means
	// MaxCapacity. When a slot has used up its generations, the pool replaces it, so the pool
	// does not end.
	//
	// A removed slot stays in use while it waits for guards or Refs, and so does a slot that
	// another goroutine's Worker keeps. So an insertion may fail although fewer values are live.
	// [Pool.InsertWait] waits instead.
	Capacity int

	// Preallocate makes New allocate all memory for Capacity, which must be set. Later calls then
	// allocate only what they return, goroutines, timers, and cells for more than 256 guards.
	// DESIGN.md lists the rest under Memory.
	Preallocate bool

	// Reuse is the order in which removed slots are reused.
	Reuse Reuse

	// MaxLimbo bounds the memory that a forgotten guard costs. While MaxLimbo removed slots wait
	// for guards or Refs, an insertion that needs new memory returns ErrStalled. 0 means
	// 1,000,000, or twice the number of live values if that is more.
	MaxLimbo int

	// Shards is the number of shards, at most 65,536. Goroutines that use different shards do not
	// contend. 0 means that the pool begins with one, and makes more where goroutines meet, up to
	// four times GOMAXPROCS. A pool with a small Capacity has fewer. A call that is refused visits each
	// shard.
	Shards int

	// Reset, if not nil, makes an object pool, whose values keep their buffers. When the pool
	// reclaims a removed slot, it calls Reset for its value instead of zeroing it, and InsertFunc and
	// Reserve find the value as Reset left it. It also calls Reset for what a failed constructor or
	// a cancelled Reservation has built, and zeroes a value that Take or Drain has moved out.
	//
	// An insertion that finds no vacant slot runs Resets that are due, at most 16 at a time, in its own
	// goroutine and before it returns; Synchronize and Trim run all that are due. No removal, Unpin,
	// Release, Flush or Close of a Worker runs one, nor does the garbage collector. Reset may use the
	// pool, and the Worker whose call runs it; several goroutines may run Resets at once. If Reset
	// panics, its slot is zeroed and becomes free, and the panic continues out of the call that runs it.
	// Reset is not called for what is live, or kept in a vacant slot, when the pool becomes unreachable,
	// nor for what Trim gives up.
	//
	// Reset may also end what a value has, such as a file: it is called once for each removal, when no
	// guard or Ref has the value any more. Call Synchronize to run what is due; it returns at once if
	// its context is done. docs/cookbook.md has both recipes: files that their last reader closes, and
	// idle connections.
	//
	// A copy that Get returns shares buffers with the slot. Use it only under a guard that was
	// pinned before Get, under a Ref, or where no other goroutine can remove the value.
	Reset func(*T)

	// OnInsert and OnRemove, if not nil, are told of each life: for an index by name, for counts by kind, or
	// for what another system keeps beside each value. They run in the goroutine that inserts or removes,
	// before its call returns, and under no lock of the pool. They may use the pool, and the Worker whose
	// call runs them. For one value OnInsert comes before OnRemove.
	//
	// OnInsert is called once for each value that an insertion of any kind makes live: when the value is
	// complete, and just before h goes live. So it has v alone, and may write it. It is not called for a
	// constructor that fails, for a Reservation that is cancelled or dropped, nor for what [ReadFrom]
	// brings: range over All for that. If it panics or exits, h never goes live and the slot goes back.
	//
	// OnRemove is called once for each value whose life a call ended, by whichever verb. h is no longer live.
	// OnRemove may read v, as Take does, and must not write it: a Get, a guard or a Ref may still read it.
	// It waits for none of them, so what ends with the last reader belongs in Reset. The slot is reused only
	// after OnRemove has returned. If it panics or exits, the value stays removed and its slot is retired.
	// Then RemoveBatch, Clear, DeleteFunc and Drain stop there, and Take returns no copy. OnRemove is not
	// called for what is live when the pool becomes unreachable.
	//
	// While one of them runs, its slot is in use. So what it inserts may be refused in a pool with a small
	// Capacity. nil costs nothing. With OnRemove, RemoveBatch and Clear cost what as many Removes do.
	OnInsert, OnRemove func(h Handle[T], v *T)

	// Origin is the first generation of every slot; an even number is raised by one. 0 means a
	// random one for each pool, so that a pool refuses the handles of others. A pool that [ReadFrom]
	// makes keeps its snapshot's first generation.
	//
	// Set Origin, and Shards to 1, for replays. One goroutine that makes the same calls gets the
	// same handles, whatever the garbage collector does, if it closes every Worker and settles every
	// Reservation. It may write a snapshot and go on in the pool that ReadFrom makes of it, with the
	// same options: that pool issues the handles that the original would. docs/cookbook.md has the
	// rules, under "A replay".
	Origin uint32

	// TraceGuards finds in production who forgot an Unpin or a Release. The pool records the
	// stack of one pin and one Hold in so many, at random; 1 records each, and 0 none.
	// ExplainOpen and the profile [ProfileName] show the stacks of those that are open. A stack of
	// the profile begins at the line that called the pool. The profile may show a guard until the
	// garbage collector's next cycle after its Unpin.
	//
	// 0 costs nothing. Otherwise each pin with its Unpin takes about three times as long. One
	// that is recorded takes some microseconds more (DESIGN.md, Decisions).
	TraceGuards int
}

// Reuse is an order in which removed slots are reused.
type Reuse uint8

const (
	// LIFO first reuses the slots that were reclaimed last. It is the default, because such slots
	// are most likely in the cache.
	LIFO Reuse = iota

	// FIFO reuses the slot that was removed longest ago, among those that no guard or Ref keeps.
	// It first uses slots that were never used: all of them if there is a Capacity, and otherwise
	// those that have memory. Each shard has its own order, so set Shards to 1 if slots must wear
	// evenly. FIFO costs cache misses.
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
	shards      int  // the most that there may be
	allShards   bool // they are made at once
	origin      uint32
	traceGuards int
	fresh       uint32 // the first generation of slots that were never used
	replays     bool   // Origin was set, and there is one shard

	value  reflect.Type // T
	name   func() string
	layout slots.Layout // of its slots
	events shard.Events
	slots  uint64 // the greatest number that there may ever be
	pages  slots.PageSizes
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
	if pl.origin != 0 {
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
