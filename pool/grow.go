package pool

import "fmt"

// Grow makes memory for n more values, so that the next n insertions allocate none, whichever
// goroutines make them. With a Capacity, it makes memory for Capacity values at most. It uses up
// no life of a slot. Grow panics if n is negative.
//
// Grow does not count on removed slots, which may wait for a guard, nor on slots that open
// Workers keep. So the pool may get more memory than it needs; [Pool.Trim] gives back what is not
// used. After a Trim, a pool with a Capacity may get some pages back only when insertions need
// them.
//
// Any number of goroutines may use the pool meanwhile. An insertion that needs memory waits until
// Grow has made one page.
func (p *Pool[T]) Grow(n int) { p.grow(n) }

func (c *core) grow(n int) {
	c.pages()
	if n < 0 {
		panic(fmt.Sprintf("pool: Grow: n is %d", n))
	}
	c.arena.Grow(uint64(n))
}
