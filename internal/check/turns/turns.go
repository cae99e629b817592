// Package turns times contestants beside each other: it finds how many operations make
// a turn, says whose turn it is, and has goroutines work together in one. The module
// bench and the benchmarks in pool, by testkit.Versus, stand on it.
package turns

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"time"
)

// Work does about n operations, and returns how many it did.
type Work func(n int) (did int, err error)

// Time does work and returns how long it took.
func Time(w Work, n int) (did int, took time.Duration, err error) {
	start := time.Now()
	did, err = w(n)
	return did, time.Since(start), err
}

// Calibrate finds how many operations make a turn of that length, by doing more and
// more, a turn's length in all.
func Calibrate(turn time.Duration, do func(n int) (did int, took time.Duration, err error)) (n int, err error) {
	for n = 1; ; {
		did, took, err := do(n)
		if err != nil {
			return 0, err
		}
		if took >= turn/4 || did >= most {
			return Scale(did, took, turn), nil
		}
		// Not more than a few times as many as before: the first operations are
		// the slowest, but a clock that is coarse may say otherwise.
		n = min(max(2*n, Scale(did, took, turn/2)), 16*min(n, most/16))
	}
}

// most is how many operations a turn has at most: what an int of 32 bits holds.
const most = 1 << 30

// Scale returns how many operations would have taken that long, at least one.
func Scale(did int, took, turn time.Duration) int {
	return max(1, int(min(most, float64(did)*float64(turn)/float64(max(took, 1)))))
}

// Order yields the turns: each contestant has one in each round, and every round
// begins with another, so that drift hits all alike.
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

// Median returns the median.
func Median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return (xs[len(xs)/2] + xs[(len(xs)-1)/2]) / 2
}

// Crew is works that are done together, each on a goroutine of its own. A crew of one
// works on the caller's.
type Crew []Work

// Do has each do its share of n operations, all the same and at least one, and returns
// when the last is ready: how many operations they did, and the first error.
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

var errEnded = errors.New("turns: a goroutine ended within its work")

// Close does nothing: a crew has no more than its works.
func (c Crew) Close() error { return nil }

// Safely calls f and makes an error of its panic, so that one contestant's does not
// keep the others from being measured.
func Safely(f func() (int, error)) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}
