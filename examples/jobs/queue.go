package main

import (
	"runtime"
	"sync"
)

// queue hands ready jobs to a fixed number of workers, the oldest first, and parks workers while
// there are none.
//
// The queue detects the end of a run. Only workers make jobs ready. So once every worker
// asks for a job and there is none, there never will be one: the last worker that would
// park closes the queue instead. The run ends without a count of jobs, even if a job can
// never become ready. Workers that wait for a count of zero would wait for ever on such a
// job.
//
// One list under a mutex looks like a naive version of lock-free deques, but is the
// better one here. A job takes from a tenth of a millisecond to a second, the lock some
// fifty nanoseconds. Deques pay if jobs are a thousand times shorter.
type queue[T any] struct {
	workers int

	mu   sync.Mutex
	wake sync.Cond // with mu: parked workers wait here

	// Under mu from here on.

	jobs   []T // the oldest first
	parked int // workers that wait, or were woken and have not returned from Wait
	closed bool
}

// newQueue makes the queue of that many workers. Each of them must call take until it returns
// false, or close the queue when it leaves earlier. Otherwise the others wait for the jobs that
// it may push.
func newQueue[T any](workers int) *queue[T] {
	q := &queue[T]{workers: workers}
	q.wake.L = &q.mu
	return q
}

// push adds jobs, wakes a parked worker for each, and yields the processor. Otherwise a worker
// that shares its processor would take its own jobs back before the others run.
func (q *queue[T]) push(jobs ...T) {
	q.mu.Lock()
	q.jobs = append(q.jobs, jobs...)
	for range min(len(jobs), q.parked) {
		q.wake.Signal()
	}
	q.mu.Unlock()
	runtime.Gosched()
}

// take returns a job, and parks the worker while there is none. It returns false once the
// queue is closed.
func (q *queue[T]) take() (job T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs) == 0 && !q.closed {
		// A worker that was woken too late for its job counts as parked, which is right:
		// it has no job, so it makes none ready.
		if q.parked+1 == q.workers {
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
	job, q.jobs = q.jobs[0], q.jobs[1:]
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
