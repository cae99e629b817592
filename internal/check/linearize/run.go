package linearize

import (
	"slices"
	"sync"
)

// DefaultHistories and DefaultOps are the size of a test run. LeastContended is the least
// number of contended pairs in a history on average. Two idle processors make dozens.
const (
	DefaultHistories = 1000
	DefaultOps       = 200
	LeastContended   = 0.1
)

// moment is how often a thread looks while it waits at a handle. It takes about ten
// microseconds, in which another thread does a few operations. The waiter does not yield,
// since the two threads would not continue at the same moment then.
const moment = 20_000

// Run runs the threads as goroutines.
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
