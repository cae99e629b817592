package pool

import (
	"runtime"
	"weak"

	"coatcheck/shard"
)

// A sentinel zeroes removed values in pools that are idle. A removed value stays in its slot until
// the slot is reclaimed, mostly by a later call. But there may be none, and the value may keep
// much memory reachable, such as a connection with its buffers.
//
// Only the garbage collector needs that memory back, so it gives the signal. Nothing refers
// to a sentinel, so its finalizer runs after each cycle. The finalizer zeroes the values whose
// grace period is over, and sets itself again. It reclaims no slot, because the collector must not
// decide the order of reuse. What a value keeps reachable is freed in the cycle after that, if no
// guard delays its slot and no Ref or Worker has it.
//
// The sentinel refers to the pool weakly, and ends with it. A pool with a Reset has none,
// because user code must not run on the goroutine of finalizers. A pool of values without
// pointers needs none.
type sentinel struct {
	pool weak.Pointer[core]
}

// watch makes the sentinel of c, if it needs one. c must be complete.
func (c *core) watch() {
	if c.arena.Pointers && c.arena.Reset == nil && !shard.Exploring {
		runtime.SetFinalizer(&sentinel{weak.Make(c)}, (*sentinel).cycle)
	}
}

// cycle is the sentinel's finalizer.
func (s *sentinel) cycle() {
	if p := s.pool.Value(); p != nil {
		p.arena.ClearExpired()
		runtime.SetFinalizer(s, (*sentinel).cycle)
	}
}
