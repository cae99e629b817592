package apps

import (
	"sync"
	"sync/atomic"
)

// crew shares ready jobs among goroutines. Each has a stack of its own, and gives half of it
// away while others have nothing. N is what names a job.
type crew[N any] struct {
	goroutines int
	idle       atomic.Int32

	mu     sync.Mutex
	wake   sync.Cond
	spare  []N
	ended  bool
	result uint64
}

// newCrew returns a crew whose first job is that one.
func newCrew[N any](goroutines int, first N) *crew[N] {
	c := &crew[N]{goroutines: goroutines, spare: []N{first}}
	c.wake.L = &c.mu
	return c
}

// next pops a job, the newest of the goroutine's own. It returns false at the end.
func (c *crew[N]) next(own *[]N) (job N, ok bool) {
	last := len(*own) - 1
	if last < 0 {
		return c.wait(own)
	}
	if last > 0 && c.idle.Load() > 0 {
		c.give(own)
		last = len(*own) - 1
	}
	job = (*own)[last]
	*own = (*own)[:last]
	return job, true
}

// give gives the older half of the jobs to those who wait.
func (c *crew[N]) give(own *[]N) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if half := len(*own) / 2; len(c.spare) == 0 {
		c.spare = append(c.spare, (*own)[:half]...)
		*own = append((*own)[:0], (*own)[half:]...)
		c.wake.Signal()
	}
}

// wait waits for a job that another goroutine gives, or for the end.
func (c *crew[N]) wait(own *[]N) (job N, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle.Add(1)
	defer c.idle.Add(-1)
	for len(c.spare) == 0 && !c.ended {
		c.wake.Wait()
	}
	if c.ended {
		return job, false
	}
	last := len(c.spare) - 1
	*own = append(*own, c.spare[:last]...)
	job, c.spare = c.spare[last], c.spare[:0]
	return job, true
}

// end lets all goroutines end, and keeps the result.
func (c *crew[N]) end(result uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.result = true, result
	c.wake.Broadcast()
}

// run calls work on each goroutine, and returns the result.
func (c *crew[N]) run(work func(own []N)) uint64 {
	each(c.goroutines, func(int) uint64 { work(nil); return 0 })
	return c.result
}
