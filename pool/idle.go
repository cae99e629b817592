package pool

import (
	"runtime"
	"weak"

	"coatcheck/shard"
)

// A removed value lies in its slot until that is reclaimed, which is done by those who
// use the pool. Pools fall idle, and what was removed last may be heavy: a
// connection with its buffers. So reclaiming must not depend on a next call.
//
// It is the garbage collector that matters to, and the collector that tells when: a
// sentinel is an object to which nothing refers, so that its finalizer runs after
// each cycle. It reclaims, and sets itself the next finalizer. So with nothing pinned
// or held, what a removed value keeps alive goes with the cycle after.
//
// The sentinel refers to the pool weakly and ends with it. A pool with a Reset has
// none, since user code has no business on the finalizers' goroutine; nor has one
// whose values refer to nothing.
type sentinel[T any] struct {
	pool weak.Pointer[Pool[T]]
}

// watch gives the pool, which is complete, its sentinel if it needs one.
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
