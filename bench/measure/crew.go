package measure

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Work does n operations, and returns how many it did.
type Work func(n int) (did int, err error)

// Crew is some goroutines that do work together, in turns. They are started once,
// and wait between turns, so that starting them is in nobody's figures. A crew of
// one works on the caller's goroutine.
type Crew struct {
	works []Work
	start []chan int
	done  chan outcome
	ended sync.WaitGroup
}

type outcome struct {
	did int
	err error
}

// NewCrew starts a goroutine for each of works.
func NewCrew(works ...Work) *Crew {
	c := &Crew{works: works, done: make(chan outcome, len(works))}
	if len(works) == 1 {
		return c
	}
	c.start = make([]chan int, len(works))
	for i, work := range works {
		start := make(chan int, 1)
		c.start[i] = start
		c.ended.Add(1)
		go func() {
			defer c.ended.Done()
			for n := range start {
				did, err := safely(func() (int, error) { return work(n) })
				c.done <- outcome{did, err}
			}
		}()
	}
	return c
}

// Do has each goroutine do its share of n operations, all the same and at least
// one, and returns when the last is ready: how many operations they did, and the
// first error.
func (c *Crew) Do(n int) (did int, err error) {
	share := max(1, n/len(c.works))
	if len(c.works) == 1 {
		return c.works[0](share)
	}
	for _, start := range c.start {
		start <- share
	}
	for range c.works {
		o := <-c.done
		did += o.did
		if err == nil {
			err = o.err
		}
	}
	return did, err
}

// safely calls f and makes an error of its panic, so that one contestant's does not
// keep the others from being measured.
func safely(f func() (int, error)) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}

// Close ends the goroutines, and returns when they have ended.
func (c *Crew) Close() {
	for _, start := range c.start {
		close(start)
	}
	c.ended.Wait()
}
