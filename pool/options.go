package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"unsafe"

	"coatcheck/shard"
)

// Reuse is the order in which slots that were removed are reused.
type Reuse uint8

const (
	// LIFO reuses the hottest slot first. It is the default.
	LIFO Reuse = iota

	// FIFO reuses the slot first that was removed longest ago (strictly so within a
	// shard, but for slots whose Resets run at the same time), and only while
	// [Options].MinFree others are free. That spreads wear: generations last as long
	// as they can, and a bug that uses a handle late meets a vacant slot rather than
	// another value. It costs the cache, and a look at each slot that comes free.
	FIFO
)

// String returns "LIFO" or "FIFO".
func (r Reuse) String() string {
	switch r {
	case LIFO:
		return "LIFO"
	case FIFO:
		return "FIFO"
	}
	return fmt.Sprintf("Reuse(%d)", uint8(r))
}

// MaxCapacity is the greatest number of slots: 2^32 − 1024, or less on 32-bit
// platforms.
const MaxCapacity = min(1<<32-1024, math.MaxInt)

const (
	// DefaultMinFree is MinFree's default. With 64 slots kept back, a slot rests
	// for at least 64 removals.
	DefaultMinFree = 64

	// MaxShards is the most shards there can be.
	MaxShards = 1 << 16

	// PreallocatedGuards is how many guards of a pool with Preallocate can be
	// pinned at once without an allocation. More are served, and allocate.
	PreallocatedGuards = 256

	// shardsPerProc makes it unlikely that two running goroutines share a shard
	// by chance. Each shard may keep about 2·shard.Batch slots to itself, and up to 32 KiB
	// of slots that others could have lent it.
	shardsPerProc = 4

	// slotsPerShard is how many slots of a bounded pool a shard must have.
	slotsPerShard = 2
)

// Options are the options of [New]. The zero Options are the defaults.
type Options[T any] struct {
	// Capacity is the greatest number of live values; 0 means that there is no
	// limit but MaxCapacity. What the pool needs beside (queue dummies, MinFree)
	// comes on top.
	Capacity int

	// Preallocate, which needs a Capacity, allocates everything in New: the
	// slots, 4 bytes a slot for Refs, cells for PreallocatedGuards guards, and
	// eight loops of [Pool.All]. After that only these allocate: Hold, Reserve,
	// Reserver, Worker and Each, which return or start something; WriteTo,
	// Explain and ExplainOpen; a Synchronize that has to wait, for its timer;
	// and guards and loops beyond these numbers.
	Preallocate bool

	// Reuse is the order in which slots are reused.
	Reuse Reuse

	// MinFree, which only FIFO knows, keeps slots resting: a slot is reused only
	// while at least so many others are free. They are allocated on top of
	// Capacity. When slots are exhausted, the pool misses them here first. 0
	// means DefaultMinFree.
	MinFree int

	// MaxLimbo is how many removed slots may wait for guards before an Insert
	// that would need new memory returns ErrStalled instead. 0 means the greater
	// of a million and twice the live values, so that a forgotten guard cannot
	// eat the machine.
	MaxLimbo int

	// Shards is the number of independent freelists, at most MaxShards. 0 means
	// four for each of GOMAXPROCS. A small Capacity has fewer than asked for.
	Shards int

	// Reset, if set, makes an object pool: it is called when a removed slot is
	// reclaimed, in place of zeroing, so that T keeps its buffers. InsertFunc and
	// Reserve show what Reset left; Insert overwrites it. A value that Take or
	// Drain moved out is another's: its slot is zeroed, never Reset. So is one
	// whose Reset panics; the panic comes up in whoever reclaimed, mostly an
	// Insert or a Remove. Reset may use the pool, and the Worker whose call it
	// interrupts. It runs on any goroutine, and on several at once; while it runs, its
	// slot is not free, and up to 15 others that the goroutine took with it.
	Reset func(*T)

	// AutoTrim trims by itself, see [Pool.Trim], when fewer than half of the slots
	// that have memory are live. A Remove notices: once for every fourth part of
	// the slots that it and others have freed, it looks at all of them, which takes
	// a millisecond or so for a million, and then may trim. It does not go with
	// Preallocate.
	AutoTrim bool

	// Origin chooses the generation that every slot starts from, Origin|1, for
	// replays that want the same handles each time (with Shards: 1 and one
	// goroutine). 0 draws it at random below 2^31 for each pool, so that another
	// pool's handle is refused but for about one in 2^30.
	Origin uint32
}

