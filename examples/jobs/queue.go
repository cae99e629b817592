package main

import (
	"runtime"
	"sync"
)

// queue hands ready jobs to a fixed number of workers, and parks the workers
// for which there is none.
//
// Every worker has a lane, for the jobs that it makes ready. It takes from the
// lanes of the others first and from its own last, and the oldest job of a lane
// first. Which lane comes first is a free choice here: a job reads files, and
// finds nothing of its parent's in the cache. Chosen so, a job tends to end on
// another worker than the one that inserted it, which is what a pool has to
// bear and what this program is to show. Where jobs share data with their
// parents, look into one's own lane first: that is the one line to change.
//
// The queue knows by itself when a run is over. Jobs are made ready by workers
// alone, so once every worker asks for a job and there is none, there never will
// be one: the last worker that would park closes the queue instead. Nobody has
// to count jobs to end the run, and a job that can never become ready ends it
// too, where workers that wait for a count of zero would wait for ever.
//
// One mutex for all lanes looks like the naive version of lock-free deques. It
// is the better one here: a job takes from a tenth of a millisecond to a second,
// the lock some fifty nanoseconds. Deques pay when jobs are a thousand times
// shorter.
type queue[T any] struct {
	mu   sync.Mutex
	wake sync.Cond // with mu: parked workers wait here

	// Under mu from here on.

	lanes   []lane[T] // by worker
	waiting int       // jobs in all lanes
	parked  int       // workers that wait, or were woken and have not looked yet
	closed  bool
}

// newQueue makes the queue of so many workers, numbered from zero. Each of them
// has to take until it is answered false, or to close the queue when it leaves
// before: as long as one does neither, the others wait for what it may push.
func newQueue[T any](workers int) *queue[T] {
	q := &queue[T]{lanes: make([]lane[T], workers)}
	q.wake.L = &q.mu
	return q
}

// push adds jobs to a worker's lane, wakes a parked worker for each, and then
// lets the others go first. Without that step back a worker that shares its
// processor would do alone, until it is preempted, what it has just handed out.
func (q *queue[T]) push(worker int, jobs ...T) {
	if len(jobs) == 0 {
		return
	}
	q.add(worker, jobs)
	runtime.Gosched()
}

// add is the part of push that holds the lock: once for all jobs.
func (q *queue[T]) add(worker int, jobs []T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[worker].push(jobs)
	q.waiting += len(jobs)
	for range min(len(jobs), q.parked) {
		q.wake.Signal()
	}
}

// take gives a worker a job, and parks it while there is none. It answers false
// once the queue is closed.
func (q *queue[T]) take(worker int) (job T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.waiting == 0 && !q.closed {
		// A worker that was woken but came too late for its job counts as
		// parked, and rightly: it has no job, so it makes none ready.
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
	for next := worker + 1; !ok; next++ { // ends: a job waits in one of the lanes
		job, ok = q.lanes[next%len(q.lanes)].pop()
	}
	q.waiting--
	return job, true
}

// close ends the queue: parked workers come back empty-handed, the others at
// their next take. What still waits in it is dropped.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut()
}

// shut is close for who holds the lock.
func (q *queue[T]) shut() {
	q.closed = true
	q.wake.Broadcast()
}

// lane is a list, first in, first out.
type lane[T any] struct {
	items []T // items[head:] wait
	head  int
}

// push adds items at the end. It slides the list down once half of it is gone,
// so that a lane takes no more memory than twice the most that waited in it.
func (l *lane[T]) push(items []T) {
	if l.head > len(l.items)/2 {
		n := copy(l.items, l.items[l.head:])
		clear(l.items[n:])
		l.items, l.head = l.items[:n], 0
	}
	l.items = append(l.items, items...)
}

// pop gives the first item.
func (l *lane[T]) pop() (item T, ok bool) {
	if l.head == len(l.items) {
		return item, false
	}
	item = l.items[l.head]
	l.head++
	return item, true
}
