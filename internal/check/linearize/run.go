//go:build !interleave

package linearize

import (
	"slices"
	"sync"
)

// virtual says which half this is.
const virtual = false

// DefaultHistories, DefaultOps and LeastContended are what a test run makes, and
// how many contended pairs of operations it must see in a history, on the average:
// few of the dozens that there are when two processors have nothing else to do.
const (
	DefaultHistories = 1000
	DefaultOps       = 200
	LeastContended   = 0.1
)

// moment is how often a thread looks while it waits at a handle: some ten
// microseconds, in which another does a few operations. It does not let others
// run: they would not come at the same moment.
const moment = 20_000

func pause() {}

// drain does nothing here: the clock's addition is a locked instruction.
func drain() {}

// Run lets the threads run as goroutines.
func (p Plan) Run(subject Maker) *History {
	threads, end := p.begin(subject)
	start := make(chan struct{})
	var wg sync.WaitGroup
	broken := make([][]string, len(threads))
	for i, t := range threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			broken[i] = t.caught(func() { t.run(p.Ops) })
		}()
	}
	close(start)
	wg.Wait()
	return end(slices.Concat(broken...)...)
}

// Quiet calls f. See the other half.
func Quiet(f func()) { f() }
