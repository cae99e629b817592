package pool

import "fmt"

// Grow makes memory for n more values: whichever goroutines make the next n insertions, these
// allocate none. It uses up no life of a slot, as insertions and removals would. A pool with a
// Capacity gets memory for so many values at most. Grow panics if n is negative.
//
// Removed slots do not count, since they may wait for a guard, and neither does what open Workers
// keep. So a pool may get more memory than it needs. [Pool.Trim] gives back what is not used. If
// it gave up pages that are no neighbours, a pool with a Capacity gets these back one by one, as
// insertions come to need them.
//
// Any number of goroutines may use the pool meanwhile. An insertion that needs memory waits until
// one page has been made.
func (p *Pool[T]) Grow(n int) { p.grow(n) }

func (c *core) grow(n int) {
	c.pages()
	if n < 0 {
		panic(fmt.Sprintf("pool: Grow: n is %d", n))
	}
	c.arena.Grow(uint64(n))
}
