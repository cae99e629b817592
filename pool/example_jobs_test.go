package pool_test

import (
	"errors"
	"fmt"
	"log"
	"sync"

	"golang.org/x/sync/errgroup"

	"coatcheck/pool"
)

// A graph of jobs, each of which runs when those before it are done. A job that is done has
// left the pool. So its handle is stale, and a later job finds that it need not wait for it. A job
// that fails leaves the pool with all jobs that wait for it.
func Example_jobs() {
	g := graph{jobs: pool.Must[job](nil)}
	add := func(text string, after ...pool.Handle[job]) pool.Handle[job] {
		h, err := g.Add(func() error {
			fmt.Println(text)
			return nil
		}, after...)
		if err != nil {
			log.Fatal(err)
		}
		return h
	}
	coat := add("take the coat")
	ticket := add("write a ticket", coat)
	out := add("hand out the ticket", ticket)
	add("next, please", coat, out) // either may be done by now
	closing := make(chan bool)
	fail, err := g.Add(func() error {
		<-closing
		return errors.New("the key is lost")
	})
	if err != nil {
		log.Fatal(err)
	}
	add("go home", add("lock the door", fail))
	close(closing)
	fmt.Println(g.running.Wait())
	fmt.Println(g.jobs.Len(), "jobs left")
	// Output:
	// take the coat
	// write a ticket
	// hand out the ticket
	// next, please
	// the key is lost
	// 0 jobs left
}

type job struct {
	run func() error

	// The graph's mutex guards these.
	waits int                // how many jobs it waits for
	next  []pool.Handle[job] // those that wait for it
}

// graph runs jobs.
type graph struct {
	jobs    *pool.Pool[job] // jobs are removed only under the mutex, so that Pointer is right there
	running errgroup.Group

	mu     sync.Mutex
	failed error // of the first job that failed
}

// Add adds a job that runs on a goroutine of its own after others. If one of those fails, it
// never runs. Once a job has failed, Add returns its error.
func (g *graph) Add(run func() error, after ...pool.Handle[job]) (pool.Handle[job], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed != nil {
		return 0, g.failed
	}
	h, err := g.jobs.InsertFunc(func(h pool.Handle[job], j *job) {
		j.run = run
		for _, before := range after {
			// A job that is done is not found.
			if b, ok := g.jobs.Pointer(before); ok {
				b.next = append(b.next, h)
				j.waits++
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if j, _ := g.jobs.Pointer(h); j.waits == 0 {
		g.start(h, run)
	}
	return h, nil
}

func (g *graph) start(h pool.Handle[job], run func() error) {
	g.running.Go(func() error { return g.do(h, run) })
}

// do runs a job and then starts those that waited for it alone.
func (g *graph) do(h pool.Handle[job], run func() error) error {
	err := run()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		if g.failed == nil {
			g.failed = err
		}
		g.drop(h)
		return err
	}
	done, _ := g.jobs.Take(h)
	for _, next := range done.next {
		if n, ok := g.jobs.Pointer(next); ok {
			if n.waits--; n.waits == 0 {
				g.start(next, n.run)
			}
		}
	}
	return nil
}

// drop removes a job that failed, and all that wait for it.
func (g *graph) drop(h pool.Handle[job]) {
	failed, _ := g.jobs.Take(h) // no job if another failure dropped it before
	for _, next := range failed.next {
		g.drop(next)
	}
}
