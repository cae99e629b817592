package pool

import (
	"fmt"
	"unsafe"

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
