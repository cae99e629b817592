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

	lanes   [][]T // by worker, the oldest job first
	waiting int   // jobs in all lanes
	parked  int   // workers that wait, or were woken and have not returned from Wait
	closed  bool
}

// newQueue makes the queue of that many workers, numbered from zero. Each of them must
// call take until it returns false, or close the queue when it leaves earlier. Otherwise
// the others wait for the jobs that it may push.
func newQueue[T any](workers int) *queue[T] {
	q := &queue[T]{lanes: make([][]T, workers)}
	q.wake.L = &q.mu
	return q
}

// push adds jobs to a worker's lane, wakes a parked worker for each, and yields the
// processor. Otherwise a worker that shares its processor would take back the jobs before
// the others run.
func (q *queue[T]) push(worker int, jobs ...T) {
	q.mu.Lock()
	q.lanes[worker] = append(q.lanes[worker], jobs...)
	q.waiting += len(jobs)
	for range min(len(jobs), q.parked) {
		q.wake.Signal()
	}
	q.mu.Unlock()
	runtime.Gosched()
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
			q.end()
			break
		}
		q.parked++
		q.wake.Wait()
		q.parked--
	}
	if q.closed {
		return job, false
	}
	from := (worker + 1) % len(q.lanes)
	for len(q.lanes[from]) == 0 { // ends, since a job waits in one of the lanes
		from = (from + 1) % len(q.lanes)
	}
	job, q.lanes[from] = q.lanes[from][0], q.lanes[from][1:]
	q.waiting--
	return job, true
}

// close ends the queue: take returns false to parked workers, and to others at their next
// call. Jobs still in the queue are dropped.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end()
}

// end is close for a caller that holds the lock.
func (q *queue[T]) end() {
	q.closed = true
	q.wake.Broadcast()
}
