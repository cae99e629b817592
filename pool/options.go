package pool

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"coatcheck/shard"
)

// Options configure a pool. The zero value has the defaults.
type Options[T any] struct {
	// Capacity is the number of slots, and so the greatest number of live values. 0 means
	// MaxCapacity. Fewer values than that may fit while removed ones wait for guards or Refs,
	// so a count of live values is no way to avoid refusals; InsertWait is.
	Capacity int

	// Preallocate makes New allocate everything, and needs a Capacity. That includes 4
	// bytes a slot for Refs, and memory for 256 guards. Later only more guards allocate, and
	// calls that return an object or start goroutines, such as Reserve and Each. DESIGN.md
	// lists them.
	Preallocate bool

	// Reuse is the order in which removed slots are reused.
	Reuse Reuse

	// MaxLimbo bounds the new memory that a guard costs if it is never unpinned. If an
	// Insert needs new memory while MaxLimbo removed slots wait for guards or Refs, it
	// returns ErrStalled. The default 0 means the greater of 1,000,000 and twice the number
	// of live values.
	MaxLimbo int

	// Shards is the number of independent freelists, at most 65,536. 0 means four
	// times GOMAXPROCS. A pool with a small Capacity has fewer.
	Shards int

	// Reset, if not nil, makes an object pool. It is called when a removed slot is reclaimed,
	// in place of zeroing the value, so that T keeps its buffers. InsertFunc and Reserve show
	// what Reset left, and Insert overwrites it. A value that Take or Drain has moved out is
	// zeroed and never Reset.
	//
	// In such a pool a copy of a value is valid only as long as its slot is not Reset. What Get,
	// MustGet and Ptr.Get return shares with the slot all that Reset keeps: once the value is
	// removed, the next value may overwrite the copy's buffers, also in another goroutine. So use
	// a copy only under a guard that was pinned before Get, under a Ref of the value, or where
	// no other goroutine can remove it. What Take and Drain return is never Reset: it belongs
	// to the caller, and to earlier copies.
	//
	// Reset is called by the goroutine that reclaims, mostly in an Insert or a Remove, and
	// may run in several goroutines at once. It may use the pool, and the Worker whose call
	// it interrupts. While it runs, its slot and up to 15 others that the goroutine reclaims
	// with it are not free. Then the goroutine waits for a lock, under which no user code runs.
	// Release of a Ref runs no Reset.
	//
	// If it panics, its slot is zeroed and free, and the call that reclaims panics. A Remove
	// or Take has removed its value by then. RemoveBatch and Clear have removed some values,
	// and leave the others.
	Reset func(*T)

	// Origin sets the first generation of every slot, Origin|1. With Shards: 1 and one
	// goroutine, a program that sets it gets the same handles in each run. The default 0
	// means a random number below 2^31 for each pool. So a pool refuses another pool's
	// handle, except for about one in 2^30. Pools with the same Origin accept each other's where
	// a slot of both is in the same life.
	Origin uint32
}

// Reuse is an order in which removed slots are reused.
type Reuse uint8

const (
	// LIFO reuses the slot that was removed last. It is the default, and uses the cache best.
	LIFO Reuse = iota

	// FIFO reuses the slot that was removed first, in each shard, of those that no guard holds
	// back. Slots then wear evenly, so that generations last as long as possible. FIFO costs
	// cache misses, and a visit to each slot that is reclaimed.
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

// plan is Options with the defaults filled in, and what follows from them.
type plan[T any] struct {
	Options[T]
	slots uint64 // the greatest number
	shift uint32 // of a page's size
}

// check returns the plan, or an error if an option is invalid.
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
	case pl.Reuse > FIFO:
		return fail("Reuse is %d; want LIFO or FIFO", pl.Reuse)
	case pl.MaxLimbo < 0:
		return fail("MaxLimbo is %d; want 0 (the default) or more", pl.MaxLimbo)
	case pl.Shards < 0 || pl.Shards > maxShards:
		return fail("Shards is %d; want 0 (the default) to %d", pl.Shards, maxShards)
	case pl.Origin|1 > shard.LastGeneration:
		return fail("Origin is %d; the last generation is %d", pl.Origin, uint32(shard.LastGeneration))
	}
	if pl.Origin != 0 {
		pl.Origin |= 1 // or it is chosen by build, or comes with a snapshot
	}
	pl.Shards = cmp.Or(pl.Shards, min(shardsPerProc*runtime.GOMAXPROCS(0), maxShards))
	pl.slots = shard.MaxSlots
	if pl.Capacity > 0 {
		pl.slots = uint64(pl.Capacity)
		pl.Shards = min(pl.Shards, max(1, pl.Capacity/slotsPerShard))
	}
	size := unsafe.Sizeof(shard.Slot[T]{})
	if pl.Preallocate && !shard.Fits[T](pl.slots) {
		return fail("Preallocate: %d slots of %d bytes do not fit into the address space", pl.slots, size)
	}
	pl.shift = shard.PageShift(size, pl.slots, pl.Preallocate)
	return pl, nil
}
