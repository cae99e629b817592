package pool_test

import (
	"container/heap"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	"coatcheck/pool"
)

// Timers that any goroutine may stop while others fire. To find a stopped timer in the queue
// would take a search, so its entry stays there. Its handle is stale, and is refused when the
// time comes. When the queue is full of entries, the stale ones leave it, before it grows.
// A timer is taken from the pool once, so it is either run or stopped.
func Example_timers() {
	ts := timers{live: pool.Must[func()](nil)}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int, text string) pool.Handle[func()] {
		h, err := ts.At(noon.Add(time.Duration(minutes)*time.Minute), func() { fmt.Println(text) })
		if err != nil {
			log.Fatal(err)
		}
		return h
	}
	at(2, "close the cloakroom")
	reminder := at(1, "fetch the umbrella")
	open := at(0, "open the cloakroom")

	ts.Run(noon)
	fmt.Println("stopped:", ts.Stop(open), ts.Stop(reminder))
	ts.Run(noon.Add(time.Hour))
	for range 1000 {
		ts.Stop(at(60, "never"))
	}
	fmt.Println("stopped timers do not gather:", len(ts.queue) < 10)
	// Output:
	// open the cloakroom
	// stopped: false true
	// close the cloakroom
	// stopped timers do not gather: true
}

// timers runs functions at their time.
type timers struct {
	live *pool.Pool[func()]

	mu    sync.Mutex
	queue queue
}

// At lets Run call f at a time, or later.
func (t *timers) At(at time.Time, f func()) (pool.Handle[func()], error) {
	h, err := t.live.Insert(f)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == cap(t.queue) {
		t.queue = slices.DeleteFunc(t.queue, func(d due) bool { return !t.live.Contains(d.timer) })
		heap.Init(&t.queue)
		t.queue = slices.Grow(t.queue, len(t.queue)+1) // so that the next look at all is paid for
	}
	heap.Push(&t.queue, due{at, h})
	return h, nil
}

// Stop stops a timer. It reports false if the timer has been run or stopped.
func (t *timers) Stop(h pool.Handle[func()]) bool { return t.live.Remove(h) }

// Run runs the timers that are due and have not been stopped.
func (t *timers) Run(now time.Time) {
	for {
		h, found := t.next(now)
		if !found {
			return
		}
		if f, ok := t.live.Take(h); ok {
			f()
		}
	}
}

// next returns the first timer that is due.
func (t *timers) next(now time.Time) (_ pool.Handle[func()], found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 || t.queue[0].at.After(now) {
		return 0, false
	}
	return heap.Pop(&t.queue).(due).timer, true
}

// queue is a heap of timers by their time.
type queue []due

type due struct {
	at    time.Time
	timer pool.Handle[func()]
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(d any)        { *q = append(*q, d.(due)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
