package pool

import (
	"context"
	"fmt"
	"weak"

	"coatcheck/shard/slots"
)

// Grow makes memory for n more values, so that the next n insertions allocate none, whichever
// goroutines make them; with a Capacity, for Capacity values at most. It panics if n is negative.
// An insertion that needs memory waits until Grow has made one page.
func (p *Pool[T]) Grow(n int) { p.grow(n) }

func (c *core) grow(n int) {
	c.pages()
	if n < 0 {
		panic(fmt.Sprintf("pool: Grow: n is %d", n))
	}
	c.arena.Grow(uint64(n))
}

// Trim gives the memory of unused pages back to the Go heap, and returns the number of bytes. A
// page is unused if all of its slots are vacant, and no Worker keeps one. A pool with Preallocate,
// or with only one page, keeps its memory. Under FIFO the other slots keep their order.
//
// These wait for Trim: insertions that find no vacant slot, Stats, Synchronize, Workers that open
// or give slots back, WriteTo and Clone with an Origin, and calls that run a Reset. Trim reads
// every slot that has memory. If it finds unused pages, or fewer than a quarter of the slots live,
// it visits each vacant slot, which loses one life.
func (p *Pool[T]) Trim() int64 { return p.trim() }

func (c *core) trim() int64 {
	c.pages()
	if debugging {
		c.mustBeClean()
	}
	return c.arena.Trim()
}

// Synchronize waits until the pool has reclaimed every slot that was removed before the call: its
// value is zeroed or Reset, and it is free. It waits for guards that were pinned before the call,
// and perhaps for later ones, but not for what open Workers and Refs keep, nor, with an Origin, for
// the value that a WriteTo or Clone is reading.
//
// If there is nothing to wait for, Synchronize returns nil, even if ctx is done. Otherwise it
// returns ctx's error when ctx is done. Under the caller's own guard, or in a Reset, it waits until
// then.
func (p *Pool[T]) Synchronize(ctx context.Context) error { return p.synchronize(ctx) }

func (c *core) synchronize(ctx context.Context) error {
	c.pages()
	err := c.arena.Synchronize(ctx)
	if debugging {
		c.mustBeClean()
	}
	return err
}

// A removed value stays in its slot until the slot is reclaimed, mostly by a later call. But in an idle pool
// there may be none, and the value may keep much memory reachable, such as a connection with its buffers.
//
// Only the garbage collector needs that memory back, so it gives the signal (collected.go). After each cycle
// the slots whose grace period is over are reclaimed. What a value keeps reachable is freed
// in the cycle after that, if no guard delays its slot and no Ref or Worker has it. The second sentinel of a
// cycle finds little, and may run beside the first: ClearExpired is a call like any other, and leaves a shard
// whose lock another goroutine has.
//
// The sentinels refer to the pool weakly, and end with it. A pool with a Reset has none,
// because user code must not run on a goroutine of the runtime. A pool of values without
// pointers needs none. In a pool that replays they do nothing, because the collector must not
// decide the order of reuse.

// watch makes the sentinels of c, if it needs them. c must be complete.
func (c *core) watch() {
	if !c.arena.Pointers || c.arena.Reset != nil || slots.Exploring {
		return
	}
	pool := weak.Make(c)
	eachCycle(func() bool {
		p := pool.Value()
		if p != nil {
			p.arena.ClearExpired()
		}
		return p != nil
	})
}
