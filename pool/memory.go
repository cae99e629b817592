package pool

import (
	"fmt"
	"runtime"
	"unsafe"
	"weak"

	"coatcheck/shard"
)

// Grow makes the memory for n more values ahead, so that the next n insertions allocate
// none, whoever makes them. Slots that were removed do not count: they may wait for a
// guard. So it may make more than is needed, and a second Grow in a row makes none.
//
// A pool with a Capacity gets memory for so many values at most; n greater than that is
// answered with an error that wraps ErrFull. A negative n, and one for which there are no
// addresses, are errors as well. Nothing has changed then.
//
// Others may use the pool meanwhile. What Trim gave up comes back first, and the next
// [Pool.Trim] gives up again what was not used by then. Slots in the reach of open
// [Worker] come on top. A pool with Preallocate has all of its memory.
func (p *Pool[T]) Grow(n int) error {
	p.pages()
	switch {
	case n < 0:
		return fmt.Errorf("pool: Grow by %d values; want 0 or more", n)
	case n > p.Cap():
		return fmt.Errorf("%w: Grow by %d values: there may be %d", ErrFull, n, p.Cap())
	case !shard.Fits[T](uint64(n)):
		return fmt.Errorf("pool: Grow: %d slots of %d bytes do not fit into the address space", n, unsafe.Sizeof(shard.Slot[T]{}))
	}
	p.arena.Grow(uint64(n))
	return nil
}

// Trim gives the memory of pages in which nothing is live, held, reserved, cached
// by a Worker or in limbo back to the Go heap, and returns how many bytes that is.
// Others may insert, remove, read and iterate meanwhile. No handle comes back to
// life: what is left of a page is the generation from which its slots go on.
//
// It costs a look at every slot that has memory and, if there are pages to give
// up, some nanoseconds more for each vacant one, a cache miss each where they were
// removed in random order; and it uses up one of the 2^31 lives of each of these.
// It delays insertions that find no vacant slot while it runs, and other calls of
// Trim; nobody else. What stays is reused in the order that it had before. Memory
// comes back when insertions need it: a page, and with it a 64th as many as there
// are.
//
// Pages are what the pool allocates: between 64 and 128 KiB, at least 1,024
// slots. One value that lives keeps its page, and so does a slot whose generation
// has passed 2^32 − 2^28: its last 2^27 lives are kept for values. Under FIFO, where all
// slots age alike, one such slot keeps everything. Guards and Workers that are open
// may keep the memory of what is given up until they are unpinned or flushed. A
// pool with Preallocate, or with a single page, keeps what it has.
func (p *Pool[T]) Trim() int64 {
	p.pages()
	return p.arena.Trim()
}

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
