// Package turns times contestants in alternating turns: it calibrates the number of
// operations of a turn, orders the turns, and runs goroutines together in one. The module
// bench uses it, and so do the benchmarks of pool, through testkit.Versus.
//
// Other load hits the contestants of a round alike, so the ratios of a round are more reliable than
// its times. The examples print such ratios, by [Times], [Pair] and [Table].
package turns

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"time"
)

// Work does about n operations and returns their number.
type Work func(n int) (did int, err error)

// Calibrate returns the number of operations of a turn. It does more and more operations,
// about a turn in all.
func Calibrate(turn time.Duration, do func(n int) (did int, took time.Duration, err error)) (n int, err error) {
	for n = 1; ; {
		did, took, err := do(n)
		if err != nil {
			return 0, err
		}
		if took >= turn/4 || did >= most {
			return scale(did, took, turn), nil
		}
		// At most 16 times as many: a coarse clock may show too short a time.
		n = min(max(2*n, scale(did, took, turn/2)), 16*min(n, most/16))
	}
}

// most is the most operations of a turn. It fits into an int of 32 bits.
const most = 1 << 30

// scale returns how many operations take a turn, at least one.
func scale(did int, took, turn time.Duration) int {
	return max(1, int(min(most, float64(did)*float64(turn)/float64(max(took, 1)))))
}

// Order yields the turns. Each contestant has one in each round, and each round begins with
// another one, so that a drift hits all of them.
func Order(rounds, contestants int) iter.Seq2[int, int] {
	return func(yield func(round, contestant int) bool) {
		for round := range rounds {
			for i := range contestants {
				if !yield(round, (round+i)%contestants) {
					return
				}
			}
		}
	}
}

func Median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return (xs[len(xs)/2] + xs[(len(xs)-1)/2]) / 2
}

// Crew is works that run together, each on a goroutine of its own. A single one runs on the
// caller's.
type Crew []Work

// Do runs all works, each with the same share of n operations, at least one. It returns
// when all are done, with the number of operations and the first error.
func (c Crew) Do(n int) (did int, err error) {
	share := max(1, n/len(c))
	if len(c) == 1 {
		return c[0](share)
	}
	type outcome struct {
		did int
		err error
	}
	done := make(chan outcome, len(c))
	for _, work := range c {
		go func() {
			o := outcome{err: errEnded} // unless work returns
			defer func() { done <- o }()
			o.did, o.err = Safely(func() (int, error) { return work(share) })
		}()
	}
	for range c {
		o := <-done
		did += o.did
		if err == nil {
			err = o.err
		}
	}
	return did, err
}

var errEnded = errors.New("turns: a work called runtime.Goexit")

// Safely calls f and returns its panic as an error, so that the others can be measured.
func Safely(f func() (int, error)) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}
