package main

import (
	"runtime"
	"sync"
)

// queue hands ready jobs to a fixed number of workers, and parks workers while there are
// none.
//
// Every worker has a lane for the jobs that it makes ready. It takes from the lanes of
// the others first and from its own last, the oldest job of a lane first. The order of
// the lanes is a free choice here: a job reads files, and its parent left nothing useful
// in the cache. With this order a job usually ends on another worker than the one that
// inserted it, which this program is to show. If jobs share data with their parents, take
// from the worker's own lane first, by changing one line.
//
// The queue detects the end of a run. Only workers make jobs ready. So once every worker
// asks for a job and there is none, there never will be one: the last worker that would
// park closes the queue instead. The run ends without a count of jobs, even if a job can
// never become ready. Workers that wait for a count of zero would wait for ever on such a
// job.
//
// One mutex for all lanes looks like a naive version of lock-free deques, but is the
// better one here. A job takes from a tenth of a millisecond to a second, the lock some
// fifty nanoseconds. Deques pay if jobs are a thousand times shorter.
type queue[T any] struct {
	mu   sync.Mutex
	wake sync.Cond // with mu: parked workers wait here

	// Under mu from here on.

	lanes   []lane[T] // by worker
	waiting int       // jobs in all lanes
	parked  int       // workers that wait, or were woken and have not returned from Wait
	closed  bool
}

// newQueue makes the queue of that many workers, numbered from zero. Each of them must
// call take until it returns false, or close the queue when it leaves earlier. Otherwise
// the others wait for the jobs that it may push.
func newQueue[T any](workers int) *queue[T] {
	q := &queue[T]{lanes: make([]lane[T], workers)}
	q.wake.L = &q.mu
	return q
}

// push adds jobs to a worker's lane, wakes a parked worker for each, and yields the
// processor. Otherwise a worker that shares its processor would take back the jobs before
// the others run.
func (q *queue[T]) push(worker int, jobs ...T) {
	if len(jobs) == 0 {
		return
	}
	q.add(worker, jobs)
	runtime.Gosched()
}

// add is the part of push under the lock.
func (q *queue[T]) add(worker int, jobs []T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[worker].push(jobs)
	q.waiting += len(jobs)
	for range min(len(jobs), q.parked) {
		q.wake.Signal()
	}
}

// take returns a job for a worker, and parks it while there is none. It returns false
// once the queue is closed.
func (q *queue[T]) take(worker int) (job T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.waiting == 0 && !q.closed {
		// A worker that was woken too late for its job counts as parked, which is right:
		// it has no job, so it makes none ready.
		if q.parked+1 == len(q.lanes) {
			q.shut()
			break
		}
		q.parked++
		q.wake.Wait()
		q.parked--
	}
	if q.closed {
		return job, false
	}
	for next := worker + 1; !ok; next++ { // terminates, since a job waits in one of the lanes
		job, ok = q.lanes[next%len(q.lanes)].pop()
	}
	q.waiting--
	return job, true
}

// close ends the queue: take returns false to parked workers, and to others at their next
// call. Jobs still in the queue are dropped.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut()
}

// shut is close for a caller that holds the lock.
func (q *queue[T]) shut() {
	q.closed = true
	q.wake.Broadcast()
}

// lane is a list, first in, first out.
type lane[T any] struct {
	items []T // items[head:] wait
	head  int
}

// push adds items at the end. It moves the list down once half of it is gone, so a lane
// takes at most twice the memory that its waiting jobs ever took.
func (l *lane[T]) push(items []T) {
	if l.head > len(l.items)/2 {
		n := copy(l.items, l.items[l.head:])
		clear(l.items[n:])
		l.items, l.head = l.items[:n], 0
	}
	l.items = append(l.items, items...)
}

// pop removes and returns the first item.
func (l *lane[T]) pop() (item T, ok bool) {
	if l.head == len(l.items) {
		return item, false
	}
	item = l.items[l.head]
	l.head++
	return item, true
}
