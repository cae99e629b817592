package pool

import (
	"context"
	"runtime"
	"weak"

	"coatcheck/shard"
)

// Trim returns the memory of unused pages to the Go heap, and reports how many bytes it was.
// A page is unused if none of its slots is live, held, reserved, in limbo, or kept by a
// Worker. Other goroutines may use the pool meanwhile. No stale handle becomes valid. Under
// FIFO the slots that stay keep their order of reuse.
//
// Trim reads every slot that has memory. If there are unused pages, each vacant slot costs
// some nanoseconds more, or a cache miss, and one of its 2^31 lives. Meanwhile insertions that
// find no vacant slot wait for Trim, as do calls of Trim, Synchronize and Stats, and Workers
// that give slots back. Removals and other insertions do not.
//
// A page has 64 to 512 KiB, with at least 1,024 slots if values have up to 504 bytes, or one
// slot of more than 64 KiB. One live value keeps it. A pool with a single page, or with
// Preallocate, keeps its memory. DESIGN.md lists what else does.
func (p *Pool[T]) Trim() int64 {
	p.pages()
	return p.arena.Trim()
}

// Synchronize waits until everything that was removed before the call has been reclaimed:
// zeroed or Reset, and free. It waits for the guards that are pinned when it is called, and
// may wait for later ones. It does not wait for what open Workers and Refs keep.
//
// If there is nothing to wait for, Synchronize returns nil, even if ctx is done. Otherwise it
// returns ctx's error when ctx is done. A goroutine that waits under its own guard, or in a
// Reset, waits for ctx.
func (p *Pool[T]) Synchronize(ctx context.Context) error {
	p.pages()
	return p.arena.Wait(ctx)
}

// A sentinel reclaims in pools that are idle. A removed value stays in its slot until the
// slot is reclaimed, mostly by a later call. But there may be none, and the value may keep
// much memory reachable, such as a connection with its buffers.
//
// Only the garbage collector needs that memory back, so it gives the signal. Nothing refers
// to a sentinel, so its finalizer runs after each cycle. The finalizer reclaims, and sets
// itself again. What a removed value keeps reachable is freed in the cycle after that, if no
// guard delays its slot and no Ref or Worker has it.
//
// The sentinel refers to the pool weakly, and ends with it. A pool with a Reset has none,
// because user code must not run on the goroutine of finalizers. A pool of values without
// pointers needs none.
type sentinel[T any] struct {
	pool weak.Pointer[Pool[T]]
}

// watch makes the sentinel of p, if it needs one. p must be complete.
func (p *Pool[T]) watch() {
	if p.arena.Pointers && p.arena.Reset == nil && !shard.Exploring {
		runtime.SetFinalizer(&sentinel[T]{weak.Make(p)}, (*sentinel[T]).cycle)
	}
}

// cycle is the sentinel's finalizer.
func (s *sentinel[T]) cycle() {
	if p := s.pool.Value(); p != nil {
		p.arena.LetGo()
		runtime.SetFinalizer(s, (*sentinel[T]).cycle)
	}
}