// plan is what New makes of Options.
type plan[T any] struct {
	Options[T]
	slots  uint64 // most slots of all kinds
	shift  uint32 // page size
	guards int
}

// check refuses bad options and fills in the defaults.
func (o *Options[T]) check() (plan[T], error) {
	var pl plan[T]
	if o != nil {
		pl.Options = *o
	}
	fail := func(format string, args ...any) (plan[T], error) {
		return plan[T]{}, fmt.Errorf("pool: Options."+format, args...)
	}
	switch {
	case pl.Capacity < 0:
		return fail("Capacity is %d; want 0 (no limit) or more", pl.Capacity)
	case uint64(pl.Capacity) > MaxCapacity:
		return fail("Capacity is %d; the limit is %d", pl.Capacity, uint64(MaxCapacity))
	case pl.Preallocate && pl.Capacity == 0:
		return fail("Preallocate needs a Capacity")
	case pl.AutoTrim && pl.Preallocate:
		return fail("AutoTrim and Preallocate exclude each other: one gives memory back, the other keeps it")
	case pl.Reuse > FIFO:
		return fail("Reuse is %v; want LIFO or FIFO", pl.Reuse)
	case pl.MinFree < 0:
		return fail("MinFree is %d; want 0 (the default) or more", pl.MinFree)
	case pl.MinFree > 0 && pl.Reuse != FIFO:
		return fail("MinFree is %d, but Reuse is %v; only FIFO keeps slots back", pl.MinFree, pl.Reuse)
	case pl.MaxLimbo < 0:
		return fail("MaxLimbo is %d; want 0 (the default) or more", pl.MaxLimbo)
	case pl.Shards < 0 || pl.Shards > MaxShards:
		return fail("Shards is %d; want 0 (the default) to %d", pl.Shards, MaxShards)
	case pl.Origin|1 > shard.LastGeneration:
		return fail("Origin is %d; the last generation is %d", pl.Origin, uint32(shard.LastGeneration))
	}
	if pl.Origin == 0 {
		pl.Origin = rand.Uint32N(1 << 31)
	}
	pl.Origin |= 1
	if pl.Shards == 0 {
		pl.Shards = min(shardsPerProc*runtime.GOMAXPROCS(0), MaxShards)
	}
	if pl.Capacity > 0 {
		pl.Shards = min(pl.Shards, maxShardsOf(pl.Capacity))
	}
	pl.slots = uint64(pl.Capacity)
	if pl.Reuse == FIFO {
		if pl.MinFree == 0 {
			pl.MinFree = DefaultMinFree
		}
		pl.slots += uint64(pl.MinFree) + uint64(pl.Shards)
	}
	if pl.slots > shard.MaxSlots {
		return fail("Capacity with MinFree and a dummy for each shard makes %d slots; the limit is %d", pl.slots, uint64(shard.MaxSlots))
	}
	if pl.Preallocate && !shard.Fits[T](pl.slots) {
		return fail("Preallocate: %d slots of %d bytes do not fit into the address space", pl.slots, unsafe.Sizeof(shard.Slot[T]{}))
	}
	bounded := pl.slots
	if pl.Capacity == 0 {
		pl.slots, bounded = shard.MaxSlots, shard.MaxSlots
	}
	pl.shift = shard.PageShift(unsafe.Sizeof(shard.Slot[T]{}), bounded, pl.Preallocate)
	if pl.Preallocate {
		pl.guards = PreallocatedGuards
	}
	return pl, nil
}

// maxShardsOf returns the most shards of a pool that is bounded to capacity.
func maxShardsOf(capacity int) int { return min(MaxShards, max(1, capacity/slotsPerShard)) }
